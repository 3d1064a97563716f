// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fuzz.h"
#include "jail.h"

/* A write beyond this size fails, as on a full disk. */
#define FILE_MAX	(32u << 20)
#define BIG		((3u << 20) + 5)

static struct jail jails[2];
static const char *tops[2];
static unsigned int nr_open;

/* Skipped, since a disk would be slow. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

/* ---- contents ------------------------------------------------------------ */

static void empty(int dir)
{
	DIR *d = fdopendir(dir);
	struct dirent *de;
	int fd;

	assert(d);
	while ((de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (!unlinkat(dirfd(d), de->d_name, 0))
			continue;
		assert(errno == EISDIR);
		fchmodat(dirfd(d), de->d_name, 0700, 0);
		fd = openat(dirfd(d), de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		assert(fd >= 0);
		empty(fd);
		assert(!unlinkat(dirfd(d), de->d_name, AT_REMOVEDIR));
	}
	closedir(d);
}

static void make(int dir, const char *name, const char *text, off_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	assert(!size || !ftruncate(fd, size));
	close(fd);
}

static void fill(const struct jail *j)
{
	char up[PATH_MAX];

	snprintf(up, sizeof(up), "%s", j->path);
	*strstr(up, "/b/root") = '\0';
	make(j->root, "f", "hello", 0);
	assert(!mkdirat(j->root, "d", 0755));
	make(j->root, "d/g", "", BIG);
	assert(!mkdirat(j->root, "into", 0755));
	assert(!mkfifoat(j->root, "fifo", 0600));
	assert(!symlinkat("..", j->root, "out"));
	assert(!symlinkat(up, j->root, "abs"));
}

bool jail_is_untouched(const struct jail *j)
{
	char text[8] = "";
	int fd = openat(j->root, "f", O_RDONLY | O_NOFOLLOW);
	struct stat st;
	bool same;

	same = fd >= 0 && read(fd, text, sizeof(text)) == 5 && !memcmp(text, "hello", 5);
	close(fd);
	return same && jail_count(j, ".", "", "") == 6 && jail_count(j, "d", "", "") == 1 &&
	       !fstatat(j->root, "d/g", &st, 0) && st.st_size == BIG;
}

/* ---- surroundings --------------------------------------------------------- */

static void look(const struct jail *j, struct stat *walls)
{
	static const char * const ways[JAIL_WALLS] = {
		[JAIL_TOP] = "../../..", [JAIL_A] = "../..", [JAIL_B] = "..",
		[JAIL_THE_SECRET] = "../secret",
	};
	int i;

	for (i = 0; i < JAIL_WALLS; i++)
		assert(!fstatat(j->root, ways[i], &walls[i], AT_SYMLINK_NOFOLLOW));
}

static void tear_down(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = open(tops[i], O_RDONLY | O_DIRECTORY);
		if (fd >= 0)
			empty(fd);
		rmdir(tops[i]);
	}
}

static const char *make_top(const char *where)
{
	char *top;

	if (access(where, W_OK))
		where = "/tmp";
	assert(asprintf(&top, "%s/kverbs-fuzz-XXXXXX", where) > 0);
	assert(mkdtemp(top));
	return top;
}

static void build(struct jail *j, const char *top)
{
	static const char * const dirs[] = { "a", "a/b", "a/b/root" };
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), i;

	for (i = 0; i < 3; i++)
		assert(!mkdirat(fd, dirs[i], 0755));
	make(fd, "a/b/secret", JAIL_SECRET, 0);
	snprintf(j->path, sizeof(j->path), "%s/a/b/root", top);
	j->root = openat(fd, "a/b/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(j->root >= 0);
	close(fd);
	look(j, j->walls);
}

static unsigned int count(DIR *d, const char *prefix, const char *suffix)
{
	struct dirent *de;
	unsigned int n = 0;
	size_t len;

	assert(d);
	while ((de = readdir(d))) {
		len = strlen(de->d_name);
		n += strcmp(de->d_name, ".") && strcmp(de->d_name, "..") &&
		     !strncmp(de->d_name, prefix, strlen(prefix)) &&
		     len >= strlen(prefix) + strlen(suffix) &&
		     !strcmp(de->d_name + len - strlen(suffix), suffix);
	}
	closedir(d);
	return n;
}

unsigned int jail_count(const struct jail *j, const char *dir, const char *prefix,
			const char *suffix)
{
	int fd = openat(j->root, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	return count(fdopendir(fd), prefix, suffix);
}

/*
 * Wait until a change gets another timestamp than the existing files have. The file that is
 * changed for that is there already, since making it would change the directory.
 */
static void await_another_time(const char *top)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat was, is;

	assert(!fchmodat(fd, "clock", 0600, 0) && !fstatat(fd, "clock", &was, 0));
	do {
		assert(!fchmodat(fd, "clock", 0600, 0) && !fstatat(fd, "clock", &is, 0));
	} while (!memcmp(&is.st_ctim, &was.st_ctim, sizeof(is.st_ctim)));
	close(fd);
}

static void make_clock(const char *top)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	make(fd, "clock", "", 0);
	close(fd);
}

static void build_all(void)
{
	const struct rlimit limit = { FILE_MAX, FILE_MAX };
	const char *tmp = getenv("TMPDIR");

	tops[0] = make_top(tmp ? tmp : "/tmp");
	tops[1] = make_top("/dev/shm");
	make_clock(tops[0]);
	build(&jails[0], tops[0]);
	build(&jails[1], tops[1]);
	atexit(tear_down);
	signal(SIGXFSZ, SIG_IGN);
	assert(!setrlimit(RLIMIT_FSIZE, &limit));
	await_another_time(tops[0]);
}

struct jail *jail_enter(bool in_memory)
{
	struct jail *j = &jails[in_memory];
	int fd;

	if (!tops[0])
		build_all();
	fd = openat(j->root, ".", O_RDONLY | O_DIRECTORY);
	assert(fd >= 0);
	empty(fd);
	fill(j);
	/* The fuzzer opens files of its own at any time, so count only now. */
	nr_open = count(opendir("/proc/self/fd"), "", "");
	return j;
}

void jail_check(const struct jail *j)
{
	struct stat now[JAIL_WALLS];
	int i;

	look(j, now);
	for (i = 0; i < JAIL_WALLS; i++) {
		assert(now[i].st_ino == j->walls[i].st_ino);
		assert(now[i].st_size == j->walls[i].st_size);
		assert(!memcmp(&now[i].st_ctim, &j->walls[i].st_ctim, sizeof(now[i].st_ctim)));
	}
	assert(count(opendir("/proc/self/fd"), "", "") == nr_open);
}
