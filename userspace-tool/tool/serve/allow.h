/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which addresses a server lets in: a list of prefixes, of the command line and of a
 * file. An IPv4 address that comes as an IPv6 one (::ffff:192.0.2.1) is an IPv4 one.
 */
#ifndef KVERBS_TOOL_ALLOW_H
#define KVERBS_TOOL_ALLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/kverbs.h>

/* Prefixes in a list, and bytes of a word that is one. */
#define ALLOW_NETS_MAX	4096
#define ALLOW_WORD_MAX	64

/**
 * struct allow_net - a prefix
 * @family: AF_INET or AF_INET6
 * @bits: that count
 * @addr: in network order; IPv4 has the first four bytes
 */
struct allow_net {
	uint16_t family;
	uint8_t bits;
	uint8_t addr[16];
};

/**
 * struct allow - a list
 * @set: there is a list, possibly empty; else all addresses are accepted
 * @nets: the prefixes
 * @nr: how many
 */
struct allow {
	bool set;
	struct allow_net *nets;
	unsigned int nr;
};

/*
 * ADDRESS or ADDRESS/BITS. -EINVAL: it is none; -ERANGE: there are not so many bits;
 * -EDOM: there are bits behind those that count.
 */
int allow_parse(struct allow_net *net, const char *word);
/* Words with commas or blanks between them; @bad is the one that is none. */
int allow_add(struct allow *a, const char *words, char bad[ALLOW_WORD_MAX]);
/* One to a line or several, "#" begins a comment; @line: of the word that is none. */
int allow_read(struct allow *a, const char *path, unsigned int *line,
	       char bad[ALLOW_WORD_MAX]);
bool allow_has(const struct allow *a, const struct kverbs_addr *addr);
void allow_free(struct allow *a);
/* Message for an error in a word of the list. */
const char *allow_why(int err);

#endif /* KVERBS_TOOL_ALLOW_H */
