/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection between two pieces of memory that outlive it, and its operations. */
#ifndef DMA_TRANSFER_H
#define DMA_TRANSFER_H

#include "peer.h"

#define PAGE	4096UL

/* The range that the tests of every byte move: at odd offsets, over three pages */
#define MOVED_FROM	(PAGE - 5)
#define MOVED_TO	(2 * PAGE + 77)
#define MOVED_LENGTH	(PAGE + 100)

char *memory_new(void);
void memory_fill(char *memory, unsigned int seed);
void memory_check(const char *memory, unsigned int seed);
void memory_check_moved(const char *memory, size_t to, unsigned int to_seed, size_t from,
			unsigned int from_seed, size_t length);
uint64_t memory_physical(const char *memory);

void link_between(struct link *link, char *from, char *to);
void link_connect(struct link *link);
struct kverbs_cqe link_write(struct link *link, size_t from, size_t to, size_t length);
struct kverbs_cqe link_read(struct link *link, size_t from, size_t to, size_t length);
struct kverbs_cqe link_send(struct link *link, size_t from, size_t to, size_t length);

void link_check_write(struct link *link, const char *from, const char *to);
void link_check_read(struct link *link, const char *from, const char *to);
void link_check_send(struct link *link, const char *from, const char *to);

#endif /* DMA_TRANSFER_H */
