// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Log lines about clients. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <json-c/json.h>

#include "fake_kernel.h"
#include "serve/log.h"
#include "tmp.h"

static const struct kverbs_addr peer = {
	.family = AF_INET, .port = 0x5000 /* 80 */, .addr = { 192, 0, 2, 7 },
};

/* Open a log that writes to "log" in the directory. */
static void begin(struct log *l, const struct tmp *tmp, const char *form)
{
	fake_reset();
	fake.time_jumps = true;
	assert_int_equal(log_open(l, form, "/nowhere"), 0);
	l->fd = openat(tmp->fd, "log", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	assert_true(l->fd >= 0);
}

static const char *end(struct log *l, const struct tmp *tmp)
{
	static char text[8192];

	memset(text, 0, sizeof(text));
	tmp_read(tmp, "log", text, sizeof(text) - 1);
	close(l->fd);
	log_close(l);
	return text;
}

static unsigned int lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void a_line_says_who_what_and_why(void **state)
{
	const struct log_event e = { LOG_WARNING, "refused", &peer, .err = -EPROTO };
	struct log l;

	begin(&l, *state, "text");
	log_say(&l, &e, "refused: %s", "for a reason");
	assert_string_equal(end(&l, *state),
			    "kverbs: serve: client 192.0.2.7:80: refused: for a reason (EPROTO)\n");
}

static void what_is_only_of_interest_is_for_the_verbose(void **state)
{
	const struct log_event e = { LOG_INFO, .name = "gone", .peer = &peer };
	struct log l;

	begin(&l, *state, "text");
	log_say(&l, &e, "first");
	l.verbose = true;
	log_say(&l, &e, "second");
	assert_string_equal(end(&l, *state), "kverbs: serve: client 192.0.2.7:80: second\n");
}

static void control_characters_do_not_get_through(void **state)
{
	const struct log_event e = { LOG_WARNING, .name = "odd" };
	struct log l;

	begin(&l, *state, "text");
	log_say(&l, &e, "%s", "a\nb\x1b[2J\x7f\xc2\x9bx");
	assert_string_equal(end(&l, *state), "kverbs: serve: a?b?[2J???x\n");
}

static void lines_about_one_address_are_bounded(void **state)
{
	const struct log_event e = { LOG_WARNING, .name = "refused", .peer = &peer };
	struct kverbs_addr next = peer;
	const char *text;
	struct log l;
	int i;

	begin(&l, *state, "text");
	l.rate = 0.000001;
	for (i = 0; i < 100; i++) {
		/* Another port does not make it another host. */
		next.port++;
		log_say(&l, &(struct log_event){ LOG_WARNING, .name = "x", .peer = &next }, "x");
	}
	assert_int_equal(lines(end(&l, *state)), 0);

	begin(&l, *state, "text");
	l.rate = 1;
	for (i = 0; i < 100; i++)
		log_say(&l, &e, "line");
	fake_advance(1000);
	for (i = 0; i < 100; i++)
		log_say(&l, &e, "line");
	text = end(&l, *state);
	assert_int_equal(lines(text), LOG_BURST + 1);
}

static void what_was_left_out_is_counted(void **state)
{
	const struct log_event e = { LOG_WARNING, .name = "refused", .peer = &peer };
	struct log l;
	int i;

	begin(&l, *state, "text");
	l.rate = 0.000001;
	for (i = 0; i < 3; i++)
		log_say(&l, &e, "line");
	l.rate = 0;
	log_say(&l, &e, "line");
	assert_non_null(strstr(end(&l, *state), "line (3 lines omitted)\n"));
}

static void lines_about_all_addresses_are_bounded(void **state)
{
	struct kverbs_addr next = peer;
	struct log_event e = { LOG_WARNING, .name = "refused", .peer = &next };
	unsigned int n;
	struct log l;
	int i;

	begin(&l, *state, "text");
	l.rate = 0.01;
	for (i = 0; i < 3000; i++) {
		next.addr[2] = i >> 8;
		next.addr[3] = i;
		log_say(&l, &e, "line");
	}
	n = lines(end(&l, *state));
	assert_true(n <= 0.01 * LOG_ALL * LOG_BURST + 1);
}

static void what_is_about_nobody_is_always_told(void **state)
{
	const struct log_event e = { LOG_ERR, .name = "reload-failed" };
	struct log l;
	int i;

	begin(&l, *state, "text");
	l.rate = 0.000001;
	for (i = 0; i < 5; i++)
		log_say(&l, &e, "line");
	assert_int_equal(lines(end(&l, *state)), 5);
}

static const char *field(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

static void a_line_of_JSON_has_what_a_line_says(void **state)
{
	const struct log_event e = { LOG_WARNING, "refused", &peer, "ping", "mine", -EACCES };
	struct json_object *o;
	struct log l;

	begin(&l, *state, "json");
	log_say(&l, &e, "say \"%s\"", "so");
	o = json_tokener_parse(end(&l, *state));
	assert_non_null(o);
	assert_string_equal(field(o, "level"), "warning");
	assert_string_equal(field(o, "event"), "refused");
	assert_string_equal(field(o, "peer"), "192.0.2.7:80");
	assert_string_equal(field(o, "service"), "ping");
	assert_string_equal(field(o, "key"), "mine");
	assert_string_equal(field(o, "errno"), "EACCES");
	assert_string_equal(field(o, "message"),
			    "client 192.0.2.7:80: say \"so\", key mine (EACCES)");
	assert_int_equal(strlen(field(o, "time")), strlen("2000-01-01T00:00:00Z"));
	json_object_put(o);
}

static void other_forms_are_refused(void **state)
{
	struct log l;

	(void)state;
	assert_int_equal(log_open(&l, "xml", "/nowhere"), -EINVAL);
}

/* ---- the journal ----------------------------------------------------------- */

static int listen_as_journal(const struct tmp *tmp, char *path, size_t room)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	/* A short path, wherever the directory is. */
	snprintf(path, room, "/proc/self/fd/%d/journal", tmp->fd);
	assert_true(strlen(path) < sizeof(at.sun_path));
	strcpy(at.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void claim_stream(int fd)
{
	char text[64];
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	snprintf(text, sizeof(text), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", text, 1);
}

static void the_journal_gets_fields(void **state)
{
	const struct log_event e = { LOG_WARNING, "refused", &peer, "files", "mine", -EPROTO };
	char path[PATH_MAX + 16], text[1024] = "";
	int fd = listen_as_journal(*state, path, sizeof(path));
	struct log l;

	claim_stream(STDERR_FILENO);
	assert_int_equal(log_open(&l, NULL, path), 0);
	log_say(&l, &e, "no\nway");
	assert_true(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	assert_string_equal(text, "MESSAGE=client 192.0.2.7:80: no?way, key mine (EPROTO)\n"
			    "PRIORITY=4\n"
			    "SYSLOG_IDENTIFIER=kverbs\nKVERBS_EVENT=refused\n"
			    "KVERBS_PEER=192.0.2.7:80\nKVERBS_SERVICE=files\nKVERBS_KEY=mine\n"
			    "ERRNO=71\nKVERBS_ERROR=EPROTO\n");
	log_close(&l);
	close(fd);
	unsetenv("JOURNAL_STREAM");
}

static void who_has_another_standard_error_does_not_mean_the_journal(void **state)
{
	const struct tmp *tmp = *state;
	char path[PATH_MAX + 16];
	int fd = listen_as_journal(tmp, path, sizeof(path));
	struct log l;

	claim_stream(tmp->fd);
	assert_int_equal(log_open(&l, NULL, path), 0);
	assert_int_equal(l.form, LOG_FORM_TEXT);
	log_close(&l);
	claim_stream(STDERR_FILENO);
	assert_int_equal(log_open(&l, "text", path), 0);
	assert_int_equal(l.form, LOG_FORM_TEXT);
	log_close(&l);
	close(fd);
	unsetenv("JOURNAL_STREAM");
}

static void without_a_journal_lines_go_to_standard_error(void **state)
{
	struct log l;

	(void)state;
	claim_stream(STDERR_FILENO);
	assert_int_equal(log_open(&l, NULL, "/nowhere/journal"), 0);
	assert_int_equal(l.form, LOG_FORM_TEXT);
	assert_int_equal(l.fd, STDERR_FILENO);
	log_close(&l);
	unsetenv("JOURNAL_STREAM");
}

/* A reader that has stopped must not stop the server. */
static void a_full_pipe_loses_lines(void **state)
{
	const struct log_event e = { LOG_WARNING, .name = "x" };
	static char text[1 << 17];
	int fds[2], i;
	struct log l;
	ssize_t n;

	begin(&l, *state, "text");
	close(l.fd);
	assert_int_equal(pipe(fds), 0);
	l.fd = fds[1];
	for (i = 0; i < 20000; i++)
		log_say(&l, &e, "a line that fills a pipe after a while");
	assert_true(l.all.held > 0);
	n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	log_say(&l, &e, "last");
	n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "last ("));
	assert_non_null(strstr(text, "lines omitted"));
	close(fds[0]);
	close(fds[1]);
	log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(a_line_says_who_what_and_why),
		tmp_test(a_full_pipe_loses_lines),
		tmp_test(what_is_only_of_interest_is_for_the_verbose),
		tmp_test(control_characters_do_not_get_through),
		tmp_test(lines_about_one_address_are_bounded),
		tmp_test(what_was_left_out_is_counted),
		tmp_test(lines_about_all_addresses_are_bounded),
		tmp_test(what_is_about_nobody_is_always_told),
		tmp_test(a_line_of_JSON_has_what_a_line_says),
		cmocka_unit_test(other_forms_are_refused),
		tmp_test(the_journal_gets_fields),
		tmp_test(who_has_another_standard_error_does_not_mean_the_journal),
		cmocka_unit_test(without_a_journal_lines_go_to_standard_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
