// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs cp of trees, ls and rm, against kverbs serve, both in this process */
#define _GNU_SOURCE
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>

#include "command_run.h"

static const char *at(const struct server_run *r, const char *rest)
{
	static char buf[4][PATH_MAX + 64];
	static int i;

	i = (i + 1) % 4;
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", r->tmp->path, rest);
	return buf[i];
}

/* Links of both kinds, holes, odd names, modes and times; attributes are added if there are any */
#define TREE									\
	"mkdir -p d/sub/deep d/empty 'd/odd  name' && echo one >d/one\n"	\
	"head -c 3000000 /dev/urandom >d/big && head -c 70000 /dev/urandom >d/sub/mid\n" \
	": >d/empty-file && ln d/big d/sub/again && ln -s ../one d/sub/link\n" \
	"ln -s /nowhere d/dangling && ln d/dangling d/sub/dangling\n"		\
	"printf x >'d/odd  name/-n' && printf y >\"$(printf 'd/new\\nline')\"\n" \
	"printf z >\"$(printf 'd/\\377\\376')\" && truncate -s 20M d/hole\n"	\
	"printf tail >>d/hole && head -c 1M /dev/urandom >rnd\n"	\
	"dd if=rnd of=d/hole bs=1M seek=7 conv=notrunc status=none\n"		\
	"mkfifo d/fifo && chmod 1777 d/empty\n"					\
	"chmod 4711 d/one && chmod 2750 d/sub/deep && touch -d '2001-02-03 04:05:06.789' d/one\n" \
	"touch -h -d 2002-03-04 d/sub/link && touch -d 2003-04-05 d/sub d"

static void make_tree(const struct server_run *r)
{
	assert_int_equal(shell(r, TREE), 0);
	/* Not all file systems have them. */
	if (!shell(r, "setfattr -n user.color -v blue d/one 2>/dev/null"))
		assert_int_equal(shell(r, "setfattr -n user.color -v red d/sub"), 0);
	shell(r, "setfacl -m u:12345:r d/big 2>/dev/null && setfacl -d -m g:777:rx d/sub");
}

/* ---- the second time ------------------------------------------------------------- */

static void the_same_is_not_copied_again(void **state)
{
	struct server_run *r = *state;

	make_tree(r);
	assert_int_equal(cp(r, "-r --stats TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(stat_of("transferred: "), 9);
	assert_true(stat_of("Literal data: ") >= 3070000);
	assert_int_equal(cp(r, "-r --stats TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(stat_of("transferred: "), 0);
	assert_int_equal(stat_of("Literal data: "), 0);
	assert_true(stat_of("bytes sent: ") < 10000);
	assert_true(has("9 unchanged"));
	/* The same from there */
	assert_int_equal(cp(r, "-r --stats A:e/ TMP/back"), EXIT_OK);
	assert_int_equal(stat_of("transferred: "), 9);
	assert_int_equal(cp(r, "-r --stats A:e/ TMP/back"), EXIT_OK);
	assert_int_equal(stat_of("Literal data: "), 0);
}

static void size_or_time_tells_what_changed(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir d\n"
				  "echo one >d/a && echo two >d/b && echo three >d/c"), 0);
	assert_int_equal(cp(r, "-rt TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(shell(r, "echo more >>d/a && touch -d 2001-01-01 d/b && touch -r d d"), 0);
	assert_int_equal(cp(r, "-r -i TMP/d/ A:e"), EXIT_OK);
	assert_true(has("<f.st...... a\n"));
	assert_true(has("<f..t...... b\n"));
	assert_null(strstr(printed, " c\n"));
	/* Same size and time, other contents */
	assert_int_equal(shell(r, "touch -r d/c was && echo THREE >d/c && touch -r was d/c"), 0);
	assert_int_equal(cp(r, "-r -i TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(changes(), 0);
	assert_int_equal(cp(r, "-rc -i TMP/d/ A:e"), EXIT_OK);
	assert_true(has("<fc........ c\n"));
	assert_int_equal(changes(), 1);
	assert_int_equal(shell(r, "cmp d/c root/e/c"), 0);
	/* Another time does not matter if the contents are compared. */
	assert_int_equal(shell(r, "touch -d 2011-01-01 d/c"), 0);
	assert_int_equal(cp(r, "-rc -i TMP/d/ A:e"), EXIT_OK);
	assert_true(has(".f..t...... c\n"));
	assert_int_equal(cp(r, "-r -I -i TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(changes(), 3);
}

static void only_permissions_are_changed_where_only_they_differ(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir d && echo one >d/a && chmod 644 d/a"), 0);
	assert_int_equal(cp(r, "-r TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(shell(r, "chmod 640 d/a"), 0);
	assert_int_equal(cp(r, "-r -i --stats TMP/d/ A:e"), EXIT_OK);
	assert_true(has(".f...p..... a\n"));
	assert_int_equal(stat_of("Literal data: "), 0);
	assert_int_equal(shell(r, "test $(stat -c %a root/e/a) = 640"), 0);
}

static void a_newer_file_is_left_alone(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "echo old >a && touch -d 2001-01-01 a && echo newer >root/a"), 0);
	assert_int_equal(cp(r, "-u TMP/a A:a"), EXIT_OK);
	assert_int_equal(shell(r, "grep -q newer root/a"), 0);
	assert_int_equal(cp(r, "--ignore-existing TMP/a A:a"), EXIT_OK);
	assert_int_equal(shell(r, "grep -q newer root/a"), 0);
	assert_int_equal(cp(r, "TMP/a A:a"), EXIT_OK);
	assert_int_equal(shell(r, "grep -q old root/a"), 0);
	assert_int_equal(cp(r, "--existing TMP/a A:b"), EXIT_OK);
	assert_int_equal(shell(r, "test ! -e root/b"), 0);
}

static void a_dry_run_changes_nothing(void **state)
{
	struct server_run *r = *state;

	make_tree(r);
	assert_int_equal(cp(r, "-aHn -i TMP/d A:"), EXIT_OK);
	assert_true(has("<f+++++++++ d/one\n"));
	assert_true(has("cd+++++++++ d/sub/\n"));
	assert_true(has("cL+++++++++ d/sub/link -> ../one\n"));
	assert_true(has("cS+++++++++ d/fifo\n"));
	assert_true(has("hf+++++++++ d/"));
	assert_int_equal(shell(r, "test -z \"$(ls -A root)\""), 0);
	assert_int_equal(shell(r, "mkdir root/d && echo other >root/d/one && touch root/d/extra\n"
				  "find root -printf '%p %T@ %C@ %s\\n' | sort >before"), 0);
	assert_int_equal(cp(r, "-aHn -i --delete TMP/d A:"), EXIT_OK);
	assert_true(has("*deleting   d/extra\n"));
	assert_int_equal(cp(r, "-an -i --mkpath TMP/d A:x/y/"), EXIT_OK);
	assert_int_equal(shell(r, "find root -printf '%p %T@ %C@ %s\\n' | sort | cmp - before"), 0);
	/* The same from there */
	assert_int_equal(cp(r, "-an -i A:d TMP/new"), EXIT_OK);
	assert_true(has(">f+++++++++ d/one\n"));
	assert_int_equal(cp(r, "-an -i --mkpath A:d TMP/x/y/"), EXIT_OK);
	assert_int_equal(shell(r, "test ! -e new && test ! -e x"), 0);
}

/* ---- trees ----------------------------------------------------------------------- */

static int super(void **state)
{
	static const char * const words[] = { "--root", "ROOT", "--super", NULL };

	return server_start(state, words);
}

static void a_tree_is_the_same_for_rsync(void **state)
{
	struct server_run *r = *state;

	make_tree(r);
	assert_int_equal(cp(r, "-aHAX TMP/d/ A:e"), EXIT_OK);
	assert_true(is_same_tree(r, "d", "root/e"));
	assert_int_equal(cp(r, "-aHAX -i --stats TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(changes(), 0);
	assert_int_equal(stat_of("Literal data: "), 0);
	assert_int_equal(cp(r, "-aHAX A:e/ TMP/back"), EXIT_OK);
	assert_true(is_same_tree(r, "d", "back"));
	assert_int_equal(cp(r, "-aHAX -i A:e/ TMP/back"), EXIT_OK);
	assert_int_equal(changes(), 0);
	/* Attributes alone are mended without data. */
	assert_int_equal(shell(r, "chmod 600 root/e/one; chmod 700 root/e/sub; touch root/e/big\n"
				  "setfattr -n user.color -v green root/e/one\n"
				  "setfattr -n user.more -v x root/e/sub\n"
				  "ln -sfn elsewhere root/e/sub/link\n"
				  "rm root/e/sub/again && cp -p root/e/big root/e/sub/again\n"
				  "setfacl -b root/e/big; true"), 0);
	assert_int_equal(cp(r, "-aHAX -c -i --stats TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(stat_of("Literal data: "), 0);
	assert_true(has(" sub/link -> ../one\n"));
	assert_true(is_same_tree(r, "d", "root/e"));
}

static void without_super_nothing_is_privileged(void **state)
{
	struct server_run *r = *state;
	struct stat st;

	assert_int_equal(shell(r, "mkdir d && echo x >d/f && chmod 4755 d/f"), 0);
	if (!geteuid())
		assert_int_equal(shell(r, "chown 1234:5678 d/f && chmod 4755 d/f\n"
					  "mknod d/null c 1 3"), 0);
	assert_int_equal(cp(r, "-aX TMP/d A:"), geteuid() ? EXIT_OK : EXIT_DENIED);
	assert_int_equal(fstatat(r->tmp->fd, "root/d/f", &st, 0), 0);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_false(tmp_exists(r->tmp, "root/d/null"));
}

static void zeros_become_holes(void **state)
{
	struct server_run *r = *state;
	struct stat st;

	assert_int_equal(shell(r, "mkdir d && head -c 40M /dev/zero >d/zeros\n"
				  "head -c 40000 /dev/zero >d/small\n"
				  "printf x >x\n"
				  "dd if=x of=d/zeros bs=1 seek=9000000 conv=notrunc status=none"),
			 0);
	assert_int_equal(cp(r, "-rS TMP/d A:"), EXIT_OK);
	assert_int_equal(fstatat(r->tmp->fd, "root/d/zeros", &st, 0), 0);
	assert_true(st.st_blocks * 512 <= 1 << 20);
	assert_int_equal(fstatat(r->tmp->fd, "root/d/small", &st, 0), 0);
	assert_int_equal(st.st_size, 40000);
	assert_true(st.st_blocks * 512 <= 4096);
	assert_int_equal(shell(r, "cmp d/zeros root/d/zeros && cmp d/small root/d/small"), 0);
	/* Holes of the source are not sent. */
	assert_int_equal(cp(r, "-S --stats A:d/zeros TMP/back"), EXIT_OK);
	assert_true(stat_of("Literal data: ") <= 4 << 20);
	assert_int_equal(shell(r, "cmp d/zeros back"), 0);
}

static void holes_are_right_wherever_they_are(void **state)
{
	static const char * const makes[] = {
		"truncate -s 33M f",
		"truncate -s 33M f && echo x >>f",
		"echo x >f && truncate -s 33M f",
		"truncate -s 5M f && head -c 3M /dev/urandom >>f && truncate -s 30M f\n"
		"head -c 5M /dev/urandom >>f && truncate -s 50000001 f",
	};
	struct server_run *r = *state;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(makes); i++) {
		assert_int_equal(shell(r, "rm -f f g root/f"), 0);
		assert_int_equal(shell(r, makes[i / 2]), 0);
		assert_int_equal(cp(r, i & 1 ? "-S TMP/f A:f" : "TMP/f A:f"), EXIT_OK);
		assert_int_equal(shell(r, "cmp f root/f"), 0);
		assert_int_equal(cp(r, i & 1 ? "-S A:f TMP/g" : "A:f TMP/g"), EXIT_OK);
		assert_int_equal(shell(r, "cmp f g"), 0);
	}
}

/* ---- what is copied ----------------------------------------------------------------- */

static void patterns_choose(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir -p d/obj d/src\n"
				  "touch d/obj/a.o d/src/a.c d/src/a.o d/keep.o d/src/keep.o"), 0);
	assert_int_equal(cp(r, "-r --include=/keep.o --exclude=*.o --exclude=obj/ TMP/d/ A:e"),
			 EXIT_OK);
	assert_true(lists(r, "root/e", ". ./keep.o ./src ./src/a.c"));
	assert_int_equal(shell(r, "printf '# comment\\n*.c\\n' >list && touch root/e/src/x.o"), 0);
	assert_int_equal(cp(r, "-r --exclude-from=TMP/list A:e/ TMP/back"), EXIT_OK);
	assert_true(lists(r, "back", ". ./keep.o ./src ./src/x.o"));
}

static void names_come_from_a_file(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir -p d/a/b d/c && echo 1 >d/a/b/f && echo 2 >d/c/g\n"
				  "touch d/a/b/no && printf '/a/b/f\\n./c\\n' >list"), 0);
	assert_int_equal(shell(r, "mkdir root/e"), 0);
	assert_int_equal(cp(r, "-a --files-from=TMP/list TMP/d A:e"), EXIT_OK);
	assert_true(lists(r, "root/e", ". ./a ./a/b ./a/b/f ./c"));
	assert_int_equal(shell(r, "cp -r d root/d && mkdir back"), 0);
	assert_int_equal(cp(r, "-ar --files-from=TMP/list A:d TMP/back"), EXIT_OK);
	assert_true(lists(r, "back", ". ./a ./a/b ./a/b/f ./c ./c/g"));
	assert_int_equal(shell(r, "echo ../list >list"), 0);
	assert_int_equal(cp(r, "-a --files-from=TMP/list TMP/d A:e"), EXIT_DENIED);
}

static void what_is_too_much_is_deleted(void **state)
{
	struct server_run *r = *state;

	make_tree(r);
	assert_int_equal(cp(r, "-aHAX TMP/d/ A:e"), EXIT_OK);
	assert_int_equal(shell(r, "mkdir -p root/e/x/y root/e/keep && rm d/one\n"
				  "touch root/e/x/y/z root/e/sub/new\n"
				  "touch root/e/keep/k root/e/.f.kverbs-part"), 0);
	assert_int_equal(cp(r, "-aH -i --delete --exclude=keep TMP/d/ A:e"), EXIT_OK);
	assert_true(has("*deleting   x/y/z\n*deleting   x/y/\n*deleting   x/\n"));
	assert_true(has("*deleting   sub/new\n"));
	assert_true(has("*deleting   one\n"));
	assert_int_equal(shell(r, "test -e root/e/keep/k && test -e root/e/.f.kverbs-part\n"
				  "rm -r root/e/keep root/e/.f.kverbs-part\n"
				  "touch -r d root/e"), 0);
	assert_true(is_same_tree(r, "d", "root/e"));
	/* The same from there */
	assert_int_equal(cp(r, "-aHAX A:e/ TMP/back"), EXIT_OK);
	assert_int_equal(shell(r, "touch back/extra back/sub/extra"), 0);
	assert_int_equal(cp(r, "-aH -i --delete A:e/ TMP/back"), EXIT_OK);
	assert_true(has("*deleting   extra\n"));
	assert_true(is_same_tree(r, "root/e", "back"));
	/* An entry that is skipped exists at the source, so its copy must stay. */
	assert_int_equal(cp(r, "-r -i --delete A:e/ TMP/back"), EXIT_OK);
	assert_int_equal(shell(r, "test -L back/dangling"), 0);
}

static void many_are_deleted(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir d root/d && cd root/d\n"
				  "seq -f 'file-with-a-long-name-%04g' 600 | xargs touch"), 0);
	assert_int_equal(cp(r, "-r -i --stats --delete TMP/d A:"), EXIT_OK);
	assert_int_equal(stat_of("deleted files: "), 600);
	assert_int_equal(shell(r, "test -z \"$(ls -A root/d)\""), 0);
}

static int undeletable(void **state)
{
	static const char * const words[] = { "--root", "ROOT", "--no-delete", NULL };

	return server_start(state, words);
}

static void a_server_may_forbid_deletion(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir d root/d && touch root/d/f"), 0);
	assert_int_equal(cp(r, "-r --delete TMP/d A:"), EXIT_DENIED);
	assert_int_equal(run(r, &cmd_rm, "A:d/f"), EXIT_DENIED);
	assert_true(tmp_exists(r->tmp, "root/d/f"));
}

static void permissions_are_changed_on_the_way(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir d && touch d/f && chmod 755 d && chmod 664 d/f"), 0);
	assert_int_equal(cp(r, "-r --chmod=D750,F640,Fu+x TMP/d A:"), EXIT_OK);
	assert_int_equal(shell(r, "test $(stat -c %a root/d)-$(stat -c %a root/d/f) = 750-740"), 0);
	assert_int_equal(cp(r, "-r --chmod=go-rwx A:d TMP/back"), EXIT_OK);
	assert_int_equal(shell(r, "test $(stat -c %a back)-$(stat -c %a back/f) = 700-700"), 0);
	assert_int_equal(cp(r, "-r --chmod=u+y TMP/d A:"), EXIT_USAGE);
}

static void missing_directories_are_made(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "echo x >f"), 0);
	assert_int_equal(cp(r, "TMP/f A:a/b/c"), EXIT_FAILED);
	assert_int_equal(cp(r, "--mkpath TMP/f A:a/b/c"), EXIT_OK);
	assert_int_equal(cp(r, "--mkpath TMP/f A:x/y/"), EXIT_OK);
	assert_int_equal(shell(r, "cmp f root/a/b/c && cmp f root/x/y/f"), 0);
	assert_int_equal(cp(r, "--mkpath A:a/b/c TMP/p/q/r"), EXIT_OK);
	assert_int_equal(cp(r, "--mkpath A:a/b/c TMP/s/t/"), EXIT_OK);
	assert_int_equal(shell(r, "cmp f p/q/r && cmp f s/t/c"), 0);
	assert_int_equal(cp(r, "--mkpath TMP/f A:../out/f"), EXIT_DENIED);
	assert_false(tmp_exists(r->tmp, "out"));
}

static void a_pipe_is_copied(void **state)
{
	static const char * const sizes[] = { "0", "10", "65536", "2097152", "9000001" };
	struct server_run *r = *state;
	int was = dup(STDIN_FILENO), fd;
	char cmd[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		snprintf(cmd, sizeof(cmd), "head -c %s /dev/urandom | tr '\\0' x >f", sizes[i]);
		assert_int_equal(shell(r, cmd), 0);
		fd = open(at(r, "f"), O_RDONLY);
		dup2(fd, STDIN_FILENO);
		close(fd);
		assert_int_equal(cp(r, "- A:f"), EXIT_OK);
		assert_int_equal(shell(r, "cmp f root/f"), 0);
		fd = open(at(r, "out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		fflush(stdout);
		assert_int_equal(cp(r, "A:f -"), EXIT_OK);
		assert_int_equal(strlen(printed) > 0 || i == 0, 1);
		close(fd);
	}
	dup2(was, STDIN_FILENO);
	close(was);
	assert_int_equal(shell(r, "echo 'a line' >f && rm -f root/f"), 0);
	assert_int_equal(cp(r, "TMP/f A:f"), EXIT_OK);
	assert_int_equal(cp(r, "A:f -"), EXIT_OK);
	assert_string_equal(printed, "a line\n");
	assert_int_equal(cp(r, "-r A:f -"), EXIT_USAGE);
}

/* ---- the far side -------------------------------------------------------------------- */

static void the_far_side_is_listed(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir -p root/d/e && echo hello >root/d/f && ln -s f root/d/l\n"
				  "touch root/d/.hidden root/d/e/g && chmod 640 root/d/f\n"
				  "ln -s /etc root/out"), 0);
	assert_int_equal(run(r, &cmd_ls, "A:d"), EXIT_OK);
	assert_string_equal(printed, "e/\nf\nl\n");
	assert_int_equal(run(r, &cmd_ls, "-aR A:d"), EXIT_OK);
	assert_string_equal(printed, ".hidden\ne/\ne/g\nf\nl\n");
	assert_int_equal(run(r, &cmd_ls, "-l A:d"), EXIT_OK);
	assert_true(has("-rw-r----- ") && has(" l -> f\n"));
	assert_int_equal(run(r, &cmd_ls, "A:d/f"), EXIT_OK);
	assert_string_equal(printed, "f\n");
	assert_int_equal(run(r, &cmd_ls, "A:none"), EXIT_FAILED);
	assert_int_equal(run(r, &cmd_ls, "A:../root"), EXIT_DENIED);
	assert_int_equal(run(r, &cmd_ls, "A:out/"), EXIT_DENIED);
	assert_int_equal(shell(r, "cd root/d/e && seq 1000 | xargs touch"), 0);
	assert_int_equal(run(r, &cmd_ls, "A:d/e"), EXIT_OK);
	assert_true(has("\n1000\n") && has("\n999\n"));
}

static void the_far_side_is_removed(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir -p root/d/e && touch root/f root/d/e/g root/d/h secret\n"
				  "ln -s ../.. root/d/e/up && ln -s .. root/out\n"
				  "(cd root/d && seq 2000 | xargs touch)"), 0);
	assert_int_equal(run(r, &cmd_rm, "-n A:f"), EXIT_OK);
	assert_string_equal(printed, "removed f\n");
	assert_true(tmp_exists(r->tmp, "root/f"));
	assert_int_equal(run(r, &cmd_rm, "A:f"), EXIT_OK);
	assert_false(tmp_exists(r->tmp, "root/f"));
	assert_int_equal(run(r, &cmd_rm, "A:f"), EXIT_FAILED);
	assert_int_equal(run(r, &cmd_rm, "-f A:f"), EXIT_OK);
	assert_int_equal(run(r, &cmd_rm, "A:d"), EXIT_FAILED);
	assert_int_equal(run(r, &cmd_rm, "-rv A:d"), EXIT_OK);
	assert_true(has("removed d/e/g\n") && has("removed d/\n"));
	assert_false(tmp_exists(r->tmp, "root/d"));
	assert_int_equal(run(r, &cmd_rm, "A:out/secret"), EXIT_DENIED);
	assert_int_equal(run(r, &cmd_rm, "-r A:."), EXIT_DENIED);
	assert_int_equal(run(r, &cmd_rm, "-r A:../root"), EXIT_DENIED);
	assert_int_equal(run(r, &cmd_rm, "A:out"), EXIT_OK);
	assert_true(tmp_exists(r->tmp, "secret"));
	assert_false(tmp_exists(r->tmp, "root/out"));
}

#define super_test(name) \
	cmocka_unit_test_setup_teardown(name, super, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(the_same_is_not_copied_again),
		server_test(size_or_time_tells_what_changed),
		server_test(only_permissions_are_changed_where_only_they_differ),
		server_test(a_newer_file_is_left_alone),
		server_test(a_dry_run_changes_nothing),
		super_test(a_tree_is_the_same_for_rsync),
		server_test(without_super_nothing_is_privileged),
		server_test(zeros_become_holes),
		server_test(holes_are_right_wherever_they_are),
		server_test(patterns_choose),
		server_test(names_come_from_a_file),
		super_test(what_is_too_much_is_deleted),
		server_test(many_are_deleted),
		cmocka_unit_test_setup_teardown(a_server_may_forbid_deletion, undeletable,
						server_teardown),
		server_test(permissions_are_changed_on_the_way),
		server_test(missing_directories_are_made),
		server_test(a_pipe_is_copied),
		server_test(the_far_side_is_listed),
		server_test(the_far_side_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
