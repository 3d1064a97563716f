#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Moving data, and how requests end."""

import errno
import threading

import t
from t import HOST, PORT, kverbs

WC_REM_ACCESS_ERR = 10
READ_WRITE = kverbs.Access.READ | kverbs.Access.WRITE


class Messages(t.Case):
    def test_a_message_arrives_as_it_was_sent(self):
        with t.Pair() as pair:
            sink = pair.server.register(bytearray(100))
            source = pair.client.register(bytearray(b"..hello.."))
            received = pair.there.recv(sink[10:])
            sent = pair.here.send(source[2:7])
            self.assertIs(sent.wait(), sent)
            self.assertEqual(received.wait().byte_len, 5)
            self.assertEqual(bytes(sink[10:15]), b"hello")
            self.assertTrue(received.complete)
            self.assertIsNone(received.error)
            self.assertIsNone(received.imm)

    def test_a_message_may_be_empty_and_carry_four_bytes(self):
        with t.Pair() as pair:
            received = pair.there.recv(pair.server.allocate(8))
            pair.here.send(None, imm=0x01020304).wait()
            self.assertEqual(received.wait().byte_len, 0)
            self.assertEqual(received.imm, 0x01020304)

    def test_pieces_are_sent_as_one_message_and_received_into_several(self):
        with t.Pair() as pair:
            sink = pair.server.allocate(100)
            source = pair.client.register(bytearray(b"abcdefgh"))
            received = pair.there.recv([sink[50:52], sink[:10]])
            pair.here.send([source[6:], source[:3]]).wait()
            self.assertEqual(received.wait().byte_len, 5)
            self.assertEqual(bytes(sink[50:52]) + bytes(sink[:3]), b"ghabc")

    def test_a_list_of_pieces_has_a_limited_length_and_is_not_empty(self):
        with t.Pair() as pair:
            region = pair.client.allocate(8)
            self.raises(errno.EINVAL, pair.here.send, [region] * (kverbs.LIST_MAX + 1))
            self.raises(errno.EINVAL, pair.here.recv, [])
            received = pair.there.recv(pair.server.allocate(400))
            pair.here.send([region] * kverbs.LIST_MAX, imm=5).wait()
            self.assertEqual(received.wait().byte_len, 8 * kverbs.LIST_MAX)
            self.assertEqual(received.imm, 5)

    def test_a_message_needs_no_region(self):
        with t.Pair() as pair:
            sink = pair.server.allocate(100)
            received = [pair.there.recv(sink[:50]), pair.there.recv(sink[50:])]
            data = bytearray(b"hello")
            sent = pair.here.send_copy(data)
            data[:] = b"world"
            sent.wait()
            pair.here.send_copy(b"").wait()
            self.assertEqual([request.wait().byte_len for request in received], [5, 0])
            self.assertEqual(bytes(sink[:5]), b"hello")
            self.raises(errno.EMSGSIZE, pair.here.send_copy, bytes(kverbs.COPY_MAX + 1))

    def test_an_operation_outside_of_the_memory_is_refused(self):
        with t.Pair() as pair:
            region = pair.client.allocate(8)
            piece = kverbs.Piece(region, 4, 5)
            self.raises(errno.EINVAL, pair.here.recv, piece)
            self.raises(errno.EINVAL, pair.here.recv, [piece])
            self.assertRaises(ValueError, pair.here.recv, self.closed(pair.client))

    def closed(self, context):
        region = context.allocate(8)
        region.close()
        return region

    def test_a_request_that_is_not_complete_times_out_and_goes_on(self):
        with t.Pair() as pair:
            received = pair.there.recv(pair.server.allocate(8))
            self.assertRaises(kverbs.TimedOut, received.wait, 0)
            self.assertRaises(TimeoutError, received.wait, 0.01)
            self.assertFalse(received.complete)
            pair.here.send(pair.client.allocate(3)).wait()
            self.assertEqual(received.wait().byte_len, 3)

    def test_waiting_lets_other_threads_run(self):
        with t.Pair() as pair:
            received = pair.there.recv(pair.server.allocate(8))
            with t.background(received.wait) as result:
                t.fake.fake_wait_sleepers(1)
                pair.here.send(pair.client.allocate(3))
            self.assertIs(result(), received)

    def test_a_request_is_kept_until_it_is_complete(self):
        data = bytearray(8)
        with t.Pair() as pair:
            pair.there.recv(pair.server.register(data))
            t.gc.collect()
            self.assertEqual(len(kverbs._pending), 1)
            pair.here.send(pair.client.register(b"kept", read_only=True)).wait()
            pair.server.process()
            self.assertEqual(kverbs._pending, {})
        self.assertEqual(data[:4], b"kept")


class OneSided(t.Case):
    def setUp(self):
        super().setUp()
        t.fake.fake_set_segment(3000)

    def lend(self, pair, memory, access=READ_WRITE):
        """Export memory, and make a token of the bytes that a peer would get."""
        export = pair.there.export(memory, access)
        return export, kverbs.Token.unpack(export.token.pack())

    def test_memory_of_several_segments_is_written_and_read_back(self):
        data = bytes(index * 7 & 0xff for index in range(10000))
        with t.Pair() as pair:
            memory = pair.server.allocate(20000)
            export, token = self.lend(pair, memory[5000:])
            self.assertEqual((token.length, token.access), (15000, READ_WRITE))
            self.assertGreater(len(token.segments), 1)
            pair.here.write(pair.client.register(data, read_only=True), token, 100).wait()
            self.assertEqual(bytes(memory[5100:15100]), data)
            back = pair.client.allocate(10000)
            self.assertEqual(pair.here.read(back, token, 100).wait().byte_len, 10000)
            self.assertEqual(bytes(back), data)
            export.close()

    def test_pieces_are_written_and_read_back(self):
        with t.Pair() as pair:
            memory = pair.server.allocate(8000)
            export, token = self.lend(pair, memory)
            source = pair.client.register(bytearray(b"abc" * 1000))
            pair.here.write([source[2000:], source[:2500]], token, 100).wait()
            self.assertEqual(bytes(memory[100:3600]),
                             bytes(source[2000:]) + bytes(source[:2500]))
            back = pair.client.allocate(10)
            pair.here.read([back[8:], back[:3]], token, 100).wait()
            self.assertEqual(bytes(back), b"bca\0\0\0\0\0ca")
            export.close()

    def test_a_closed_export_gives_no_access(self):
        with t.Pair() as pair:
            export, token = self.lend(pair, pair.server.allocate(100))
            export.close()
            error = self.raises(errno.EIO, pair.here.write(pair.client.allocate(8), token).wait)
            self.assertEqual(error.wc_status, WC_REM_ACCESS_ERR)
            self.assertIn("remote access error", str(error))
            self.assertEqual(error.wc_text, "remote access error")

    def test_a_token_limits_range_and_access(self):
        with t.Pair() as pair:
            export, token = self.lend(pair, pair.server.allocate(100), kverbs.Access.READ)
            region = pair.client.allocate(8)
            self.raises(errno.EACCES, pair.here.write, region, token)
            self.raises(errno.ERANGE, pair.here.read, region, token, 93)
            export.close()

    def test_bytes_that_are_no_token_are_refused(self):
        self.raises(errno.EBADMSG, kverbs.Token.unpack, b"something else, of 30 bytes....")

    def test_a_write_can_notify_the_peer(self):
        with t.Pair() as pair:
            export, token = self.lend(pair, pair.server.allocate(100))
            notified = pair.there.recv(pair.server.allocate(8))
            pair.here.write(pair.client.allocate(8), token, imm=9).wait()
            self.assertEqual(notified.wait().imm, 9)
            self.assertTrue(notified.written)
            export.close()

    def test_atomics_return_the_previous_value(self):
        with t.Pair() as pair:
            memory = pair.server.allocate(16)
            export, token = self.lend(pair, memory, kverbs.Access.ATOMIC)
            previous = pair.client.allocate(8)
            pair.here.fetch_add(previous, token, 8, 5).wait()
            pair.here.fetch_add(previous, token, 8, -1).wait()
            self.assertEqual(int.from_bytes(previous.view, "little"), 5)
            pair.here.cmp_swap(previous, token, 8, 4, 99).wait()
            self.assertEqual(int.from_bytes(previous.view, "little"), 4)
            self.assertEqual(int.from_bytes(memory[8:].view, "little"), 99)
            export.close()

    def test_a_message_can_revoke_a_key(self):
        with t.Pair() as pair:
            export, token = self.lend(pair, pair.server.allocate(100))
            received = pair.there.recv(pair.server.allocate(8))
            key = token.segments[0][2]
            pair.here.send(pair.client.allocate(3), invalidate=key).wait()
            self.assertEqual(received.wait().revoked_key, key)
            export.close()

    def test_a_changed_byte_ends_a_watch(self):
        with t.Pair() as pair:
            memory = pair.server.allocate(16)
            self.assertRaises(TimeoutError, pair.there.watch, memory, 15, 0, 0.01)
            memory.view[15] = 1
            pair.there.watch(memory, 15, 0)
            self.assertRaises(IndexError, pair.there.watch, memory, 16, 0)


class Lists(t.Case):
    def test_operations_are_posted_together(self):
        with t.Pair() as pair:
            region = pair.client.register(bytearray(b"abc"))
            sink = pair.server.allocate(100)
            received = [pair.there.recv(sink[at:at + 10]) for at in range(0, 30, 10)]
            sent = pair.here.post([
                kverbs.Op(kverbs.Opcode.SEND, region[:1], signalled=False),
                kverbs.Op(kverbs.Opcode.SEND, region[:2], fence=True),
                kverbs.Op(kverbs.Opcode.SEND_IMM, region, imm=7, solicited=True)])
            self.assertIsNone(sent[0])
            sent[2].wait()
            self.assertEqual([request.wait().byte_len for request in received], [1, 2, 3])
            self.assertEqual(received[2].imm, 7)

    def test_the_first_invalid_operation_ends_the_list(self):
        with t.Pair() as pair:
            region = pair.server.allocate(8)
            good = kverbs.Op(kverbs.Opcode.RECV, region)
            bad = kverbs.Op(kverbs.Opcode.RECV, kverbs.Piece(region, 8, 1))
            self.assertEqual(len(pair.there.post([good, good, bad, good])), 2)
            self.assertEqual(len(kverbs._pending), 2)
            self.raises(errno.EINVAL, pair.there.post, [bad, good])
            self.assertEqual(pair.there.post([]), [])

    def test_without_room_a_call_that_must_not_wait_raises(self):
        t.fake.fake_set_loopback(False)
        with kverbs.Context(cq_entries=8, sq_entries=8) as context:
            conn = context.connect(HOST, PORT)
            region = context.allocate(8)
            with self.assertRaises(BlockingIOError) as caught:
                for _ in range(9):
                    conn.send(region, wait=False)
            self.assertEqual(caught.exception.errno, errno.EAGAIN)


class Callbacks(t.Case):
    def test_a_callback_gets_its_request_and_may_post(self):
        seen = []

        def again(request):
            seen.append((request.byte_len, request.complete))
            if len(seen) < 3:
                pair.there.recv(sink, done=again)

        with t.Pair() as pair:
            sink = pair.server.allocate(100)
            pair.there.recv(sink, done=again)
            for length in (1, 2, 3):
                pair.here.send(pair.client.allocate(length)).wait()
                while len(seen) < length:
                    pair.server.process(None)
        self.assertEqual(seen, [(1, True), (2, True), (3, True)])

    def test_a_callback_must_not_wait(self):
        codes = []

        def wait(_request):
            try:
                other.wait()
            except kverbs.Error as error:
                codes.append(error.errno)

        with t.Pair() as pair:
            received = pair.there.recv(pair.server.allocate(8), done=wait)
            other = pair.there.recv(pair.server.allocate(8))
            pair.here.send(pair.client.allocate(1)).wait()
            received.wait()
        self.assertEqual(codes, [errno.EDEADLK])

    def test_many_threads_lose_no_completion(self):
        rounds = 200

        def send():
            for _ in range(rounds):
                pair.here.send(source).wait()

        def again(request):
            if request.error:
                return
            counted.append(request.byte_len)
            pair.there.recv(sink, done=again)

        counted = []
        with t.Pair() as pair:
            source = pair.client.allocate(1)
            sink = pair.server.allocate(1)
            for _ in range(8):
                pair.there.recv(sink, done=again)
            threads = [threading.Thread(target=send) for _ in range(4)]
            for thread in threads:
                thread.start()
            while len(counted) < 4 * rounds:
                pair.server.process(None)
            for thread in threads:
                thread.join()
        self.assertEqual(len(counted), 4 * rounds)


class Pools(t.Case):
    def test_a_message_comes_in_a_buffer_of_the_pool_and_names_its_connection(self):
        with kverbs.Context() as server, kverbs.Context() as client:
            pool = server.create_pool(4)
            memory = server.allocate(400)
            buffers = [pool.add(memory[at:at + 100]) for at in range(0, 400, 100)]
            self.raises(errno.EAGAIN, pool.add, memory)
            self.assertIsNone(buffers[0].connection)
            with server.listen(PORT, HOST) as listener:
                with t.background(lambda: client.connect(HOST, PORT)) as connected:
                    there = listener.request()
                    there.accept(pool=pool)
                here = connected()
            here.send(client.register(b"pooled", read_only=True)).wait()
            first = buffers[0].wait()
            self.assertEqual(bytes(memory[:first.byte_len]), b"pooled")
            self.assertIs(first.connection, there)
            self.assertTrue(first.more)
            self.raises(errno.EBUSY, pool.close)
            there.close()
            here.close()
            pool.close()

    def test_a_closed_pool_cancels_its_buffers(self):
        with kverbs.Context() as context:
            with context.create_pool() as pool:
                request = pool.add(context.allocate(8))
            self.raises(errno.ECANCELED, request.wait)
            self.assertRaises(ValueError, pool.add, context.allocate(8))


t.main()
