#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""An event loop of asyncio, with many connections in one thread.

        aecho.py CLIENTS        serve as many clients, one coroutine for each
        aecho.py CLIENTS HOST   be as many clients at a time

The loop watches the descriptor of the context, and a coroutine awaits its requests.
"""

import asyncio
import sys

import kverbs

PORT = 7482
SIZE = 4096
ROUNDS = 10


async def answer(context, conn):
    with context.allocate(2 * SIZE) as memory, conn:
        received = conn.recv(memory[:SIZE])
        at = 0
        await conn.accept_async()
        try:
            while True:
                length = (await received).byte_len
                # The client may send again as soon as it has the answer.
                received = conn.recv(memory[SIZE - at:2 * SIZE - at])
                await conn.send(memory[at:at + length])
                at = SIZE - at
        except kverbs.Error:
            # The client has left, perhaps before it acknowledged the last answer.
            pass


async def serve(context, clients):
    with context.listen(PORT) as listener:
        print("listening", flush=True)
        tasks = []
        for _ in range(clients):
            conn = await listener.request_async()
            tasks.append(asyncio.create_task(answer(context, conn)))
        await asyncio.gather(*tasks)
    print(f"{clients} clients were served")


async def ask(context, host, number):
    with context.allocate(2 * SIZE) as memory:
        conn = await context.connect_async(host, PORT)
        with conn:
            for turn in range(ROUNDS):
                text = f"client {number} turn {turn}".encode()
                memory.view[:len(text)] = text
                received = conn.recv(memory[SIZE:])
                await conn.send(memory[:len(text)])
                await received
                if bytes(memory[SIZE:SIZE + received.byte_len]) != text:
                    sys.exit("the answer is another one")


async def ask_all(context, host, clients):
    await asyncio.gather(*(ask(context, host, number) for number in range(clients)))
    print(f"{clients} clients have got {clients * ROUNDS} answers")


def main():
    clients = int(sys.argv[1])
    with kverbs.Context() as context:
        if len(sys.argv) > 2:
            asyncio.run(ask_all(context, sys.argv[2], clients))
        else:
            asyncio.run(serve(context, clients))


main()
