// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs are built with the sizes and offsets of the header's structs, so that a change of what
 * is here needs another SONAME. Options may grow: of these only members that exist are here.
 */
#include "t.h"

#define at(type, member, offset) assert_int_equal(offsetof(struct type, member), offset)
#define size(type, bytes) assert_int_equal(sizeof(struct type), bytes)

static void structs_without_a_size_keep_theirs(void **state)
{
	(void)state;
	size(kverbs_device, 64);
	size(kverbs_token, 48);
	size(kverbs_req, 128);
	size(kverbs_vec, 24);
	size(kverbs_op, 112);
}

static void members_stay_where_they_are(void **state)
{
	(void)state;
	at(kverbs_device, attr, 0);
	at(kverbs_device, ports, 8);
	at(kverbs_device, gids, 16);
	at(kverbs_device, nr_ports, 24);
	at(kverbs_device, nr_gids, 28);
	at(kverbs_token, length, 0);
	at(kverbs_token, access, 8);
	at(kverbs_token, nr_segs, 12);
	at(kverbs_token, segs, 16);
	at(kverbs_token, id, 24);
	at(kverbs_req, done, 0);
	at(kverbs_req, data, 8);
	at(kverbs_req, result, 16);
	at(kverbs_req, wc_status, 20);
	at(kverbs_req, flags, 24);
	at(kverbs_req, imm, 28);
	at(kverbs_req, byte_len, 32);
	at(kverbs_vec, buf, 0);
	at(kverbs_vec, offset, 8);
	at(kverbs_vec, length, 16);
	at(kverbs_op, opcode, 0);
	at(kverbs_op, imm, 4);
	at(kverbs_op, rkey, 8);
	at(kverbs_op, flags, 12);
	at(kverbs_op, buf, 16);
	at(kverbs_op, offset, 24);
	at(kverbs_op, length, 32);
	at(kverbs_op, token, 40);
	at(kverbs_op, remote_offset, 48);
	at(kverbs_op, operand, 56);
	at(kverbs_op, swap, 64);
	at(kverbs_op, req, 72);
	at(kverbs_op, vec, 80);
	at(kverbs_op, nr_vec, 88);
}

static void options_only_grow_at_their_ends(void **state)
{
	(void)state;
	at(kverbs_opts, path, 8);
	at(kverbs_opts, sq_entries, 16);
	at(kverbs_opts, cq_entries, 20);
	at(kverbs_opts, busy_poll, 24);
	at(kverbs_opts, softirq, 25);
	at(kverbs_conn_opts, param, 8);
	at(kverbs_conn_opts, param_sz, 16);
	at(kverbs_conn_opts, source, 24);
	at(kverbs_conn_opts, priv, 32);
	at(kverbs_conn_opts, priv_len, 40);
	at(kverbs_conn_opts, timeout_ms, 48);
	at(kverbs_conn_opts, prepare, 56);
	at(kverbs_conn_opts, refused, 64);
	at(kverbs_conn_opts, arg, 72);
	at(kverbs_conn_opts, group, 80);
	at(kverbs_conn_opts, pool, 88);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_without_a_size_keep_theirs),
		cmocka_unit_test(members_stay_where_they_are),
		cmocka_unit_test(options_only_grow_at_their_ends),
	};

	/* The offsets are those of 64-bit programs. */
	if (sizeof(void *) != 8) {
		print_message("1..0 # SKIP pointers have no 64 bits\n");
		return 4;
	}
	return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
