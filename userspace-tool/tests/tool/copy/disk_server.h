/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A server whose files, and those of its clients, are on the fake disk: ext4 with room for all. */
#ifndef DISK_SERVER_H
#define DISK_SERVER_H

#include <linux/magic.h>

#include "fake_disk.h"
#include "server.h"

static inline int disk_server_setup(void **state)
{
	fake_disk_reset();
	fake_disk.type = EXT4_SUPER_MAGIC;
	return server_setup(state);
}

static inline int disk_server_teardown(void **state)
{
	fake_disk_reset();
	return server_teardown(state);
}

/* Call @hook once when so many bytes have been written. */
static inline void disk_server_hook(uint64_t bytes, void (*hook)(void))
{
	fake_disk.no_reserve = true;
	fake_disk.room = bytes;
	fake_disk.when_full = hook;
}

/* Cut all connections when so many bytes have been written. */
static inline void disk_server_cut_at(uint64_t bytes)
{
	disk_server_hook(bytes, fake_cut);
}

#define disk_server_test(name) \
	cmocka_unit_test_setup_teardown(name, disk_server_setup, disk_server_teardown)

#endif /* DISK_SERVER_H */
