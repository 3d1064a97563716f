// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/allow.h"

#define MAPPED_BITS	96
#define SEPARATORS	", \t\r\n"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static unsigned int width(const struct allow_net *net)
{
	return net->family == AF_INET ? 32 : 128;
}

/* Whether the first @bits of both are the same. */
static bool same(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int rest = bits % 8;

	if (memcmp(a, b, bits / 8))
		return false;
	return !rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest));
}

static bool ends_there(const struct allow_net *net)
{
	uint8_t cut[16] = { 0 };
	unsigned int rest = net->bits % 8;

	memcpy(cut, net->addr, (net->bits + 7) / 8);
	if (rest)
		cut[net->bits / 8] &= 0xff << (8 - rest);
	return !memcmp(cut, net->addr, sizeof(cut));
}

static bool is_mapped(const uint8_t *addr)
{
	return !memcmp(addr, mapped, sizeof(mapped));
}

static void unmap(uint8_t *addr)
{
	memmove(addr, addr + sizeof(mapped), 4);
	memset(addr + 4, 0, 12);
}

static int parse_bits(struct allow_net *net, const char *text)
{
	unsigned long v;

	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 3)
		return -EINVAL;
	v = strtoul(text, NULL, 10);
	if (v > width(net))
		return -ERANGE;
	net->bits = v;
	return 0;
}

static int parse_addr(struct allow_net *net, const char *text)
{
	net->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	net->bits = width(net);
	return inet_pton(net->family, text, net->addr) == 1 ? 0 : -EINVAL;
}

/* The whole of a prefix of mapped addresses is of IPv4, or nothing is. */
static void to_ipv4(struct allow_net *net)
{
	if (net->family != AF_INET6 || net->bits < MAPPED_BITS || !is_mapped(net->addr))
		return;
	net->family = AF_INET;
	net->bits -= MAPPED_BITS;
	unmap(net->addr);
}

int allow_parse(struct allow_net *net, const char *word)
{
	char text[ALLOW_WORD_MAX], *slash;
	int ret;

	memset(net, 0, sizeof(*net));
	if (strlen(word) >= sizeof(text))
		return -EINVAL;
	strcpy(text, word);
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	ret = parse_addr(net, text);
	if (!ret && slash)
		ret = parse_bits(net, slash + 1);
	if (ret)
		return ret;
	to_ipv4(net);
	return ends_there(net) ? 0 : -EDOM;
}

static int add_one(struct allow *a, const char *word)
{
	struct allow_net net, *nets;
	int ret = allow_parse(&net, word);

	if (ret)
		return ret;
	if (a->nr == ALLOW_NETS_MAX)
		return -E2BIG;
	nets = realloc(a->nets, (a->nr + 1) * sizeof(*nets));
	if (!nets)
		return -ENOMEM;
	a->nets = nets;
	nets[a->nr++] = net;
	return 0;
}

int allow_add(struct allow *a, const char *words, char bad[ALLOW_WORD_MAX])
{
	size_t len;
	int ret = 0;

	a->set = true;
	for (; !ret; words += len) {
		words += strspn(words, SEPARATORS);
		len = strcspn(words, SEPARATORS);
		if (!len)
			break;
		snprintf(bad, ALLOW_WORD_MAX, "%.*s", (int)len, words);
		ret = len < ALLOW_WORD_MAX ? add_one(a, bad) : -EINVAL;
	}
	return ret;
}

static int read_lines(struct allow *a, FILE *file, unsigned int *line,
		      char bad[ALLOW_WORD_MAX])
{
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = 0;

	for (*line = 1; !ret; (*line)++) {
		len = getline(&text, &room, file);
		if (len < 0)
			break;
		text[strcspn(text, "#")] = '\0';
		ret = allow_add(a, text, bad);
		if (ret)
			break;
	}
	free(text);
	return ret || !ferror(file) ? ret : -EIO;
}

int allow_read(struct allow *a, const char *path, unsigned int *line,
	       char bad[ALLOW_WORD_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;
	struct stat st;
	FILE *file;

	*line = 0;
	a->set = true;
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	file = ret ? NULL : fdopen(fd, "r");
	if (!file) {
		close(fd);
		return ret ? ret : -ENOMEM;
	}
	ret = read_lines(a, file, line, bad);
	fclose(file);
	return ret;
}

bool allow_has(const struct allow *a, const struct kverbs_addr *addr)
{
	struct allow_net net = { .family = addr->family };
	unsigned int i;

	if (!a->set)
		return true;
	memcpy(net.addr, addr->addr, sizeof(net.addr));
	net.bits = width(&net);
	to_ipv4(&net);
	for (i = 0; i < a->nr; i++)
		if (a->nets[i].family == net.family &&
		    same(a->nets[i].addr, net.addr, a->nets[i].bits))
			return true;
	return false;
}

void allow_free(struct allow *a)
{
	free(a->nets);
	memset(a, 0, sizeof(*a));
}

const char *allow_why(int err)
{
	switch (err) {
	case -ERANGE:
		return "has more bits than an address";
	case -EDOM:
		return "has bits set beyond its prefix";
	case -E2BIG:
		return "exceeds the limit of entries";
	default:
		return "is neither an address nor a prefix";
	}
}
