#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Any contiguous buffer can be registered, and stays in place meanwhile."""

import array
import ctypes
import errno
import mmap
import os

import t
from t import kverbs


class Memory(t.Case):
    def test_buffers_of_many_kinds_are_registered(self):
        with kverbs.Context() as context:
            for obj in (bytearray(10), memoryview(bytearray(10))[2:8], array.array("d", [1, 2]),
                        mmap.mmap(-1, 4096), (ctypes.c_int * 3)(),
                        memoryview(bytearray(12)).cast("B", (3, 4))):
                with context.register(obj) as region:
                    self.assertEqual(len(region), memoryview(obj).nbytes)

    def test_bytes_are_registered_to_be_read_only(self):
        with kverbs.Context() as context:
            self.assertRaises(BufferError, context.register, b"text")
            with context.register(b"text", read_only=True) as region:
                self.assertEqual(bytes(region), b"text")
                self.assertTrue(region.view.readonly)

    def test_a_buffer_with_gaps_is_refused(self):
        with kverbs.Context() as context:
            self.assertRaises(BufferError, context.register, memoryview(bytearray(10))[::2])

    def test_what_is_no_buffer_is_refused(self):
        with kverbs.Context() as context:
            self.assertRaises(TypeError, context.register, 5)

    def test_an_empty_buffer_is_refused(self):
        with kverbs.Context() as context:
            self.raises(errno.EINVAL, context.register, bytearray())
            self.raises(errno.EINVAL, context.allocate, 0)

    def test_registered_memory_keeps_its_size_until_the_region_is_closed(self):
        data = bytearray(b"text")
        with kverbs.Context() as context:
            region = context.register(data)
            self.assertRaises(BufferError, data.append, 1)
            region.close()
            data.append(1)

    def test_registered_memory_outlives_its_name(self):
        with kverbs.Context() as context:
            data = bytearray(b"text")
            region = context.register(data)
            del data
            self.assertEqual(bytes(region), b"text")

    def test_a_view_is_the_memory_itself(self):
        data = array.array("H", [0, 0])
        with kverbs.Context() as context, context.register(data) as region:
            region.view[:2] = b"\1\1"
            self.assertEqual(data[0], 0x101)

    def test_a_view_outlives_the_region(self):
        with kverbs.Context() as context:
            region = context.allocate(100)
            view = region.view
            region.close()
        view[99] = 7
        self.assertEqual(view[99], 7)

    def test_allocated_memory_is_zeroed_and_page_aligned(self):
        with kverbs.Context() as context, context.allocate(5000) as region:
            self.assertEqual(bytes(region), bytes(5000))
            self.assertEqual(region.address % mmap.PAGESIZE, 0)

    def test_a_region_can_be_shared_by_a_descriptor(self):
        memory = mmap.mmap(-1, 4096)
        with kverbs.Context() as context, context.register(memory) as region:
            fd = region.share()
            with kverbs.Context() as other, other.import_shared(fd, memory) as again:
                region.view[:3] = b"abc"
                self.assertEqual(bytes(again)[:3], b"abc")
            self.assertRaises(ValueError, context.import_shared, fd, bytearray(4095))
            os.close(fd)

    def test_a_read_only_descriptor_gives_read_only_regions(self):
        with kverbs.Context() as context, context.register(bytearray(8)) as region:
            fd = region.share(read_only=True)
            with self.assertRaises(kverbs.Error) as caught:
                context.import_shared(fd, bytearray(8))
            self.assertEqual(caught.exception.errno, errno.EACCES)
            context.import_shared(fd, bytes(8), read_only=True).close()
            os.close(fd)

    def test_a_slice_is_a_piece(self):
        with kverbs.Context() as context, context.register(bytearray(b"abcdef")) as region:
            piece = region[1:3]
            self.assertEqual((piece.offset, piece.length, bytes(piece)), (1, 2, b"bc"))
            self.assertEqual((region[4:].length, region[:-2].length, region[5:2].length),
                             (2, 4, 0))
            self.assertRaises(ValueError, lambda: region[::2])

    def test_closing_the_context_closes_its_regions(self):
        data = bytearray(8)
        context = kverbs.Context()
        region = context.register(data)
        context.close()
        context.close()
        data.append(1)
        region.close()
        self.assertRaises(ValueError, context.register, bytearray(8))

    def test_a_context_that_is_dropped_is_closed(self):
        kverbs.Context().register(bytearray(8))

    def test_a_region_that_an_export_uses_is_busy(self):
        with t.Pair() as pair, pair.client.allocate(100) as region:
            with pair.here.export(region, kverbs.Access.READ):
                self.raises(errno.EBUSY, region.close)


t.main()
