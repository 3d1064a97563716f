/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Descriptors in a message between sockets. */
#ifndef E2E_FDS_H
#define E2E_FDS_H

#define FDS_MAX	8

/* Send @nr descriptors, at most FDS_MAX, with one byte of data. */
void fds_send(int socket, const int *fds, unsigned int nr);

#endif
