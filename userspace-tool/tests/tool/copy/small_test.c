// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Several small files go in one window of the sink. */
#define _GNU_SOURCE

#include "copy/hash.h"
#include "copy/landing.h"
#include "peer/wire.h"
#include "server.h"

/* A window has room for two files. */
#define SIZE 25
#define ROOM 64
#define FILES 5

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
	.flags = WIRE_F_SEVERAL,
};

/* ---- a sink ------------------------------------------------------------ */

/**
 * struct small_sink - a sink that takes files of the server into windows of ROOM bytes
 * @s: its connection
 * @kv: its instance of the library
 * @mem: the windows
 * @tokens: their tokens
 * @files: FILE of each
 */
struct small_sink {
	struct session s;
	struct kverbs *kv;
	struct kverbs_buf *mem;
	struct kverbs_token tokens[FILES];
	struct wire_msg files[FILES];
};

static const char *content(char *into, unsigned int i)
{
	snprintf(into, SIZE + 1, "%-*u", SIZE, i);
	return into;
}

static void make_files(const struct tmp *tmp)
{
	char name[32], data[SIZE + 1];
	unsigned int i;

	assert_int_equal(mkdirat(tmp->fd, "root/d", 0755), 0);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "root/d/%u", i);
		tmp_write(tmp, name, content(data, i));
	}
}

/* Ask the server for the files, with so many windows, and let it have the data sent at once. */
static void begin_get(struct small_sink *k, unsigned int windows, uint32_t flags)
{
	const struct wire_msg sink = {
		.type = WIRE_SINK, .window = windows, .size = ROOM, .flags = flags,
	};
	const struct wire_msg get = {
		.type = WIRE_GET, .flags = WIRE_F_RECURSIVE, .tail = "d", .tail_len = 1,
	};
	struct wire_msg msg, done = { .type = WIRE_DONE, .window = WIRE_NO_WINDOW };
	unsigned int i;

	assert_int_equal(server_connect(&k->s, &k->kv, &files_hello), 0);
	assert_int_equal(kverbs_buf_alloc(k->kv, FILES * ROOM, &k->mem), 0);
	assert_int_equal(session_send(&k->s, &sink), 0);
	for (i = 0; i < windows; i++) {
		struct wire_msg grant = { .window = i, .size = ROOM };

		assert_int_equal(kverbs_export(k->s.conn, k->mem, i * ROOM, ROOM,
					       KVERBS_REMOTE_WRITE, &k->tokens[i]), 0);
		assert_int_equal(landing_grant(&k->s, &grant, &k->tokens[i]), 0);
	}
	assert_int_equal(session_send(&k->s, &get), 0);
	await_message(&k->s, WIRE_DIR, &msg);
	done.id = msg.id;
	assert_int_equal(session_send(&k->s, &done), 0);
	for (i = 0; i < FILES; i++) {
		await_message(&k->s, WIRE_ASK, &msg);
		k->files[i].id = msg.id;
	}
	/* All in one SEND, so that the source does not wait in between. */
	for (i = 0; i < FILES; i++) {
		struct wire_msg want = {
			.type = WIRE_WANT, .id = k->files[i].id, .window = WIRE_NO_WINDOW,
		};

		assert_int_equal(session_queue(&k->s, &want), 0);
	}
}

/* Take the next file, and look at where it is. */
static void take(struct small_sink *k, unsigned int i, unsigned int window, unsigned int offset)
{
	struct wire_msg *file = &k->files[i];
	char data[SIZE + 1];

	await_message(&k->s, WIRE_FILE, file);
	assert_int_equal(file->status, 0);
	assert_int_equal(file->size, SIZE);
	assert_int_equal(file->window, window);
	assert_int_equal(file->offset, offset);
	assert_memory_equal((char *)kverbs_buf_addr(k->mem) + window * ROOM + offset,
			    content(data, file->tail ? ((const char *)file->tail)[2] - '0' : 0),
			    SIZE);
}

static void answer(struct small_sink *k, unsigned int i)
{
	const struct wire_msg done = {
		.type = WIRE_DONE, .id = k->files[i].id, .window = k->files[i].window,
		.digest = k->files[i].digest,
	};

	assert_int_equal(session_send(&k->s, &done), 0);
}

static void end_get(struct small_sink *k)
{
	struct wire_msg msg, done = { .type = WIRE_DONE, .window = WIRE_NO_WINDOW };
	unsigned int i;

	await_message(&k->s, WIRE_DIR_END, &msg);
	done.id = msg.id;
	assert_int_equal(session_send(&k->s, &done), 0);
	await_message(&k->s, WIRE_FINISH, &msg);
	assert_int_equal(msg.status, 0);
	for (i = 0; i < FILES; i++)
		if (k->tokens[i].length)
			kverbs_unexport(k->s.conn, &k->tokens[i]);
	session_stop(&k->s);
	kverbs_buf_free(k->mem);
	server_leave(&k->s, k->kv);
}

/* Take all files, of which a window gets so many. */
static void expect_places(const struct server_run *r, uint32_t flags, unsigned int per_window)
{
	struct small_sink k = { 0 };
	unsigned int i;

	make_files(r->tmp);
	begin_get(&k, FILES, flags);
	for (i = 0; i < FILES; i++)
		take(&k, i, i / per_window, i % per_window * SIZE);
	for (i = 0; i < FILES; i++)
		answer(&k, i);
	end_get(&k);
}

static void files_share_a_window_as_long_as_it_has_room(void **state)
{
	expect_places(*state, WIRE_F_PACKS, 2);
}

static void an_older_sink_gets_one_file_in_a_window(void **state)
{
	expect_places(*state, 0, 1);
}

static void a_window_is_used_again_when_all_its_files_are_done(void **state)
{
	struct server_run *r = *state;
	struct small_sink k = { 0 };
	unsigned int i;

	make_files(r->tmp);
	begin_get(&k, 1, WIRE_F_PACKS);
	for (i = 0; i < FILES; i++) {
		take(&k, i, 0, i % 2 * SIZE);
		if (i % 2) {
			answer(&k, i - 1);
			answer(&k, i);
		}
	}
	answer(&k, FILES - 1);
	end_get(&k);
}

/* ---- a source ---------------------------------------------------------- */

static uint64_t digest_of(const struct wire_msg *file, const char *data)
{
	struct hash hash;
	uint64_t piece, value;

	assert_int_equal(hash_begin(&hash, NULL, file), 0);
	assert_int_equal(hash_add(&hash, data, file->size, &piece), 0);
	assert_int_equal(hash_value(&hash, &value), 0);
	return value;
}

/* The data of all files is written to one window of the server, one file after another. */
static void a_sink_finds_each_file_in_the_window(void **state)
{
	const struct wire_msg put = { .type = WIRE_PUT, .window = WIRE_NO_WINDOW };
	struct kverbs_token token;
	struct server_run *r = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_buf *mem;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;
	char name[16], data[SIZE + 1], found[SIZE + 1];
	unsigned int i;

	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	assert_int_equal(session_send(&s, &put), 0);
	await_message(&s, WIRE_SINK, &msg);
	assert_true(msg.flags & WIRE_F_PACKS);
	await_message(&s, WIRE_GRANT, &msg);
	assert_true(kverbs_token_unpack(&token, msg.tail, msg.tail_len) > 0);
	assert_int_equal(kverbs_buf_alloc(kv, FILES * SIZE, &mem), 0);
	for (i = 0; i < FILES; i++)
		memcpy((char *)kverbs_buf_addr(mem) + i * SIZE, content(data, i), SIZE);
	assert_int_equal(kverbs_write(s.conn, mem, 0, FILES * SIZE, &token, 0, &req), 0);
	for (i = 0; i < FILES; i++) {
		struct wire_msg file = {
			.type = WIRE_FILE, .id = i + 1, .flags = WIRE_F_EAGER, .mode = 0644,
			.size = SIZE, .offset = i * SIZE, .tail = name, .tail_len = 1,
		};

		snprintf(name, sizeof(name), "%u", i);
		file.digest = digest_of(&file, content(data, i));
		assert_int_equal(session_send(&s, &file), 0);
	}
	for (i = 0; i < FILES; i++) {
		await_message(&s, WIRE_DONE, &msg);
		assert_int_equal(msg.id, i + 1);
		assert_int_equal(msg.status, 0);
		assert_int_equal(msg.window, 0);
		snprintf(name, sizeof(name), "root/%u", i);
		assert_int_equal(tmp_read(r->tmp, name, found, sizeof(found)), SIZE);
		assert_memory_equal(found, content(data, i), SIZE);
	}
	assert_int_equal(session_wait(&s, &req, FAKE_PATIENCE_MS), 0);
	kverbs_token_free(&token);
	session_stop(&s);
	kverbs_buf_free(mem);
	server_leave(&s, kv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(files_share_a_window_as_long_as_it_has_room),
		server_test(an_older_sink_gets_one_file_in_a_window),
		server_test(a_window_is_used_again_when_all_its_files_are_done),
		server_test(a_sink_finds_each_file_in_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
