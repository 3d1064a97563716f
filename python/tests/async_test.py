#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Coroutines await requests, connections and peers."""

import asyncio
import errno

import t
from t import HOST, PORT, kverbs

CONNECT_HANGS = 1


class Coroutines(t.Case):
    async def echo(self, server, conn, rounds):
        with server.allocate(100) as memory, conn:
            received = conn.recv(memory[:50])
            await conn.accept_async()
            for left in reversed(range(rounds)):
                length = (await received).byte_len
                sent = conn.send(memory[:length])
                await sent
                # The client may leave when it has the last answer.
                if left:
                    received = conn.recv(memory[:50])

    async def ask(self, client, number, rounds):
        with client.allocate(100) as memory:
            conn = await client.connect_async(HOST, PORT)
            with conn:
                for turn in range(rounds):
                    text = f"{number} {turn}".encode()
                    memory.view[:len(text)] = text
                    received = conn.recv(memory[50:])
                    await conn.send(memory[:len(text)])
                    await received
                    self.assertEqual(bytes(memory[50:50 + received.byte_len]), text)

    def test_many_connections_are_served_by_one_thread(self):
        clients, rounds = 5, 20

        async def serve(server, listener):
            tasks = []
            for _ in range(clients):
                conn = await listener.request_async()
                tasks.append(asyncio.create_task(self.echo(server, conn, rounds)))
            await asyncio.gather(*tasks)

        async def both(server, client):
            with server.listen(PORT, HOST) as listener:
                await asyncio.gather(serve(server, listener),
                                     *(self.ask(client, n, rounds) for n in range(clients)))

        with kverbs.Context() as server, kverbs.Context() as client:
            asyncio.run(both(server, client))

    def test_a_failed_request_raises_where_it_is_awaited(self):
        async def wait():
            with self.assertRaises(kverbs.Error) as caught:
                request = pair.here.recv(pair.client.allocate(8))
                pair.there.close()
                await request
            self.assertEqual(caught.exception.errno, errno.EIO)

        with t.Pair() as pair:
            asyncio.run(wait())

    def test_a_complete_request_is_awaited_at_once_and_by_many(self):
        async def wait():
            sent = pair.here.send(pair.client.allocate(3))
            received = pair.there.recv(pair.server.allocate(8))
            first, second = await asyncio.gather(received, received)
            self.assertIs(first, second)
            self.assertIs(await sent, sent)
            self.assertIs(await sent, sent)

        with t.Pair() as pair:
            asyncio.run(wait())

    def test_a_thread_that_completes_a_request_wakes_its_coroutine(self):
        async def wait():
            received = pair.there.recv(pair.server.allocate(8))
            waiting = asyncio.ensure_future(received)
            await asyncio.sleep(0)
            await asyncio.to_thread(lambda: pair.here.send(pair.client.allocate(3)).wait())
            await asyncio.to_thread(received.wait)
            self.assertEqual((await waiting).byte_len, 3)

        with t.Pair() as pair:
            asyncio.run(wait())

    def test_a_refusal_raises_with_the_peers_data(self):
        async def both(server, client):
            with server.listen(PORT, HOST) as listener:
                connecting = asyncio.create_task(client.connect_async(HOST, PORT))
                (await listener.request_async()).reject(b"not you")
                with self.assertRaises(kverbs.Refused) as caught:
                    await connecting
                self.assertEqual(caught.exception.private_data, b"not you")

        with kverbs.Context() as server, kverbs.Context() as client:
            asyncio.run(both(server, client))

    def test_a_connection_is_shut_down_when_its_operations_are_complete(self):
        async def shut_down():
            received = pair.there.recv(pair.server.allocate(8))
            pair.here.send_copy(b"last")
            await pair.here.shutdown_async()
            self.assertEqual((await received).byte_len, 4)
            with self.assertRaises(kverbs.Reset):
                await pair.there.shutdown_async()

        with t.Pair() as pair:
            asyncio.run(shut_down())

    def test_time_limits_hold(self):
        async def wait(context):
            with context.listen(PORT, HOST) as listener:
                with self.assertRaises(TimeoutError):
                    await listener.request_async(0.01)
            t.fake.fake_script_connect(CONNECT_HANGS)
            with self.assertRaises(TimeoutError):
                await context.connect_async(HOST, PORT, timeout=0.01)

        with kverbs.Context() as context:
            asyncio.run(wait(context))
            self.assertEqual(context._connections, {})

    def test_a_task_that_waits_for_a_peer_can_be_cancelled(self):
        async def wait(context):
            with context.listen(PORT, HOST) as listener:
                task = asyncio.create_task(listener.request_async())
                await asyncio.sleep(0)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            self.assertEqual(context._waiters, [])

        with kverbs.Context() as context:
            asyncio.run(wait(context))

    def test_closing_ends_what_coroutines_wait_for(self):
        async def wait():
            context = kverbs.Context()
            listener = context.listen(PORT, HOST)
            first = asyncio.create_task(listener.request_async())
            await asyncio.sleep(0)
            listener.close()
            with self.assertRaises(ValueError):
                await first
            second = asyncio.create_task(context.listen(PORT, HOST).request_async())
            await asyncio.sleep(0)
            context.close()
            with self.assertRaises(ValueError):
                await second

        asyncio.run(wait())

    def test_a_context_goes_from_one_loop_to_the_next(self):
        async def send():
            received = pair.there.recv(pair.server.allocate(8))
            await pair.here.send(pair.client.allocate(3))
            self.assertEqual((await received).byte_len, 3)

        with t.Pair() as pair:
            asyncio.run(send())
            asyncio.run(send())

    def test_a_context_that_polls_has_no_place_in_a_loop(self):
        async def wait(context):
            with self.assertRaises(kverbs.Error) as caught:
                await context.listen(PORT, HOST).request_async()
            self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)

        with kverbs.Context(busy_poll=True) as context:
            asyncio.run(wait(context))


t.main()
