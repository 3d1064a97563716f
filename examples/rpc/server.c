// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Serve calls until killed: rpc_server PROVIDER ADDRESS PORT RECORDS
 *
 * Each call that is run is recorded in the file RECORDS before it is answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "rpc.h"
#include "work.h"

#define BUFFERS 32

/* Registered memory of a request that moves bulk */
struct buffer {
	struct rpc_mem *mem;
	uint8_t *bytes;
	size_t length;
	struct buffer *next;
};

static struct buffer *unused;
static int records;

static void open_buffers(struct rpc *rpc)
{
	struct buffer *buffer;
	unsigned int i;

	for (i = 0; i < BUFFERS; i++) {
		buffer = calloc(1, sizeof(*buffer));
		if (!buffer)
			must(-ENOMEM, "buffers");
		buffer->bytes = aligned_alloc(4096, BULK_MAX);
		if (!buffer->bytes)
			must(-ENOMEM, "buffers");
		must(rpc_mem_open(rpc, buffer->bytes, BULK_MAX, false, false, &buffer->mem),
		     "register memory");
		buffer->next = unused;
		unused = buffer;
	}
}

static struct buffer *take_buffer(size_t length)
{
	struct buffer *buffer = unused;

	if (!buffer || length > BULK_MAX)
		return NULL;
	unused = buffer->next;
	buffer->length = length;
	return buffer;
}

static void return_buffer(struct buffer *buffer)
{
	buffer->next = unused;
	unused = buffer;
}

/* Appended in one piece, it is there even if the server is killed at once. */
static void record(const struct work *work)
{
	char line[64];
	int n = snprintf(line, sizeof(line), RECORD, (unsigned long long)work->client,
			 (unsigned long long)work->number);

	if (write(records, line, n) != n)
		must(-errno, "record");
}

static void reply(struct rpc_request *request, int status, const void *data, size_t length)
{
	must(rpc_reply(request, status, data, length), "reply");
}

/* Returns false if the request is answered. */
static int take_work(struct rpc_request *request, const void *data, size_t length,
		     struct work *work)
{
	if (length < sizeof(*work)) {
		reply(request, -EINVAL, NULL, 0);
		return 0;
	}
	memcpy(work, data, sizeof(*work));
	record(work);
	return 1;
}

static void echo(struct rpc_request *request, const void *data, size_t length, void *arg)
{
	struct work work;

	(void)arg;
	if (take_work(request, data, length, &work))
		reply(request, 0, (const char *)data + sizeof(work), length - sizeof(work));
}

static void pulled(struct rpc_request *request, void *arg, int error)
{
	struct buffer *buffer = arg;
	uint64_t sum;

	sum = error ? 0 : work_digest(buffer->bytes, buffer->length);
	return_buffer(buffer);
	reply(request, error, &sum, error ? 0 : sizeof(sum));
}

static void pushed(struct rpc_request *request, void *arg, int error)
{
	return_buffer(arg);
	reply(request, error, NULL, 0);
}

static void move(struct rpc_request *request, const void *data, size_t length, int is_pull)
{
	struct buffer *buffer;
	struct work work;
	size_t size = rpc_request_bulk(request).length;
	int ret;

	if (!take_work(request, data, length, &work))
		return;
	buffer = take_buffer(size);
	if (!buffer) {
		reply(request, -EBUSY, NULL, 0);
		return;
	}
	if (is_pull) {
		ret = rpc_pull(request, 0, buffer->mem, 0, size, pulled, buffer);
	} else {
		work_fill(buffer->bytes, size, work.seed);
		ret = rpc_push(request, 0, buffer->mem, 0, size, pushed, buffer);
	}
	if (ret) {
		return_buffer(buffer);
		reply(request, ret, NULL, 0);
	}
}

static void digest(struct rpc_request *request, const void *data, size_t length, void *arg)
{
	(void)arg;
	move(request, data, length, 1);
}

static void fill(struct rpc_request *request, const void *data, size_t length, void *arg)
{
	(void)arg;
	move(request, data, length, 0);
}

int main(int argc, char **argv)
{
	struct rpc *rpc;

	if (argc != 5) {
		fprintf(stderr, "usage: rpc_server PROVIDER ADDRESS PORT RECORDS\n");
		return 2;
	}
	records = open(argv[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (records < 0)
		must(-errno, argv[4]);
	must(rpc_open(&rpc, argv[1], argv[2], argv[3]), "open");
	open_buffers(rpc);
	must(rpc_register(rpc, ECHO, echo, NULL), ECHO);
	must(rpc_register(rpc, DIGEST, digest, NULL), DIGEST);
	must(rpc_register(rpc, FILL, fill, NULL), FILL);
	puts("listening");
	fflush(stdout);
	for (;;)
		must(rpc_progress(rpc, -1), "progress");
}
