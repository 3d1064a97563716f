#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Messages to a peer and back, timed like those of ping.

        echo.py                 wait for a peer and send back what it sends
        echo.py HOST [COUNT]    send it ten messages, or as many as that

A receive must be posted before its message arrives. The server has two receives, so that the next
message finds one while the last one is sent back.
"""

import sys
import time

import kverbs

PORT = 7480
SIZE = 4096


def serve(context):
    with context.listen(PORT) as listener, context.allocate(2 * SIZE) as memory:
        print("listening", flush=True)
        halves = memory[:SIZE], memory[SIZE:]
        with listener.request() as conn:
            receives = [conn.recv(half) for half in halves]
            conn.accept()
            turn = 0
            while True:
                try:
                    message = receives[turn].wait()
                    sent = conn.send(memory[turn * SIZE:turn * SIZE + message.byte_len])
                    sent.wait()
                    receives[turn] = conn.recv(halves[turn])
                except kverbs.Error:
                    # The peer has left, perhaps before it acknowledged the last answer.
                    break
                turn = 1 - turn


def ask(context, host, count):
    with context.allocate(SIZE) as out, context.allocate(SIZE) as answer:
        with context.connect(host, PORT) as conn:
            for number in range(count):
                text = f"message {number}".encode()
                out.view[:len(text)] = text
                begun = time.perf_counter()
                received = conn.recv(answer)
                conn.send(out[:len(text)]).wait()
                received.wait()
                elapsed = time.perf_counter() - begun
                if bytes(answer[:received.byte_len]) != text:
                    sys.exit("the answer is another one")
                print(f"{received.byte_len} bytes from {host}: seq={number} "
                      f"time={elapsed * 1e6:.1f} us")


def main():
    with kverbs.Context() as context:
        if len(sys.argv) > 1:
            ask(context, sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
        else:
            serve(context)


main()
