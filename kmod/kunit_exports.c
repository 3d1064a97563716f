// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports for the KUnit suites; built only for them. */
#include <linux/module.h>

#include "addr.h"
#include "bench_cmd.h"
#include "conn_cm.h"
#include "conn_cmd.h"
#include "conn_io.h"
#include "device_query.h"
#include "export.h"
#include "file.h"
#include "group.h"
#include "group_cmd.h"
#include "ib_core.h"
#include "info.h"
#include "k_conn.h"
#include "listener.h"
#include "opcode.h"
#include "pool.h"
#include "pool_cmd.h"
#include "quirks.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "ring_cmd.h"
#include "submit.h"
#include "sync.h"
#include "slot.h"
#include "track.h"
#include "verbs.h"
#include "workqueue.h"
#include "wr.h"

/* Not EXPORT_SYMBOL_IF_KUNIT(), which asks whether the kernel was built with KUnit. */
#define SHOW(symbol)	EXPORT_SYMBOL_GPL(symbol)

SHOW(kverbs_addr_in);
SHOW(kverbs_addr_out);

SHOW(kverbs_check_recv);
SHOW(kverbs_check_send);
SHOW(kverbs_check_srq_recv);
SHOW(kverbs_checks);

SHOW(kverbs_cmd_bench);
SHOW(kverbs_cmd_conn_query);
SHOW(kverbs_cmd_connect);
SHOW(kverbs_cmd_device_query);
SHOW(kverbs_cmd_group_create);
SHOW(kverbs_cmd_pool_create);
SHOW(kverbs_cmd_region_create);
SHOW(kverbs_cmd_ring_create);
SHOW(kverbs_cmd_submit);

SHOW(kverbs_chain_alloc);
SHOW(kverbs_chain_free);

SHOW(kverbs_conn_abandon);
SHOW(kverbs_conn_accept);
SHOW(kverbs_conn_adopt);
SHOW(kverbs_conn_close);
SHOW(kverbs_conn_close_killable);
SHOW(kverbs_conn_create);
SHOW(kverbs_conn_end);
SHOW(kverbs_conn_enter);
SHOW(kverbs_conn_forget);
SHOW(kverbs_conn_free);
SHOW(kverbs_conn_init_waiters);
SHOW(kverbs_conn_map);
SHOW(kverbs_conn_post_deferred);
SHOW(kverbs_conn_post_held);
SHOW(kverbs_conn_post_list);
SHOW(kverbs_conn_post_list_now);
SHOW(kverbs_conn_post_now);
SHOW(kverbs_conn_recv);
SHOW(kverbs_conn_recv_list);
SHOW(kverbs_conn_reject);
SHOW(kverbs_conn_start);
SHOW(kverbs_conn_submit_list);
SHOW(kverbs_conn_submit_recvs);

SHOW(kverbs_cq_get);
SHOW(kverbs_cq_has_passed);
SHOW(kverbs_cq_put);
SHOW(kverbs_cq_set_await);
SHOW(kverbs_cq_set_poll_all);
SHOW(kverbs_cq_set_exit);
SHOW(kverbs_cq_set_init);
SHOW(kverbs_cq_set_poll);

SHOW(kverbs_device_claim);
SHOW(kverbs_device_count);
SHOW(kverbs_device_enter);
SHOW(kverbs_device_for_each);
SHOW(kverbs_device_judge);
SHOW(kverbs_device_leave);
SHOW(kverbs_device_large_pages);
SHOW(kverbs_device_mr_pages);
SHOW(kverbs_device_next);
SHOW(kverbs_device_query);
SHOW(kverbs_device_reserve);
SHOW(kverbs_device_unreserve);
SHOW(kverbs_port_transport);

SHOW(kverbs_export_count);
SHOW(kverbs_export_create);
SHOW(kverbs_export_destroy);
SHOW(kverbs_export_to_conn);
SHOW(kverbs_export_to_group);

SHOW(kverbs_fault_test);
SHOW(kverbs_fault_tested);

SHOW(kverbs_file_close);
SHOW(kverbs_file_get_conn);
SHOW(kverbs_file_open);
SHOW(kverbs_file_put_conn);

SHOW(kverbs_group_close);
SHOW(kverbs_group_create);
SHOW(kverbs_group_destroy);

SHOW(kverbs_ib_core_check);
SHOW(kverbs_ib_core_is_replaced);

SHOW(kverbs_listener_create);
SHOW(kverbs_listener_free);
SHOW(kverbs_listener_start);

SHOW(kverbs_k_conn_lend);

SHOW(kverbs_lkey_cache_forget);
SHOW(kverbs_lkeys_get);
SHOW(kverbs_lkey_cache_destroy);
SHOW(kverbs_lkey_cache_init);
SHOW(kverbs_lkeys_sge);

SHOW(kverbs_map_get);
SHOW(kverbs_map_lookup);
SHOW(kverbs_map_sges);

SHOW(kverbs_mr_count);
SHOW(kverbs_mr_free);
SHOW(kverbs_mr_get);
SHOW(kverbs_mr_page_size);
SHOW(kverbs_mr_pool_destroy);
SHOW(kverbs_mr_pool_init);
SHOW(kverbs_mr_publish);
SHOW(kverbs_mr_reach);
SHOW(kverbs_mr_recycle);
SHOW(kverbs_mr_revoke);

SHOW(kverbs_object_destroy);
SHOW(kverbs_object_destroy_all);
SHOW(kverbs_object_get);
SHOW(kverbs_object_publish);
SHOW(kverbs_object_put);
SHOW(kverbs_object_reserve);
SHOW(kverbs_object_table_exit);
SHOW(kverbs_object_table_init);
SHOW(kverbs_object_unreserve);

SHOW(kverbs_opdefs);

SHOW(kverbs_queue_await_posted);
SHOW(kverbs_queue_check_up);
SHOW(kverbs_queue_close);
SHOW(kverbs_queue_fail_deferred);
SHOW(kverbs_queue_hold);
SHOW(kverbs_queue_init);
SHOW(kverbs_queue_is_posted);
SHOW(kverbs_queue_open);
SHOW(kverbs_queue_defer);
SHOW(kverbs_queue_peek_deferred);
SHOW(kverbs_queue_post);
SHOW(kverbs_queue_post_list);
SHOW(kverbs_queue_post_recv);
SHOW(kverbs_queue_post_recvs);
SHOW(kverbs_queue_post_regs);
SHOW(kverbs_queue_reserve);
SHOW(kverbs_queue_resize);
SHOW(kverbs_queue_flush_remaining);
SHOW(kverbs_queue_unreserve);
SHOW(kverbs_queue_up);

SHOW(kverbs_quirks);

SHOW(kverbs_recv_pool_init);

SHOW(kverbs_region_byte);
SHOW(kverbs_region_create);
SHOW(kverbs_region_destroy);
SHOW(kverbs_region_of_dmabuf);
SHOW(kverbs_region_of_memory);
SHOW(kverbs_region_unuse_many);

SHOW(kverbs_req_use);
SHOW(kverbs_req_unuse);

SHOW(kverbs_ring_event);
SHOW(kverbs_ring_events);
SHOW(kverbs_ring_reserve);
SHOW(kverbs_ring_has_room);
SHOW(kverbs_ring_trylock);
SHOW(kverbs_ring_unlock);
SHOW(kverbs_ring_unread);
SHOW(kverbs_ring_unreserve);
SHOW(kverbs_ring_wait);
SHOW(kverbs_ring_wake);
SHOW(kverbs_ring_watch);
SHOW(kverbs_rings_forget);

SHOW(kverbs_sync_init);
SHOW(kverbs_sync_post);

SHOW(kverbs_slots_done);
SHOW(kverbs_slots_put);
SHOW(kverbs_slots_get);

#ifdef CONFIG_MMU_NOTIFIER
SHOW(kverbs_track_arm);
SHOW(kverbs_track_begin);
SHOW(kverbs_track_start);
SHOW(kverbs_track_stop);
#endif

SHOW(kverbs_turn_lock);
SHOW(kverbs_turn_unlock);

SHOW(kverbs_post_workqueue);
SHOW(kverbs_teardown_workqueue);
SHOW(kverbs_workqueue);

SHOW(kverbs_wr_post);
SHOW(kverbs_wr_post_direct);
SHOW(kverbs_wr_post_list);
SHOW(kverbs_wr_recv);
SHOW(kverbs_wr_recv_list);
