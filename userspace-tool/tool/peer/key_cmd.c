// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs key: files of named keys.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "peer/keyring.h"
#include "peer/service.h"

#define SECRET_LEN 32

static int load(struct keyring **ring, const char *path)
{
	unsigned int line;
	int ret = keyring_read(ring, path, &line);

	if (ret && line)
		return err_report(ERR_KEY, ret, "read the key in %s, line %u", path, line);
	return ret ? err_report(ERR_KEY, ret, "read the key in %s", path) : EXIT_OK;
}

/* ---- new ------------------------------------------------------------------------ */

/* "NAME SECRET [RIGHT]...\n", with a new secret */
static char *new_line(char *const *words, int nr)
{
	uint8_t secret[SECRET_LEN], text[SECRET_LEN * 2];
	char *line = NULL;
	size_t len;
	FILE *f;
	int i;

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return NULL;
	EVP_EncodeBlock(text, secret, sizeof(secret));
	f = open_memstream(&line, &len);
	if (f) {
		fprintf(f, "%s %s", words[0], text);
		for (i = 1; i < nr; i++)
			fprintf(f, " %s", words[i]);
		fputc('\n', f);
		fclose(f);
	}
	OPENSSL_cleanse(secret, sizeof(secret));
	OPENSSL_cleanse(text, sizeof(text));
	return line;
}

static void wipe(char *line)
{
	if (line)
		OPENSSL_cleanse(line, strlen(line));
	free(line);
}

/* Part of a line would be a wrong key, so that the file must have all of it or nothing. */
static int append(int fd, off_t at, const char *text)
{
	size_t len = strlen(text);
	ssize_t n = pwrite(fd, text, len, at);
	int ret = n < 0 ? -errno : n < (ssize_t)len ? -ENOSPC : 0;

	if (!ret && !fsync(fd))
		return 0;
	ret = ret ? ret : -errno;
	/* The file is as it was, or its end is not known: say that it failed. */
	if (ftruncate(fd, at))
		return -errno;
	return ret;
}

static int append_line(int fd, off_t size, const char *line)
{
	char *text, last = '\n';
	int ret;

	if (size && pread(fd, &last, 1, size - 1) != 1)
		return -EIO;
	if (asprintf(&text, "%s%s%s", size ? "" : KEYRING_HEAD "\n", last == '\n' ? "" : "\n",
		     line) < 0)
		return -ENOMEM;
	ret = append(fd, size, text);
	wipe(text);
	return ret;
}

/* A file that exists must have named keys, and none of this name. */
static int check_file(const char *path, const char *name)
{
	struct keyring *ring;
	int status = load(&ring, path);

	if (status)
		return status;
	if (!*ring->keys->name)
		status = err_report(ERR_KEY, -EINVAL, "add to %s, which has a key without a name",
				    path);
	else if (keyring_find(ring, name))
		status = err_report(ERR_KEY, -EEXIST, "add '%s' to %s", name, path);
	keyring_put(ring);
	return status;
}

static int add_to(const char *path, int fd, const char *name, const char *line)
{
	struct stat st;
	int ret;

	/* Another run may be adding the same name. */
	if (flock(fd, LOCK_EX) || fstat(fd, &st))
		return err_report(ERR_KEY, -errno, "open %s", path);
	ret = st.st_size ? check_file(path, name) : EXIT_OK;
	if (ret)
		return ret;
	ret = append_line(fd, st.st_size, line);
	return ret ? err_report(ERR_LOCAL, ret, "write %s", path) : EXIT_OK;
}

static int write_key(const char *path, int flags, const char *name, const char *line)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600), status;

	if (fd < 0)
		return err_report(ERR_LOCAL, -errno, "open %s", path);
	status = add_to(path, fd, name, line);
	close(fd);
	return status;
}

static int check_rights(char *const *words, int nr)
{
	struct key_rights rights = { .dir = NULL };
	int i, ret = 0;

	if (!key_name_is_valid(words[0]))
		return err_usage("'%s' is no name of a key", words[0]);
	for (i = 1; i < nr && !ret; i++) {
		ret = strpbrk(words[i], " \t\r\n") ? -EINVAL : key_add_right(&rights, words[i]);
		if (ret)
			ret = err_usage("'%s' is no right of a key", words[i]);
	}
	free(rights.dir);
	return ret;
}

static int run_new(int argc, char **argv)
{
	char *line;
	int status;

	if (argc < 2)
		return err_usage("new: give FILE and NAME");
	status = check_rights(argv + 1, argc - 1);
	if (status)
		return status;
	line = new_line(argv + 1, argc - 1);
	if (!line)
		return err_report(ERR_LOCAL, -ENOMEM, "make a key");
	status = strlen(line) >= KEY_LINE_MAX ? err_usage("the line would be too long") :
		 write_key(argv[0], 0, argv[1], line);
	wipe(line);
	return status;
}

/* ---- list ------------------------------------------------------------------------- */

static void put_key(struct json_object *list, const struct key *key)
{
	const struct key_rights *r = &key->rights;
	char services[SERVICE_LIST_MAX];
	struct json_object *o = json_object_new_object();

	json_put_str(o, "name", key->name);
	json_put_flag(o, "read_only", r->read_only);
	json_put_flag(o, "no_delete", r->no_delete);
	json_put_flag(o, "no_super", r->no_super);
	if (r->services)
		json_put_str(o, "services", service_format(r->services, services));
	if (r->dir)
		json_put_str(o, "dir", r->dir);
	json_object_array_add(list, o);
}

static void print_key(const struct key *key)
{
	const struct key_rights *r = &key->rights;
	char services[SERVICE_LIST_MAX];

	out_text("%s%s%s%s", *key->name ? key->name : "(no name)", r->read_only ? " ro" : "",
		 r->no_delete ? " no-delete" : "", r->no_super ? " no-super" : "");
	if (r->services)
		out_text(" services=%s", service_format(r->services, services));
	if (r->dir)
		out_text(" dir=%s", r->dir);
	out_text("\n");
}

static int run_list(int argc, char **argv)
{
	struct json_object *keys = NULL;
	const struct key *key;
	struct keyring *ring;
	int status;

	if (argc != 1)
		return err_usage("list: give FILE");
	status = load(&ring, argv[0]);
	if (status)
		return status;
	if (out_is_json()) {
		keys = json_object_new_array();
		json_object_object_add(out_root(), "keys", keys);
	}
	for (key = ring->keys; key; key = key->next) {
		if (keys)
			put_key(keys, key);
		else
			print_key(key);
	}
	keyring_put(ring);
	return EXIT_OK;
}

/* ---- extract ---------------------------------------------------------------------- */

static int extract_from(const struct keyring *ring, const char *path, const char *name,
			const char *to)
{
	const struct key *key = keyring_find(ring, name);
	char *line;
	int status;

	if (!key)
		return err_report(ERR_KEY, -ENOKEY, "find the key '%s' in %s", name, path);
	if (asprintf(&line, "%s %.*s\n", name, (int)key->len, (const char *)key->bytes) < 0)
		return err_report(ERR_LOCAL, -ENOMEM, "copy a key");
	status = write_key(to, O_EXCL, name, line);
	wipe(line);
	return status;
}

static int run_extract(int argc, char **argv)
{
	struct keyring *ring;
	int status;

	if (argc != 3)
		return err_usage("extract: give FILE, NAME and a new file");
	status = load(&ring, argv[0]);
	if (status)
		return status;
	status = extract_from(ring, argv[0], argv[1], argv[2]);
	keyring_put(ring);
	return status;
}

static const char usage[] =
"usage: kverbs key ACTION FILE [options]\n"
"\n"
"  key new FILE NAME [RIGHT]...  make a key, and add it to FILE\n"
"  key list FILE                 print names and rights\n"
"  key extract FILE NAME TO      write a new file TO with this key, for a client\n"
"\n"
"Rights restrict clients that have the key, beyond the options of the server: ro,\n"
"no-delete, no-super, services=LIST of ping, files and bench, dir=PATH below --root.\n";

static const char notes[] =
"Exit status: 0 done, 1 failed, 2 usage, 4 not permitted.\n";

static const struct opts_option options[] = {
	{ }
};

static int key_run(int argc, char **argv)
{
	int first = opts_parse(argc, argv, options, NULL);

	if (first < 0)
		return EXIT_USAGE;
	argc -= first;
	argv += first;
	if (argc < 1)
		return err_usage("give new, list or extract");
	if (!strcmp(argv[0], "new"))
		return run_new(argc - 1, argv + 1);
	if (!strcmp(argv[0], "list"))
		return run_list(argc - 1, argv + 1);
	if (!strcmp(argv[0], "extract"))
		return run_extract(argc - 1, argv + 1);
	return err_usage("'%s' is none of new, list and extract", argv[0]);
}

const struct command cmd_key = {
	.name = "key",
	.summary = "Make keys for servers and their clients",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON: ``list`` has an array ``keys`` of objects with\n"
		    "``name``, ``read_only``, ``no_delete`` and ``no_super``, and ``services`` and\n"
		    "``dir`` if the key is restricted to them.",
	.notes = notes,
	.run = key_run,
};
