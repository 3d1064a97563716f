#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Contexts, connections, listeners, and how their failures are reported."""

import ctypes
import errno
import gc
import os
import signal
import threading

import t
from t import HOST, PORT, kverbs

CONNECT_HANGS = 1
# Waits that must end have no other limit.
SOON = 0.02


class Contexts(t.Case):
    def test_a_node_that_is_missing_is_an_error_with_errno_and_text(self):
        t.fake.fake_fail(1, 1, -errno.ENOENT)
        error = self.raises(errno.ENOENT, kverbs.Context)
        self.assertEqual(error.function, "kverbs_open")
        self.assertIn("kverbs_open: No such file or directory", str(error))

    def test_the_module_tells_its_version(self):
        with kverbs.Context() as context:
            self.assertEqual(context.abi, 2)
            self.assertIsInstance(context.module_version, str)
        self.assertEqual(kverbs.version(), "0.1.0")

    def test_devices_are_listed_with_ports_and_addresses(self):
        t.fake.fake_add_device(3, b"mlx5_0", 2, 5)
        t.fake.fake_add_device(4, b"rxe0", 1, 1)
        t.fake.fake_make_unusable(4, 6)
        with kverbs.Context() as context:
            first, second = context.devices()
        self.assertEqual((first.index, first.name, first.usable), (3, "mlx5_0", True))
        self.assertEqual([port.number for port in first.ports], [1, 2])
        self.assertEqual(len(first.gids), 5)
        self.assertEqual(len(first.gids[0].gid), 16)
        self.assertEqual((second.name, second.usable), ("rxe0", False))

    def test_an_error_is_explained_by_its_likely_causes(self):
        with kverbs.Context() as context:
            causes = context.explain(kverbs.Error(errno.ENOMEM, "kverbs_buf_register"))
            self.assertIn("resources", [cause.name for cause in causes])
            self.assertIn("rdma resource", causes[-1].text + causes[-1].remedy)
            protocol = context.explain(kverbs.Error(errno.EPROTO, "connect"))
        self.assertEqual(protocol[0].name, "version")
        self.assertRaises(ValueError, context.explain,
                          kverbs.Error(errno.EPROTO, "connect"))

    def test_a_closed_context_refuses_everything(self):
        context = kverbs.Context()
        context.close()
        for call in (context.fileno, context.devices, context.process, context.listen,
                     lambda: context.allocate(8), lambda: context.connect(HOST, PORT),
                     lambda: context.create_pool(), lambda: context.create_group(1)):
            self.assertRaises(ValueError, call)

    def test_processing_without_completions_returns_0_in_time(self):
        with kverbs.Context() as context:
            self.assertEqual(context.process(0), 0)
            self.assertEqual(context.process(SOON), 0)

    def test_a_child_of_fork_leaves_the_context_of_its_parent_alone(self):
        with kverbs.Context() as context:
            region = context.allocate(100)
            child = os.fork()
            if not child:
                failed = 1
                try:
                    region.close()
                except kverbs.Error as error:
                    failed = error.errno != errno.ECHILD
                os._exit(failed)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            region.close()


class Connections(t.Case):
    def test_peers_connect_and_exchange_private_data(self):
        with kverbs.Context() as server, kverbs.Context() as client:
            with server.listen(None, HOST) as listener:
                port = listener.port
                with t.background(lambda: client.connect(HOST, port, private_data=b"question")) \
                        as connected:
                    there = listener.request()
                    self.assertEqual(there.private_data, b"question")
                    self.assertIs(there.accept(private_data=b"answer"), there)
                here = connected()
                self.assertEqual(here.private_data, b"answer")
                self.assertIsNone(here.error)

    def test_a_query_tells_state_and_addresses(self):
        with t.Pair() as pair:
            info = pair.here.query()
            self.assertEqual(info.state, kverbs.State.ESTABLISHED)
            self.assertEqual(info.remote, f"{HOST}:{PORT}")
            self.assertEqual(info.error, 0)

    def test_a_refusal_is_an_exception_with_the_peers_data(self):
        with kverbs.Context() as server, kverbs.Context() as client:
            with server.listen(PORT, HOST) as listener:
                with t.background(lambda: client.connect(HOST, PORT)) as connected:
                    listener.request().reject(b"not you")
                with self.assertRaises(kverbs.Refused) as caught:
                    connected()
        self.assertIsInstance(caught.exception, ConnectionRefusedError)
        self.assertEqual(caught.exception.private_data, b"not you")
        self.assertEqual(caught.exception.errno, errno.ECONNREFUSED)

    def test_a_port_without_a_listener_refuses(self):
        with kverbs.Context() as client:
            self.assertRaises(ConnectionRefusedError, client.connect, HOST, PORT)

    def test_a_time_limit_raises_timeout_error(self):
        with kverbs.Context() as context, context.listen(PORT, HOST) as listener:
            self.assertRaises(TimeoutError, listener.request, 0)
            self.assertRaises(TimeoutError, listener.request, SOON)
            t.fake.fake_script_connect(CONNECT_HANGS)
            self.assertRaises(TimeoutError, context.connect, HOST, PORT, timeout=SOON)

    def test_a_name_that_is_unknown_is_an_error(self):
        with kverbs.Context() as context:
            self.raises(errno.ENXIO, context.connect, "300.0.0.1", PORT)

    def test_receives_are_posted_before_the_peer_has_accepted(self):
        received = []
        with kverbs.Context() as server, kverbs.Context() as client:
            memory = client.allocate(100)
            message = server.register(b"first", read_only=True)
            with server.listen(PORT, HOST) as listener:
                with t.background(lambda: client.connect(
                        HOST, PORT, prepare=lambda conn: received.append(conn.recv(memory)))):
                    there = listener.request()
                    there.accept()
                    there.send(message).wait()
            self.assertEqual(received[0].wait().byte_len, 5)
            self.assertEqual(bytes(memory[:5]), b"first")

    def test_what_prepare_raises_ends_the_attempt(self):
        def fail(_conn):
            raise KeyError("mine")

        with kverbs.Context() as server, kverbs.Context() as client:
            with server.listen(PORT, HOST):
                self.assertRaises(KeyError, client.connect, HOST, PORT, prepare=fail)
            self.assertEqual(client._connections, {})

    def test_parameters_reach_the_module(self):
        with kverbs.Context() as context:
            t.fake.fake_set_loopback(False)
            param = kverbs.Param(sq_depth=7, rq_depth=9, rnr_retry=0, keepalive=1.5)
            struct = param._struct()
            self.assertEqual((struct.valid, struct.keepalive_ns), (2, 1500000000))
            with context.connect(HOST, PORT, param=param) as conn:
                self.assertEqual(conn.query().sq_depth, 7)
                self.assertEqual(conn.query().rq_depth, 9)

    def test_the_end_of_the_peer_is_a_reset(self):
        with t.Pair() as pair:
            region = pair.client.allocate(100)
            request = pair.here.recv(region)
            pair.there.close()
            self.raises(errno.EIO, request.wait)
            self.assertRaises(ConnectionResetError, pair.here.send, region)
            self.assertIsInstance(pair.here.error, kverbs.Reset)

    def test_a_connection_is_shut_down_when_its_operations_are_complete(self):
        with t.Pair() as pair:
            received = pair.there.recv(pair.server.allocate(8))
            pair.here.post([kverbs.Op(kverbs.Opcode.SEND, signalled=False)])
            self.assertRaises(TimeoutError, self.shut_down_unheard, pair)
            pair.here.shutdown()
            self.assertEqual(received.wait().byte_len, 0)
            self.raises(errno.ECONNRESET, pair.there.shutdown)

    def shut_down_unheard(self, pair):
        """A message that finds no receive is not complete, nor is anything behind it."""
        pair.here.post([kverbs.Op(kverbs.Opcode.SEND, signalled=False)])
        try:
            pair.here.shutdown(0.01)
        finally:
            self.received = pair.there.recv(pair.server.allocate(8))

    def test_closing_cancels_requests_and_makes_the_connection_unusable(self):
        with t.Pair() as pair:
            region = pair.client.allocate(100)
            request = pair.here.recv(region)
            pair.here.close()
            pair.here.close()
            self.raises(errno.ECANCELED, request.wait)
            self.assertRaises(ValueError, pair.here.recv, region)

    def test_a_callback_may_close_its_own_connection(self):
        ended = []

        def end(request):
            ended.append(request.error.errno)
            pair.here.close()

        with t.Pair() as pair:
            pair.here.recv(pair.client.allocate(100), done=end)
            pair.here.close()
        self.assertEqual(ended, [errno.ECANCELED])

    def test_a_callback_finds_closed_connections_when_the_context_is_closed(self):
        found = []

        def post(_request):
            for conn in conns:
                try:
                    conn.recv(region)
                except ValueError:
                    found.append(conn)

        t.fake.fake_set_loopback(False)
        context = kverbs.Context()
        region = context.allocate(100)
        conns = [context.connect(HOST, PORT) for _ in range(2)]
        conns[0].recv(region, done=post)
        conns[1].recv(region, done=post)
        context.close()
        # Each callback finds its own, and the second one also the first.
        self.assertIn(conns[0], found)
        self.assertIn(conns[1], found)

    def test_connections_are_closed_with_the_context(self):
        with kverbs.Context() as context:
            t.fake.fake_set_loopback(False)
            conn = context.connect(HOST, PORT)
        self.assertRaises(ValueError, conn.query)
        conn.close()

    def test_a_signal_interrupts_a_wait(self):
        def interrupt(_number, _frame):
            raise KeyboardInterrupt

        def kill():
            t.fake.fake_wait_sleepers(1)
            os.kill(os.getpid(), signal.SIGUSR1)
            t.fake.fake_interrupt()

        old = signal.signal(signal.SIGUSR1, interrupt)
        try:
            with t.Pair() as pair:
                request = pair.here.recv(pair.client.allocate(100))
                killer = threading.Thread(target=kill)
                killer.start()
                self.assertRaises(KeyboardInterrupt, request.wait)
                killer.join()
        finally:
            signal.signal(signal.SIGUSR1, old)


class Groups(t.Case):
    def test_an_export_of_a_group_is_valid_until_it_is_closed(self):
        t.fake.fake_set_loopback(False)
        with kverbs.Context() as context, context.create_group(1) as group:
            region = context.allocate(100)
            with context.connect(HOST, PORT, group=group):
                export = group.export(region, kverbs.Access.READ)
                self.assertEqual(export.token.length, 100)
                self.raises(errno.EBUSY, group.close)
                export.close()
                export.close()

    def test_a_device_without_groups_is_an_error(self):
        with kverbs.Context() as context:
            self.raises(errno.ENODEV, context.create_group, ctypes.c_uint32(-1).value)


gc.collect()
t.main()
