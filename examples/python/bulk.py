#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One-sided access: write into memory of another host, and read it back.

        bulk.py                 lend 8 MiB to a peer
        bulk.py HOST            fill them, read them back, and compare

The owner sends the peer a token. It learns that the peer has finished from the end of the
connection. The memory of either side is a bytearray; an array of numpy would do as well.
"""

import sys
import zlib

import kverbs

PORT = 7481
SIZE = 8 << 20


def finish(request):
    try:
        request.wait()
    except kverbs.Error:
        # The peer has left, and with it the connection.
        pass


def lend(context):
    data = bytearray(SIZE)
    with context.listen(PORT) as listener, context.register(data) as memory, \
            context.allocate(4096) as message:
        print("listening", flush=True)
        with listener.request() as conn:
            last = conn.recv(message[2048:])
            conn.accept()
            with conn.export(memory, kverbs.Access.READ | kverbs.Access.WRITE) as export:
                token = bytes(export.token)
                message.view[:len(token)] = token
                sent = conn.send(message[:len(token)])
                # Nothing arrives here: the receive fails when the peer ends the connection.
                finish(last)
                finish(sent)
    print(f"checksum {zlib.crc32(data):08x}")


def borrow(context, host):
    data = bytearray(index * 7 & 0xff for index in range(SIZE))
    back = bytearray(SIZE)
    with context.allocate(4096) as message, context.register(data) as source, \
            context.register(back) as sink:
        received = []
        with context.connect(host, PORT,
                             prepare=lambda conn: received.append(conn.recv(message))) as conn:
            length = received[-1].wait().byte_len
            token = kverbs.Token.unpack(message.view[:length])
            conn.write(source, token).wait()
            conn.read(sink, token).wait()
    if back != data:
        sys.exit("the data differ")
    print(f"{SIZE} bytes came back as they were, checksum {zlib.crc32(data):08x}")


def main():
    with kverbs.Context() as context:
        if len(sys.argv) > 1:
            borrow(context, sys.argv[1])
        else:
            lend(context)


main()
