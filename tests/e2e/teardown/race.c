// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two threads operate on one object at a time. */
#include <pthread.h>

#include "peer.h"

#define ROUNDS	100

/**
 * struct answer - one of two ACCEPTs
 * @ring: ring of the connection's completions
 * @start: both threads start here
 * @thread: the thread that calls ACCEPT
 * @result: its result
 */
struct answer {
	struct ring ring;
	pthread_barrier_t *start;
	pthread_t thread;
	int result;
};

static struct link both;

static void *answer(void *arg)
{
	struct answer *one = arg;

	pthread_barrier_wait(one->start);
	one->result = dev_accept(&one->ring, both.server.conn, NULL);
	return NULL;
}

static void race(struct answer answers[2])
{
	pthread_barrier_t start;
	int i;

	CHECK(!pthread_barrier_init(&start, NULL, 2));
	for (i = 0; i < 2; i++) {
		ring_open(&answers[i].ring, both.server.ring.fd, 4, 16);
		answers[i].start = &start;
		CHECK(!pthread_create(&answers[i].thread, NULL, answer, &answers[i]));
	}
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(answers[i].thread, NULL));
	pthread_barrier_destroy(&start);
}

TEST(one_of_two_concurrent_ACCEPTs_gets_the_connection)
{
	struct answer answers[2];
	int i, round, won;

	for (round = 0; round < test_repeats(ROUNDS); round++) {
		int fd;

		link_request(&both);
		fd = both.server.ring.fd;
		race(answers);
		won = answers[1].result == 0;
		CHECK_OK(answers[won].result);
		CHECK_ERR(answers[!won].result, ENOTCONN);
		CHECK_ERR(dev_destroy(fd, answers[won].ring.id), EBUSY);
		CHECK_OK(dev_destroy(fd, answers[!won].ring.id));
		CHECK_OK(ring_event(&answers[won].ring, KVERBS_CQE_ESTABLISHED,
				    both.server.conn).result);
		CHECK_OK(dev_destroy(fd, both.server.conn));
		CHECK_OK(dev_destroy(fd, answers[won].ring.id));
		for (i = 0; i < 2; i++)
			ring_unmap(&answers[i].ring);
		side_close(&both.client);
		side_close(&both.server);
	}
}
