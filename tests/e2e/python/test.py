#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of the module that need a device: two contexts of one process are peers."""

import errno
import os
import signal
import sys
import threading

import kverbs

HOST = "a"
READ_WRITE = kverbs.Access.READ | kverbs.Access.WRITE
IWARP = os.environ.get("KVERBS_PROVIDER") == "siw"


class Peers:
    """A connection between two contexts."""

    def __init__(self, **options):
        self.server = kverbs.Context()
        self.client = kverbs.Context()
        with self.server.listen() as listener:
            port = listener.port
            thread = threading.Thread(target=self.connect, args=(port,))
            thread.start()
            self.there = listener.request()
            self.there.accept(**options)
            thread.join()

    def connect(self, port):
        self.here = self.client.connect(HOST, port)

    def __enter__(self):
        return self

    def __exit__(self, *_args):
        self.client.close()
        self.server.close()


def a_device_is_listed_that_kverbs_can_use():
    with kverbs.Context() as context:
        devices = context.devices()
        assert any(device.usable and device.ports and device.gids for device in devices), devices


def the_memory_of_a_bytearray_is_moved_without_a_copy():
    data = bytearray(index * 31 & 0xff for index in range(3 << 20))
    memory = bytearray(len(data))
    with Peers() as peers:
        region = peers.server.register(memory)
        source = peers.client.register(data)
        with peers.there.export(region, READ_WRITE) as export:
            token = kverbs.Token.unpack(bytes(export.token))
            peers.here.write(source, token).wait()
            assert memory == data
            back = peers.client.allocate(len(data))
            peers.here.read(back, token).wait()
            assert back.view == data


def a_revoked_token_fails_with_the_devices_status():
    with Peers() as peers:
        region = peers.server.allocate(4096)
        export = peers.there.export(region, READ_WRITE)
        token = kverbs.Token.unpack(bytes(export.token))
        export.close()
        try:
            peers.here.write(peers.client.allocate(64), token).wait()
        except kverbs.Error as error:
            assert error.errno == errno.EIO and error.wc_text, error
        else:
            raise AssertionError("it was written")


def immediate_data_notifies_a_receive():
    if IWARP:
        return
    with Peers() as peers:
        region = peers.server.allocate(4096)
        with peers.there.export(region, READ_WRITE) as export:
            notified = peers.there.recv(peers.server.allocate(64))
            peers.here.write(peers.client.register(b"data", read_only=True), export.token,
                             imm=77).wait()
            assert notified.wait().imm == 77 and notified.written
            assert bytes(region[:4]) == b"data"


def atomics_count():
    if IWARP:
        return
    with Peers() as peers:
        counter = peers.server.allocate(4096)
        with peers.there.export(counter[:8], kverbs.Access.ATOMIC) as export:
            previous = peers.client.allocate(8)
            for number in range(5):
                peers.here.fetch_add(previous, export.token, 0, 3).wait()
                assert int.from_bytes(previous.view, sys.byteorder) == number * 3
        assert int.from_bytes(counter[:8].view, sys.byteorder) == 15


def a_fence_orders_a_message_after_a_read():
    with Peers() as peers:
        remote = peers.server.register(bytearray(b"r" * 65536))
        with peers.there.export(remote, kverbs.Access.READ) as export:
            received = peers.there.recv(peers.server.allocate(64))
            sink = peers.client.allocate(65536)
            peers.here.post([
                kverbs.Op(kverbs.Opcode.READ, sink, export.token, signalled=False),
                kverbs.Op(kverbs.Opcode.SEND, sink[:8], fence=True)])[1].wait()
            assert received.wait().byte_len == 8
            assert bytes(sink[-8:]) == b"r" * 8


def a_pool_feeds_a_connection():
    with kverbs.Context() as server, kverbs.Context() as client:
        memory = server.allocate(4 * 4096)
        pool = server.create_pool(4)
        buffers = [pool.add(memory[at:at + 4096]) for at in range(0, len(memory), 4096)]
        connected = []
        with server.listen() as listener:
            port = listener.port
            thread = threading.Thread(
                target=lambda: connected.append(client.connect(HOST, port)))
            thread.start()
            there = listener.request()
            there.accept(pool=pool)
            thread.join()
        connected[0].send(client.register(b"pooled", read_only=True)).wait()
        first = buffers[0].wait()
        assert bytes(memory[:first.byte_len]) == b"pooled" and first.connection is there
        connected[0].close()
        there.close()
        pool.close()


class Interrupted(Exception):
    pass


def interrupted(call):
    """Call something, and let a signal handler raise meanwhile."""
    def interrupt(_number, _frame):
        raise Interrupted

    def kill():
        # The signal may come before the call sleeps: once more then.
        while not ended.wait(0.01):
            os.kill(os.getpid(), signal.SIGUSR1)

    ended = threading.Event()
    killer = threading.Thread(target=kill)
    signal.signal(signal.SIGUSR1, interrupt)
    killer.start()
    try:
        call()
    except Interrupted:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        return True
    finally:
        ended.set()
        killer.join()
    return False


def a_signal_ends_a_wait():
    with Peers() as peers:
        request = peers.here.recv(peers.client.allocate(64))
        assert interrupted(request.wait)
        assert not request.complete


def a_signal_ends_a_wait_while_another_thread_waits():
    with Peers() as peers:
        memory = peers.client.allocate(128)
        first = peers.here.recv(memory[:64])
        second = peers.here.recv(memory[64:])
        other = threading.Thread(target=first.wait)
        other.start()
        assert interrupted(second.wait)
        peers.there.send(peers.server.allocate(8)).wait()
        other.join()
        assert first.complete and not second.complete


def main():
    tests = (a_device_is_listed_that_kverbs_can_use,
             the_memory_of_a_bytearray_is_moved_without_a_copy,
             a_revoked_token_fails_with_the_devices_status, immediate_data_notifies_a_receive,
             atomics_count, a_fence_orders_a_message_after_a_read, a_pool_feeds_a_connection,
             a_signal_ends_a_wait, a_signal_ends_a_wait_while_another_thread_waits)
    for test in tests:
        print(test.__name__.replace("_", " "), flush=True)
        test()


main()
