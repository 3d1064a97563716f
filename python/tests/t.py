# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Helpers of the module's tests: a fresh fake kernel for each test, and TAP."""

import ctypes
import gc
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import kverbs  # noqa: E402  pylint: disable=wrong-import-position

HOST = "192.0.2.1"
PORT = 7472

# The library that the module has loaded contains the fake kernel.
fake = ctypes.CDLL(os.environ["KVERBS_LIBRARY"])
fake.fake_set_segment.argtypes = [ctypes.c_uint64]


class Case(unittest.TestCase):
    """Nothing may be left of a test."""

    def setUp(self):
        fake.fake_reset()
        fake.fake_set_loopback(True)

    def tearDown(self):
        gc.collect()
        self.assertEqual(kverbs._pending, {})
        self.assertEqual(fake.fake_leftovers(), 0)

    def raises(self, number, call, *args, **options):
        """Check that a call fails with an errno, and return the exception."""
        with self.assertRaises(kverbs.Error) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.errno, number)
        return caught.exception


class Pair:
    """Two contexts, and a connection between them, to be used in a "with" statement."""

    def __init__(self, **accept):
        self.accept = accept

    def __enter__(self):
        self.server = kverbs.Context()
        self.client = kverbs.Context()
        with self.server.listen(PORT, HOST) as listener:
            with background(lambda: self.client.connect(HOST, PORT)) as connected:
                self.there = listener.request()
                self.there.accept(**self.accept)
            self.here = connected()
        return self

    def __exit__(self, *_args):
        self.client.close()
        self.server.close()


class background:
    """A call in another thread; what follows "as" returns its result, or raises."""

    def __init__(self, call):
        self.call = call
        self.result = self.error = None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            self.result = self.call()
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error

    def __enter__(self):
        self.thread.start()
        return self.get

    def get(self):
        self.thread.join()
        if self.error:
            raise self.error
        return self.result

    def __exit__(self, *_args):
        self.thread.join()


class Tap(unittest.TestResult):
    """Prints a line for each test."""

    def line(self, ok, test, text=""):
        name = test.id().rsplit(".", 1)[-1].removeprefix("test_").replace("_", " ")
        print(f"{'ok' if ok else 'not ok'} {self.testsRun} - {name}", flush=True)
        for line in text.splitlines():
            print(f"#   {line}", flush=True)

    def addSuccess(self, test):
        self.line(True, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(False, test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.line(False, test, self.errors[-1][1])

    def addSkip(self, test, reason):
        print(f"ok {self.testsRun} - {test.id()} # SKIP {reason}", flush=True)


def main():
    """Run the tests of the calling program."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print(f"1..{suite.countTestCases()}", flush=True)
    result = Tap()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
