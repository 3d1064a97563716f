#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Both sides of each example, in two threads over the fake kernel."""

import asyncio
import contextlib
import io
import os
import re
import types

import t
from t import HOST, kverbs

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/python")


def load(name):
    """Return an example as a module that has not been run."""
    path = os.path.join(FOLDER, f"{name}.py")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    module = types.ModuleType(name)
    exec(compile(source.removesuffix("\nmain()\n"), path, "exec"), module.__dict__)
    return module


class Listening(io.StringIO):
    """Output of which one line is waited for."""

    def __init__(self):
        super().__init__()
        self.seen = t.threading.Event()

    def write(self, text):
        if "listening" in text:
            self.seen.set()
        return super().write(text)


class Examples(t.Case):
    def both(self, serve, ask):
        """Run a server and, once it listens, a client; return what they print."""
        out = Listening()
        with contextlib.redirect_stdout(out), kverbs.Context() as server, \
                kverbs.Context() as client:
            with t.background(lambda: serve(server)) as served:
                out.seen.wait()
                ask(client)
                # The peer sees that the connection has ended.
                client.close()
            served()
        return out.getvalue()

    def test_echo_gets_its_messages_back(self):
        echo = load("echo")
        out = self.both(echo.serve, lambda client: echo.ask(client, HOST, 10))
        self.assertEqual(len(re.findall(r"^9 bytes from .*: seq=\d time=", out, re.M)), 10)

    def test_bulk_reads_what_it_has_written(self):
        bulk = load("bulk")
        out = self.both(bulk.lend, lambda client: bulk.borrow(client, HOST))
        self.assertIn("came back as they were", out)
        first, second = re.findall(r"checksum (\w+)", out)
        self.assertEqual(first, second)

    def test_aecho_serves_many_clients_in_one_loop(self):
        aecho = load("aecho")
        out = self.both(lambda server: asyncio.run(aecho.serve(server, 8)),
                        lambda client: asyncio.run(aecho.ask_all(client, HOST, 8)))
        self.assertIn("8 clients were served", out)
        self.assertIn("8 clients have got 80 answers", out)


t.main()
