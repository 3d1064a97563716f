// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reading the module's listing in debugfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "watch/snap.h"

#define CONN "pid=7 comm=a type=conn id=1 state=DEAD"

static void read_text(struct snap *snap, const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(file);
	assert_int_equal(snap_read(snap, file), 0);
	fclose(file);
}

static void each_key_of_a_connection_is_read(void **state)
{
	struct snap snap;

	(void)state;
	read_text(&snap,
		  "pid=12 comm=kverbs type=conn id=5 state=ESTABLISHED error=-104 device=rxe0\n"
		  "pid=13 type=conn qp=17 local=192.0.2.1:7472 remote=[fe80::1%3]:9 sq=3/128\n"
		  "pid=14 type=conn rq=4/512 ops=9 errors=2 bytes_out=18446744073709551615\n"
		  "pid=15 type=conn bytes_in=100\n");
	assert_int_equal(snap.nr, 4);
	assert_int_equal(snap.conns[0].pid, 12);
	assert_string_equal(snap.conns[0].comm, "kverbs");
	assert_int_equal(snap.conns[0].id, 5);
	assert_string_equal(snap.conns[0].state, "ESTABLISHED");
	assert_int_equal(snap.conns[0].error, -104);
	assert_string_equal(snap.conns[0].device, "rxe0");
	assert_int_equal(snap.conns[1].qp, 17);
	assert_string_equal(snap.conns[1].local, "192.0.2.1:7472");
	assert_string_equal(snap.conns[1].remote, "[fe80::1%3]:9");
	assert_int_equal(snap.conns[1].sq_used, 3);
	assert_int_equal(snap.conns[1].sq_depth, 128);
	assert_int_equal(snap.conns[2].rq_used, 4);
	assert_int_equal(snap.conns[2].rq_depth, 512);
	assert_int_equal(snap.conns[2].moved.ops, 9);
	assert_int_equal(snap.conns[2].moved.errors, 2);
	assert_true(snap.conns[2].moved.bytes_out == UINT64_MAX);
	assert_int_equal(snap.conns[3].moved.bytes_in, 100);
	snap_free(&snap);
}

static void other_objects_and_keys_are_skipped(void **state)
{
	struct snap snap;

	(void)state;
	read_text(&snap, "pid=7 comm=a type=ring id=1 users=2\n"
			 CONN " colour=red ops\n"
			 "pid=7 comm=a type=connection id=2\n\n");
	assert_int_equal(snap.nr, 1);
	assert_int_equal(snap.conns[0].id, 1);
	snap_free(&snap);
}

static void an_empty_list_is_not_an_error(void **state)
{
	struct snap snap;

	(void)state;
	read_text(&snap, "\n");
	assert_int_equal(snap.nr, 0);
	snap_free(&snap);
}

static void a_name_cannot_inject_other_keys(void **state)
{
	struct snap snap;

	(void)state;
	read_text(&snap, "pid=7 comm=a\\040type=conn\\012\\033[2J\\134 type=conn id=1\n");
	assert_int_equal(snap.nr, 1);
	assert_string_equal(snap.conns[0].comm, "a type=conn??[2J\\");
	snap_free(&snap);
}

static void long_values_are_cut(void **state)
{
	char text[400] = CONN " device=";
	struct snap snap;

	(void)state;
	memset(text + strlen(text), 'x', 200);
	read_text(&snap, text);
	assert_int_equal(strlen(snap.conns[0].device), sizeof(snap.conns[0].device) - 1);
	snap_free(&snap);
}

static void a_connection_is_found_in_another_snapshot(void **state)
{
	struct snap before, now;

	(void)state;
	read_text(&before, CONN " ops=1\npid=7 comm=a type=conn id=2 remote=y ops=2\n");
	read_text(&now, "pid=7 comm=a type=conn id=2 remote=y ops=9\n"
			"pid=7 comm=a type=conn id=2 remote=x ops=9\n"
			"pid=8 comm=a type=conn id=2 ops=9\n");
	assert_int_equal(snap_find(&before, &now.conns[0])->moved.ops, 2);
	assert_null(snap_find(&before, &now.conns[1]));
	assert_null(snap_find(&before, &now.conns[2]));
	snap_free(&before);
	snap_free(&now);
}

/* While a connection is set up or closed, the module does not report its addresses. */
static void a_connection_is_found_without_its_addresses(void **state)
{
	struct snap before, now;

	(void)state;
	read_text(&before, "file=3 " CONN " local=x:1 remote=y:2\nfile=3 pid=7 type=conn id=2\n");
	read_text(&now, "file=3 " CONN " busy=1\n"
			"file=3 pid=7 type=conn id=2 local=x:1 remote=y:2\n");
	assert_ptr_equal(snap_find(&before, &now.conns[0]), &before.conns[0]);
	assert_ptr_equal(snap_find(&before, &now.conns[1]), &before.conns[1]);
	snap_free(&before);
	snap_free(&now);
}

/* A process may have several files open, and each numbers its objects from 1. */
static void equal_ids_of_two_files_are_two_connections(void **state)
{
	struct snap before, now;

	(void)state;
	read_text(&before, "file=3 " CONN " ops=1\nfile=4 " CONN " ops=2\n");
	read_text(&now, "file=4 " CONN "\nfile=5 " CONN "\n");
	assert_int_equal(snap_find(&before, &now.conns[0])->moved.ops, 2);
	assert_null(snap_find(&before, &now.conns[1]));
	snap_free(&before);
	snap_free(&now);
}

static void devices_are_read(void **state)
{
	struct snap snap;

	(void)state;
	read_text(&snap, "device=rxe0 type=device conns=2 ops=3 errors=4 bytes_out=5 bytes_in=6\n"
			 CONN "\ndevice=mlx5_0 type=device retries=7\n");
	assert_int_equal(snap.nr, 1);
	assert_int_equal(snap.nr_devices, 2);
	assert_int_equal(snap.devices[0].conns, 2);
	assert_int_equal(snap.devices[0].moved.ops, 3);
	assert_int_equal(snap.devices[0].moved.errors, 4);
	assert_int_equal(snap.devices[0].moved.bytes_out, 5);
	assert_int_equal(snap.devices[0].moved.bytes_in, 6);
	assert_int_equal(snap.devices[0].retries, -1);
	assert_int_equal(snap_find_device(&snap, "mlx5_0")->retries, 7);
	assert_null(snap_find_device(&snap, "mlx5_1"));
	snap_free(&snap);
}

static void thousands_are_read(void **state)
{
	struct snap snap;
	FILE *file = tmpfile();
	int i;

	(void)state;
	assert_non_null(file);
	for (i = 0; i < 3000; i++)
		fprintf(file, "pid=7 comm=a type=conn id=%d\n", i);
	rewind(file);
	assert_int_equal(snap_read(&snap, file), 0);
	assert_int_equal(snap.nr, 3000);
	assert_int_equal(snap.conns[2999].id, 2999);
	snap_free(&snap);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_of_a_connection_is_read),
		cmocka_unit_test(other_objects_and_keys_are_skipped),
		cmocka_unit_test(an_empty_list_is_not_an_error),
		cmocka_unit_test(a_name_cannot_inject_other_keys),
		cmocka_unit_test(long_values_are_cut),
		cmocka_unit_test(a_connection_is_found_in_another_snapshot),
		cmocka_unit_test(a_connection_is_found_without_its_addresses),
		cmocka_unit_test(equal_ids_of_two_files_are_two_connections),
		cmocka_unit_test(devices_are_read),
		cmocka_unit_test(thousands_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
