// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Groups of connections, and what is exported to them */
#include "t.h"

static struct kverbs_conn_opts in_group(struct kverbs_group *group)
{
	return (struct kverbs_conn_opts){ .sz = sizeof(struct kverbs_conn_opts),
					  .group = group };
}

static struct kverbs_group *create(struct kverbs *kv)
{
	struct kverbs_group *group;

	assert_int_equal(kverbs_group_create(kv, 7, &group), 0);
	return group;
}

static struct kverbs_conn *connect_in(struct kverbs *kv, struct kverbs_group *group)
{
	struct kverbs_conn_opts opts = in_group(group);
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(kv, "192.0.2.1", "7472", &opts, &conn), 0);
	return conn;
}

static uint32_t group_of(struct kverbs_conn *conn)
{
	struct kverbs_cmd_conn_query query;

	assert_int_equal(kverbs_conn_query(conn, &query, sizeof(query)), 0);
	return query.out_group_id;
}

static void a_group_that_cannot_be_created_is_an_error(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group;

	assert_int_equal(kverbs_group_create(t->kv, FAKE_NO_DEVICE, &group), -ENODEV);
	assert_int_equal(kverbs_group_free(NULL), 0);
}

static void connections_name_their_group(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group = create(t->kv), *other = create(t->kv);
	struct kverbs_conn *in = connect_in(t->kv, group);
	struct kverbs_conn *out = connect_in(t->kv, NULL);

	assert_int_not_equal(group_of(in), 0);
	assert_int_equal(group_of(in), group_of(connect_in(t->kv, group)));
	assert_int_not_equal(group_of(in), group_of(connect_in(t->kv, other)));
	assert_int_equal(group_of(out), 0);
}

static void a_request_is_accepted_into_a_group(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group = create(t->kv);
	struct kverbs_conn_opts opts = in_group(group);
	struct kverbs_listener *l;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_listen(t->kv, NULL, "7472", 0, &l), 0);
	fake_request(7472, NULL, 0);
	assert_int_equal(kverbs_next_request(l, -1, &conn), 0);
	assert_int_equal(kverbs_accept(conn, &opts), 0);
	assert_int_not_equal(group_of(conn), 0);
	assert_int_equal(kverbs_group_free(group), -EBUSY);
}

static void a_group_of_another_context_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_conn_opts opts;
	struct kverbs_listener *l;
	struct kverbs_conn *conn;
	struct kverbs *other;

	assert_int_equal(kverbs_open(&other, NULL), 0);
	opts = in_group(create(other));
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "7472", &opts, &conn), -EINVAL);
	assert_int_equal(kverbs_listen(t->kv, NULL, "7472", 0, &l), 0);
	fake_request(7472, NULL, 0);
	assert_int_equal(kverbs_next_request(l, -1, &conn), 0);
	assert_int_equal(kverbs_accept_start(conn, &opts), -EINVAL);
	kverbs_close(other);
}

static void a_group_stays_while_it_is_used(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group = create(t->kv);
	struct kverbs_conn *conn = connect_in(t->kv, group);
	struct kverbs_token token;

	assert_int_equal(kverbs_group_export(group, t->buf, 0, 1, KVERBS_REMOTE_READ, &token),
			 0);
	assert_int_equal(kverbs_group_free(group), -EBUSY);
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_group_free(group), -EBUSY);
	assert_int_equal(kverbs_group_unexport(group, &token), 0);
	assert_null(token.segs);
	assert_int_equal(kverbs_group_free(group), 0);
}

static void an_export_of_a_group_outlives_its_connections(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group = create(t->kv);
	struct kverbs_conn *conn = connect_in(t->kv, group);
	struct kverbs_token token, second;

	fake.max_segment = 1000;
	assert_int_equal(kverbs_group_export(group, t->buf, 96, 20500, KVERBS_REMOTE_READ,
					     &token), 0);
	assert_int_equal(token.nr_segs, 21);
	assert_int_equal(token.length, 20500);
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_buf_free(t->buf), -EBUSY);
	assert_int_equal(kverbs_group_export(group, t->buf, 0, 1, KVERBS_REMOTE_READ, &second),
			 -ENOTCONN);
	assert_int_equal(kverbs_group_unexport(group, &token), 0);
	assert_int_equal(kverbs_buf_free(t->buf), 0);
}

static void exports_outside_of_the_buffer_are_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group = create(t->kv);
	struct kverbs_token token;

	connect_in(t->kv, group);
	assert_int_equal(kverbs_group_export(group, t->buf, 1, T_SIZE, 1, &token), -EINVAL);
	assert_int_equal(kverbs_group_export(group, t->buf, 0, 0, 1, &token), -EINVAL);
	assert_int_equal(kverbs_group_export(group, NULL, 0, 1, 1, &token), -EINVAL);
}

/* t_teardown() finds what is left. */
static void closing_frees_groups_and_their_exports(void **state)
{
	struct t *t = *state;
	struct kverbs_group *group = create(t->kv);
	struct kverbs_token token;

	connect_in(t->kv, group);
	create(t->kv);
	assert_int_equal(kverbs_group_export(group, t->buf, 0, 1, KVERBS_REMOTE_READ, &token),
			 0);
	kverbs_token_free(&token);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(a_group_that_cannot_be_created_is_an_error),
		t_test_conn(connections_name_their_group),
		t_test_conn(a_request_is_accepted_into_a_group),
		t_test_conn(a_group_of_another_context_is_refused),
		t_test_conn(a_group_stays_while_it_is_used),
		t_test_conn(an_export_of_a_group_outlives_its_connections),
		t_test_conn(exports_outside_of_the_buffer_are_refused),
		t_test_conn(closing_frees_groups_and_their_exports),
	};

	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
