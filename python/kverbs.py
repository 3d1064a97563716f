# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RDMA by way of libkverbs: connections, registered memory, messages, one-sided access.

A Context is an open device node with its ring. It registers memory (Region), connects and
listens. A Connection posts operations on regions, each of which returns a Request, and exports
memory to its peer; the peer uses the export's Token. All of these are context managers.

Times are seconds, None waits for ever. A failed call raises Error, which is an OSError with the
errno and the name of the library's function; its subclasses TimedOut, Refused, Reset and WouldBlock
are Python's own TimeoutError, ConnectionRefusedError and so on as well.

Memory is any object with a writable, contiguous buffer: bytearray, mmap, array, memoryview, an
array of numpy. A slice such as "region[10:20]" is a piece of a region; where a function takes a
piece, a region stands for all of it.

Functions release the interpreter's lock while they wait, so that other threads run. In an event
loop of asyncio, requests can be awaited, and the functions whose names end in _async wait there.
"""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import os
import socket
import struct
import sys
import time
import weakref
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int32,
                    c_size_t, c_ssize_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from errno import (EAGAIN, ECANCELED, ECONNREFUSED, ECONNRESET, EINTR, EINVAL, EIO, ENOTCONN, ENXIO,
                   EOPNOTSUPP, ETIMEDOUT)
from types import TracebackType
from typing import (Any, Callable, Dict, Generator, List, NamedTuple, NoReturn, Optional, Sequence,
                    Set, Tuple, Type, TypeVar, Union)

__all__ = [
    "Access", "Cause", "Connection", "ConnInfo", "Context", "Device", "Error", "Export", "Gid",
    "Group", "Listener", "Op", "Opcode", "Param", "Piece", "Pool", "Port", "Refused", "Region",
    "Request", "Reset", "State", "TimedOut", "Token", "Transport", "WouldBlock", "version",
]

T = TypeVar("T")

INT_MAX = 0x7fffffff
LIST_MAX = 32
COPY_MAX = 4096
PRIV_MAX = 512
DEFAULT_TIMEOUT = 10.0

# ---- constants ------------------------------------------------------------------------


class Access(IntFlag):
    """Rights that an export grants the peer."""

    READ = 1
    WRITE = 2
    ATOMIC = 4


class Opcode(IntEnum):
    """Kinds of operations."""

    SEND = 1
    RECV = 2
    WRITE = 3
    WRITE_IMM = 4
    READ = 5
    SEND_IMM = 6
    SEND_INV = 7
    CMP_SWAP = 8
    FETCH_ADD = 9


class State(IntEnum):
    """State of a connection."""

    CONNECTING = 1
    REQUESTED = 2
    ACCEPTING = 3
    ESTABLISHED = 4
    CLOSING = 5
    DEAD = 6


class Transport(IntEnum):
    """Transport of a port or a connection."""

    UNKNOWN = 0
    IB = 1
    ROCE = 2
    IWARP = 3


_REGION_READ_ONLY = 1
_SQE_FENCE = 2
_SQE_SOLICITED = 4
_CQE_F_IMM = 2
_CQE_F_WRITE = 4
_CQE_F_INV = 8
_CQE_F_MORE = 32
_PARAM_RETRY = 1
_PARAM_RNR_RETRY = 2
_PARAM_RNR_TIMER = 4
_PARAM_ACK_TIMEOUT = 8
_PARAM_TOS = 16

# ---- structs of the library and of the kernel ---------------------------------------------


class _Opts(Structure):
    _fields_ = [("sz", c_size_t), ("path", c_char_p), ("sq_entries", c_uint),
                ("cq_entries", c_uint), ("busy_poll", c_bool), ("softirq", c_bool)]


class _ConnParam(Structure):
    _fields_ = [("valid", c_uint32), ("sq_depth", c_uint32), ("rq_depth", c_uint32),
                ("max_sge", c_uint32), ("max_read", c_uint8), ("retry", c_uint8),
                ("rnr_retry", c_uint8), ("rnr_timer", c_uint8), ("ack_timeout", c_uint8),
                ("tos", c_uint8), ("reserved", c_uint8 * 2), ("keepalive_ns", c_uint64)]


_prepare_fn = CFUNCTYPE(c_int, c_void_p, c_void_p)
_refused_fn = CFUNCTYPE(c_bool, c_void_p, c_void_p)


class _ConnOpts(Structure):
    _fields_ = [("sz", c_size_t), ("param", POINTER(_ConnParam)), ("param_sz", c_size_t),
                ("source", c_char_p), ("priv", c_char_p), ("priv_len", c_size_t),
                ("timeout_ms", c_int), ("prepare", _prepare_fn), ("refused", _refused_fn),
                ("arg", c_void_p), ("group", c_void_p), ("pool", c_void_p),
                ("failed", c_void_p), ("worker", c_void_p)]


class _Segment(Structure):
    _fields_ = [("addr", c_uint64), ("length", c_uint64), ("rkey", c_uint32),
                ("reserved", c_uint32)]


class _Token(Structure):
    _fields_ = [("length", c_uint64), ("access", c_uint32), ("nr_segs", c_uint32),
                ("segs", POINTER(_Segment)), ("id", c_uint32), ("reserved", c_uint32 * 5)]


class _Priv(Structure):
    _fields_ = [("kv", c_void_p), ("conn", c_void_p), ("next", c_void_p), ("prev", c_void_p),
                ("early", c_void_p), ("pending", c_uint), ("state", c_int), ("from_", c_void_p),
                ("slot", c_uint), ("unused", c_uint32), ("reserved", c_uint64 * 3)]


class _Req(Structure):
    _fields_ = [("done", c_void_p), ("data", c_void_p), ("result", c_int), ("wc_status", c_uint),
                ("flags", c_uint), ("imm", c_uint32), ("byte_len", c_uint64), ("priv", _Priv)]


_done_fn = CFUNCTYPE(None, c_void_p)


class _Vec(Structure):
    _fields_ = [("buf", c_void_p), ("offset", c_size_t), ("length", c_size_t)]


class _Op(Structure):
    _fields_ = [("opcode", c_uint), ("imm", c_uint32), ("rkey", c_uint32), ("flags", c_uint32),
                ("buf", c_void_p), ("offset", c_size_t), ("length", c_size_t),
                ("token", POINTER(_Token)), ("remote_offset", c_uint64), ("operand", c_uint64),
                ("swap", c_uint64), ("req", POINTER(_Req)), ("vec", POINTER(_Vec)),
                ("nr_vec", c_size_t), ("reserved", c_uint64 * 2)]


class _Port(Structure):
    _fields_ = [("port", c_uint32), ("transport", c_uint8), ("state", c_uint8),
                ("phys_state", c_uint8), ("reserved", c_uint8), ("max_mtu", c_uint32),
                ("active_mtu", c_uint32), ("max_msg_size", c_uint32), ("rate_100mbps", c_uint32),
                ("lid", c_uint16), ("sm_lid", c_uint16), ("gid_table_len", c_uint32),
                ("ifindex", c_uint32), ("ifname", c_char * 16), ("reserved2", c_uint32)]


class _Gid(Structure):
    _fields_ = [("gid", c_uint8 * 16), ("port", c_uint32), ("index", c_uint32), ("type", c_uint32),
                ("ifindex", c_uint32)]


class _DeviceQuery(Structure):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("index", c_uint32),
                ("reserved", c_uint32), ("inout_ports_len", c_uint32), ("ports_stride", c_uint32),
                ("inout_gids_len", c_uint32), ("gids_stride", c_uint32), ("ports_uptr", c_uint64),
                ("gids_uptr", c_uint64), ("out_index", c_uint32), ("out_caps", c_uint32),
                ("out_name", c_char * 64), ("out_fw_version", c_char * 32),
                ("out_node_guid", c_uint8 * 8), ("out_sys_image_guid", c_uint8 * 8),
                ("out_vendor_id", c_uint32), ("out_vendor_part_id", c_uint32),
                ("out_hw_version", c_uint32), ("out_max_qp", c_uint32),
                ("out_max_qp_wr", c_uint32), ("out_max_send_sge", c_uint32),
                ("out_max_read_sge", c_uint32), ("out_max_cqe", c_uint32),
                ("out_max_mr", c_uint32), ("out_max_mr_pages", c_uint32),
                ("out_max_rd_atomic", c_uint32), ("out_max_init_rd_atomic", c_uint32),
                ("out_driver", c_char * 64), ("out_unusable", c_uint32),
                ("out_numa_node", c_int32), ("out_max_recv_sge", c_uint32),
                ("reserved2", c_uint32)]


class _Device(Structure):
    _fields_ = [("attr", POINTER(_DeviceQuery)), ("ports", POINTER(_Port)),
                ("gids", POINTER(_Gid)), ("nr_ports", c_uint), ("nr_gids", c_uint),
                ("reserved", c_uint64 * 4)]


class _Addr(Structure):
    _fields_ = [("family", c_uint16), ("port", c_uint16), ("scope_id", c_uint32),
                ("addr", c_uint8 * 16), ("reserved", c_uint64 * 3)]


class _ConnQuery(Structure):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("conn_id", c_uint32),
                ("inout_priv_len", c_uint32), ("priv_uptr", c_uint64), ("out_state", c_uint32),
                ("out_error", c_int32), ("out_device_index", c_uint32), ("out_port", c_uint32),
                ("out_transport", c_uint32), ("out_mtu", c_uint32), ("out_local", _Addr),
                ("out_remote", _Addr), ("out_sq_depth", c_uint32), ("out_rq_depth", c_uint32),
                ("out_max_sge", c_uint32), ("out_max_read", c_uint32), ("out_max_msg", c_uint64),
                ("out_max_segment", c_uint64), ("out_sq_used", c_uint32),
                ("out_rq_used", c_uint32), ("out_ops", c_uint64), ("out_errors", c_uint64),
                ("out_bytes_out", c_uint64), ("out_bytes_in", c_uint64),
                ("out_addr_ns", c_uint64), ("out_route_ns", c_uint64), ("out_qp_ns", c_uint64),
                ("out_up_ns", c_uint64), ("out_group_id", c_uint32), ("reserved", c_uint32)]


class _Failure(Structure):
    _fields_ = [("sz", c_size_t), ("conn", c_void_p), ("error", c_int), ("wc_status", c_uint),
                ("before", c_void_p)]


class _Counter(Structure):
    _fields_ = [("name", c_char * 48), ("kind", c_uint), ("change", c_uint64)]


class _Explanation(Structure):
    _fields_ = [("error", c_int), ("wc_status", c_uint), ("was_up", c_bool),
                ("device", c_char * 64), ("port", c_uint), ("transport", c_uint),
                ("port_state", c_uint), ("mtu", c_uint), ("gid_type", c_uint),
                ("peer_gid_type", c_uint), ("nr_causes", c_uint), ("causes", c_uint * 3),
                ("nr_counters", c_uint), ("counters", _Counter * 24), ("counted", c_uint),
                ("total", c_uint64 * 11)]


class _Info(Structure):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("out_abi", c_uint32),
                ("out_nr_devices", c_uint32), ("inout_ops_len", c_uint32),
                ("ops_stride", c_uint32), ("ops_uptr", c_uint64), ("out_features", c_uint64),
                ("out_max_objects", c_uint32), ("out_max_rings", c_uint32),
                ("out_max_sq_entries", c_uint32), ("out_max_cq_entries", c_uint32),
                ("out_max_list", c_uint32), ("out_max_backlog", c_uint32),
                ("out_max_depth", c_uint32), ("out_max_sge", c_uint32), ("out_max_read", c_uint32),
                ("out_max_priv_connect", c_uint32), ("out_max_priv_accept", c_uint32),
                ("out_max_priv_reject", c_uint32), ("out_version", c_char * 32),
                ("out_max_pools", c_uint32), ("out_max_pool_entries", c_uint32)]


# ---- the library ------------------------------------------------------------------------

# Functions that return an int, of which a negative one is -errno, and their arguments.
_CALLS: Dict[str, Tuple[Any, ...]] = {
    "kverbs_open": (POINTER(c_void_p), POINTER(_Opts)),
    "kverbs_process": (c_void_p, c_int),
    "kverbs_info": (c_void_p, POINTER(_Info), c_size_t),
    "kverbs_conn_explain": (c_void_p, POINTER(_Failure), POINTER(_Explanation), c_size_t),
    "kverbs_device_list": (c_void_p, POINTER(POINTER(_Device))),
    "kverbs_buf_register": (c_void_p, c_void_p, c_size_t, c_uint, POINTER(c_void_p)),
    "kverbs_buf_share": (c_void_p, c_uint),
    "kverbs_buf_import": (c_void_p, c_int, c_void_p, c_uint, POINTER(c_void_p)),
    "kverbs_buf_free": (c_void_p,),
    "kverbs_group_create": (c_void_p, c_uint32, POINTER(c_void_p)),
    "kverbs_group_free": (c_void_p,),
    "kverbs_connect": (c_void_p, c_char_p, c_char_p, POINTER(_ConnOpts), POINTER(c_void_p)),
    "kverbs_connect_start": (c_void_p, c_char_p, POINTER(_ConnOpts), POINTER(c_void_p)),
    "kverbs_conn_wait": (c_void_p, c_int),
    "kverbs_listen": (c_void_p, c_char_p, c_char_p, c_uint, POINTER(c_void_p)),
    "kverbs_next_request": (c_void_p, c_int, POINTER(c_void_p)),
    "kverbs_accept": (c_void_p, POINTER(_ConnOpts)),
    "kverbs_accept_start": (c_void_p, POINTER(_ConnOpts)),
    "kverbs_reject": (c_void_p, c_char_p, c_size_t),
    "kverbs_disconnect": (c_void_p,),
    "kverbs_shutdown": (c_void_p, c_int),
    "kverbs_conn_error": (c_void_p,),
    "kverbs_conn_query": (c_void_p, POINTER(_ConnQuery), c_size_t),
    "kverbs_conn_priv": (c_void_p, c_char_p, c_size_t),
    "kverbs_export": (c_void_p, c_void_p, c_size_t, c_size_t, c_uint, POINTER(_Token)),
    "kverbs_unexport": (c_void_p, POINTER(_Token)),
    "kverbs_group_export": (c_void_p, c_void_p, c_size_t, c_size_t, c_uint, POINTER(_Token)),
    "kverbs_group_unexport": (c_void_p, POINTER(_Token)),
    "kverbs_token_pack": (POINTER(_Token), c_char_p, c_size_t),
    "kverbs_token_unpack": (POINTER(_Token), c_char_p, c_size_t),
    "kverbs_post": (c_void_p, POINTER(_Op), c_size_t),
    "kverbs_try_post": (c_void_p, POINTER(_Op), c_size_t),
    "kverbs_send_copy": (c_void_p, c_char_p, c_size_t, POINTER(_Req)),
    "kverbs_pool_create": (c_void_p, c_uint, POINTER(c_void_p)),
    "kverbs_pool_add": (c_void_p, c_void_p, c_size_t, c_size_t, POINTER(_Req)),
    "kverbs_pool_destroy": (c_void_p,),
    "kverbs_wait": (POINTER(_Req), c_int),
    "kverbs_watch": (c_void_p, c_void_p, c_uint8, c_int),
}

# The other functions: what they return, and their arguments.
_OTHERS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "kverbs_close": (None, (c_void_p,)),
    "kverbs_fd": (c_int, (c_void_p,)),
    "kverbs_device_list_free": (None, (POINTER(_Device), c_int)),
    "kverbs_listener_port": (c_uint16, (c_void_p,)),
    "kverbs_listener_free": (None, (c_void_p,)),
    "kverbs_conn_free": (None, (c_void_p,)),
    "kverbs_addr_format": (c_char_p, (POINTER(_Addr), c_char_p, c_size_t)),
    "kverbs_token_packed_size": (c_size_t, (POINTER(_Token),)),
    "kverbs_buf_size": (c_size_t, (c_void_p,)),
    "kverbs_token_free": (None, (POINTER(_Token),)),
    "kverbs_wc_status_str": (c_char_p, (c_uint,)),
    "kverbs_cause_name": (c_char_p, (c_uint,)),
    "kverbs_cause_str": (c_char_p, (c_uint,)),
    "kverbs_cause_remedy": (c_char_p, (c_uint,)),
    "kverbs_version": (c_char_p, ()),
}


class _Library:
    """The shared library, loaded when its first function is called.

    KVERBS_LIBRARY in the environment names another file than libkverbs.so.1.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in _CALLS and name not in _OTHERS:
            raise AttributeError(name)
        if "file" not in self.__dict__:
            self.__dict__["file"] = ctypes.CDLL(os.environ.get("KVERBS_LIBRARY",
                                                               "libkverbs.so.1"))
        function = getattr(self.__dict__["file"], name)
        function.restype, function.argtypes = _OTHERS.get(name) or (c_int, _CALLS[name])
        self.__dict__[name] = function
        return function


_lib: Any = _Library()


def version() -> str:
    """Return the version of the library, such as "0.1.0"."""
    text: bytes = _lib.kverbs_version()
    return text.decode()


# ---- errors -----------------------------------------------------------------------------


class Error(OSError):
    """A function of the library, or a request, has failed.

    errno and strerror are those of OSError. "function" is the name of the library's function;
    "wc_status" and "wc_text" are the status that the device gave a failed request, and its name, 0
    and "" if there is none. "private_data" is what a peer that refused a connection has sent.
    """

    def __init__(self, number: int, function: str, wc_status: int = 0,
                 private_data: bytes = b"") -> None:
        self.function = function
        self.wc_status = wc_status
        self.wc_text = _lib.kverbs_wc_status_str(wc_status).decode() if wc_status else ""
        self.private_data = private_data
        text = f"{function}: {os.strerror(number)}"
        super().__init__(number, f"{text} ({self.wc_text})" if self.wc_text else text)


class TimedOut(Error, TimeoutError):
    """ETIMEDOUT: the time is over, or a peer did not answer."""


class Refused(Error, ConnectionRefusedError):
    """ECONNREFUSED: the peer refused the connection, or does not listen."""


class Reset(Error, ConnectionResetError):
    """ECONNRESET: the peer ended the connection."""


class WouldBlock(Error, BlockingIOError):
    """EAGAIN: there is no room, and the call was not to wait for it."""


_ERRORS: Dict[int, Type[Error]] = {
    ETIMEDOUT: TimedOut,
    ECONNREFUSED: Refused,
    ECONNRESET: Reset,
    EAGAIN: WouldBlock,
}


class Cause(NamedTuple):
    """A likely cause of a failure: its name, what it is, and how to check or mend it."""

    name: str
    text: str
    remedy: str


def _cause(number: int) -> Cause:
    return Cause(*(getattr(_lib, function)(number).decode() for function in
                   ("kverbs_cause_name", "kverbs_cause_str", "kverbs_cause_remedy")))


def _error(number: int, function: str, wc_status: int = 0, private_data: bytes = b"") -> Error:
    return _ERRORS.get(number, Error)(number, function, wc_status, private_data)


def _check(ret: int, function: str) -> int:
    if ret < 0:
        raise _error(-ret, function)
    return ret


def _call(function: str, *args: Any) -> int:
    return _check(getattr(_lib, function)(*args), function)


class _Deadline:
    """How much of a timeout is left, across calls that a signal handler has interrupted."""

    def __init__(self, timeout: Optional[float]) -> None:
        self._end = None if timeout is None else time.monotonic() + max(timeout, 0.0)

    def ms(self) -> int:
        """Return milliseconds as the library has them, rounded up."""
        if self._end is None:
            return -1
        left = self._end - time.monotonic()
        return min(int(left * 1000) + 1, INT_MAX) if left > 0 else 0


def _call_until(function: str, deadline: _Deadline, *args: Any, after: Sequence[Any] = ()) -> int:
    """Call a function that waits, again if a signal handler of Python has run meanwhile."""
    while True:
        ret: int = getattr(_lib, function)(*args, deadline.ms(), *after)
        if ret != -EINTR:
            return ret


# ---- memory -----------------------------------------------------------------------------


class _PyBuffer(Structure):
    _fields_ = [("buf", c_void_p), ("obj", ctypes.py_object), ("len", c_ssize_t),
                ("itemsize", c_ssize_t), ("readonly", c_int), ("ndim", c_int),
                ("format", c_char_p), ("shape", POINTER(c_ssize_t)),
                ("strides", POINTER(c_ssize_t)), ("suboffsets", POINTER(c_ssize_t)),
                ("internal", c_void_p)]


_PYBUF_SIMPLE = 0
_PYBUF_WRITABLE = 1


class _Memory:
    """The buffer of an object, which can be neither freed nor resized meanwhile."""

    def __init__(self, obj: Any, writable: bool) -> None:
        self._view = _PyBuffer()
        self._held = False
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(obj), byref(self._view),
                                            _PYBUF_WRITABLE if writable else _PYBUF_SIMPLE)
        self._held = True
        self.address: int = self._view.buf or 0
        self.size: int = self._view.len

    def release(self) -> None:
        """Give the buffer back."""
        if self._held:
            self._held = False
            ctypes.pythonapi.PyBuffer_Release(byref(self._view))

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.release()


@dataclass(frozen=True)
class Piece:
    """A part of a region, "region[10:20]"."""

    region: Region
    offset: int
    length: int

    @property
    def view(self) -> memoryview:
        """The bytes of the piece, without a copy."""
        return self.region.view[self.offset:self.offset + self.length]

    def __bytes__(self) -> bytes:
        return bytes(self.view)


class _Closing:
    """An object that is closed at the end of a "with" statement."""

    def close(self) -> None:
        """Close the object. A second call does nothing."""
        raise NotImplementedError

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()


class Region(_Closing):
    """Registered memory, made by Context.register(), allocate() or import_shared()."""

    def __init__(self, context: Context, obj: Any, read_only: bool = False,
                 shared: Optional[int] = None) -> None:
        self.context = context
        self.read_only = read_only
        self._handle: Optional[int] = None
        self._memory = _Memory(obj, not read_only)
        self._object = obj
        handle = c_void_p()
        flags = _REGION_READ_ONLY if read_only else 0
        if shared is None:
            _call("kverbs_buf_register", context._open(), self._memory.address,
                  self._memory.size, flags, byref(handle))
        else:
            _call("kverbs_buf_import", context._open(), shared, self._memory.address, flags,
                  byref(handle))
        self._handle = handle.value
        context._regions.add(self)
        if shared is not None and _lib.kverbs_buf_size(handle) != self._memory.size:
            self.close()
            raise ValueError("the buffer has another size than the shared memory")

    def _open(self) -> int:
        if self._handle is None or self.context._handle is None:
            raise ValueError("the region is closed")
        return self._handle

    def share(self, *, read_only: bool = False) -> int:
        """A descriptor of the memory for Context.import_shared(), here or in another process.

        The caller closes it. "read_only": regions made of it are read-only.
        """
        return _call("kverbs_buf_share", self._open(), _REGION_READ_ONLY if read_only else 0)

    @property
    def address(self) -> int:
        """Address of the first byte."""
        return self._memory.address

    def __len__(self) -> int:
        return self._memory.size

    @property
    def view(self) -> memoryview:
        """The bytes of the region, without a copy."""
        return memoryview(self._object).cast("B")

    def __getitem__(self, index: slice) -> Piece:
        start, stop, step = index.indices(len(self))
        if step != 1:
            raise ValueError("a piece has no step")
        return Piece(self, start, max(stop - start, 0))

    def __bytes__(self) -> bytes:
        return bytes(self.view)

    def close(self) -> None:
        """Unregister the memory; EBUSY while an export or a request uses it."""
        if self._handle is None:
            return
        if self.context._handle is not None:
            _call("kverbs_buf_free", self._handle)
        self._gone()

    def _gone(self) -> None:
        self._handle = None
        self.context._regions.discard(self)
        self._memory.release()

    def __enter__(self) -> Region:
        return self


Local = Union[Region, Piece]
Locals = Union[Region, Piece, Sequence[Union[Region, Piece]]]


def _piece(local: Local) -> Piece:
    return local if isinstance(local, Piece) else Piece(local, 0, len(local))


# ---- tokens and exports --------------------------------------------------------------------


class Token:
    """Remote access to a range of memory: what an exporter sends to its peer as bytes."""

    def __init__(self) -> None:
        self._token = _Token()

    @classmethod
    def unpack(cls, data: Union[bytes, bytearray, memoryview]) -> Token:
        """Read a token that a peer has sent; EBADMSG if the bytes are none."""
        self = cls()
        raw = bytes(data)
        _call("kverbs_token_unpack", byref(self._token), raw, len(raw))
        return self

    def pack(self) -> bytes:
        """Return the bytes to send to the peer."""
        size: int = _lib.kverbs_token_packed_size(byref(self._token))
        raw = ctypes.create_string_buffer(size)
        _call("kverbs_token_pack", byref(self._token), raw, size)
        return raw.raw

    def __bytes__(self) -> bytes:
        return self.pack()

    @property
    def length(self) -> int:
        """Bytes covered."""
        return int(self._token.length)

    @property
    def access(self) -> Access:
        """Rights that the peer has."""
        return Access(self._token.access)

    @property
    def segments(self) -> List[Tuple[int, int, int]]:
        """The address, length and key of each segment, for peers with another protocol."""
        segs = self._token.segs
        return [(segs[i].addr, segs[i].length, segs[i].rkey) for i in range(self._token.nr_segs)]

    def __del__(self) -> None:
        if not sys.is_finalizing() and self._token.segs:
            _lib.kverbs_token_free(byref(self._token))


class Export(_Closing):
    """Remote access that this side grants, until the export or its connection is closed."""

    def __init__(self, owner: Union[Connection, Group], kind: str, local: Local,
                 access: Access) -> None:
        piece = _piece(local)
        self._owner = owner
        self._revoke = f"kverbs_{kind}unexport"
        self._granted = False
        self.token = Token()
        _call(f"kverbs_{kind}export", owner._open(), piece.region._open(), piece.offset,
              piece.length, int(access), byref(self.token._token))
        self._granted = True

    def close(self) -> None:
        """Revoke the access: when the call has returned, the peer has none any more."""
        if not self._granted:
            return
        self._granted = False
        if self._owner._is_open():
            _call(self._revoke, self._owner._open(), byref(self.token._token))

    def __enter__(self) -> Export:
        return self


# ---- requests -------------------------------------------------------------------------------

# Requests that are not complete, by the address of their struct.
_pending: Dict[int, Request] = {}


class Request:
    """An operation that was posted. It can be awaited in a coroutine."""

    def __init__(self, context: Context, done: Optional[Callable[[Request], Any]] = None) -> None:
        self.context = context
        self._done = done
        self._futures: List[Tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._complete = False
        self._ended = False
        self._connection: Optional[Connection] = None
        self._keep: Any = None
        self._req = _Req(done=_COMPLETED)
        self._at = ctypes.addressof(self._req)

    def _begin(self, keep: Any) -> None:
        self._keep = keep
        _pending[self._at] = self

    def _abort(self) -> None:
        _pending.pop(self._at, None)
        self._keep = None

    def _end(self) -> None:
        # The address of a connection that is closed may become that of another one.
        self._connection = self.context._connections.get(self._req.priv.from_ or 0)
        self._complete = True
        self._keep = None
        for loop, future in self._futures:
            try:
                loop.call_soon_threadsafe(_resolve, future)
            except RuntimeError:
                # The loop was closed meanwhile.
                pass
        try:
            if self._done:
                self._done(self)
        finally:
            self._ended = True

    def _lose(self) -> None:
        """End a request that the library forgets without completing it."""
        if _pending.pop(self._at, None):
            self._req.result = -ECANCELED
            self._end()

    @property
    def complete(self) -> bool:
        """Whether the request is complete. New completions are not looked for."""
        return self._complete

    @property
    def error(self) -> Optional[Error]:
        """Why the request failed, or None; meaningful once it is complete."""
        if not self._req.result:
            return None
        return _error(-self._req.result, "request", self._req.wc_status)

    @property
    def byte_len(self) -> int:
        """Bytes moved."""
        return int(self._req.byte_len)

    @property
    def imm(self) -> Optional[int]:
        """The peer's immediate data, or None."""
        return int(self._req.imm) if self._req.flags & _CQE_F_IMM else None

    @property
    def revoked_key(self) -> Optional[int]:
        """The key of this side that the peer has revoked, or None."""
        return int(self._req.imm) if self._req.flags & _CQE_F_INV else None

    @property
    def written(self) -> bool:
        """Whether a WRITE of the peer with immediate data has completed this receive."""
        return bool(self._req.flags & _CQE_F_WRITE)

    @property
    def more(self) -> bool:
        """Whether the connection went on; for buffers of a pool."""
        return bool(self._req.flags & _CQE_F_MORE)

    @property
    def connection(self) -> Optional[Connection]:
        """The connection that a buffer of a pool has got its message on, or None."""
        return self._connection

    def wait(self, timeout: Optional[float] = None) -> Request:
        """Wait until the request is complete, and return it; raise Error if it failed.

        TimedOut is raised if it is not complete yet; Error has a wc_status or another errno if
        the operation has failed.
        """
        ret = 0
        if not self._ended:
            self.context._open()
            ret = _call_until("kverbs_wait", _Deadline(timeout), byref(self._req))
            self.context._progress()
        if not self._complete:
            _check(ret, "kverbs_wait")
        self._raise()
        return self

    def _raise(self) -> None:
        error = self.error
        if error:
            raise error

    async def _completion(self) -> Request:
        loop = asyncio.get_running_loop()
        self.context._attach(loop)
        future: asyncio.Future[None] = loop.create_future()
        self._futures.append((loop, future))
        # A thread that completed the request before it saw the future does not resolve it.
        if self._complete:
            _resolve(future)
        await future
        self._raise()
        return self

    def __await__(self) -> Generator[Any, None, Request]:
        return self._completion().__await__()


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _completed(at: int) -> None:
    request = _pending.pop(at, None)
    if request:
        request._end()


_completed_fn = _done_fn(_completed)
_COMPLETED = ctypes.cast(_completed_fn, c_void_p).value


@dataclass
class Op:
    """An operation, for Connection.post().

    "local": a piece, or a list of pieces, of which a message has LIST_MAX at most.
    "signalled" False: no request is returned. The operation is complete when a later one of the
    connection is, and its failure is that one's. "fence": begin when earlier READs and atomics
    are complete. "solicited": ask for a solicited event at the peer.
    """

    opcode: Opcode
    local: Optional[Locals] = None
    token: Optional[Token] = None
    remote_offset: int = 0
    imm: int = 0
    rkey: int = 0
    operand: int = 0
    swap: int = 0
    fence: bool = False
    solicited: bool = False
    signalled: bool = True
    done: Optional[Callable[[Request], Any]] = None


# ---- connections ----------------------------------------------------------------------------


@dataclass
class Param:
    """Depths, retries and timers of a connection; None and 0: the module's default."""

    sq_depth: int = 0
    rq_depth: int = 0
    max_sge: int = 0
    max_read: int = 0
    retry: Optional[int] = None
    rnr_retry: Optional[int] = None
    rnr_timer: Optional[int] = None
    ack_timeout: Optional[int] = None
    tos: Optional[int] = None
    keepalive: float = 0.0

    def _struct(self) -> _ConnParam:
        param = _ConnParam(sq_depth=self.sq_depth, rq_depth=self.rq_depth, max_sge=self.max_sge,
                           max_read=self.max_read, keepalive_ns=int(self.keepalive * 1e9))
        for name, bit in (("retry", _PARAM_RETRY), ("rnr_retry", _PARAM_RNR_RETRY),
                          ("rnr_timer", _PARAM_RNR_TIMER), ("ack_timeout", _PARAM_ACK_TIMEOUT),
                          ("tos", _PARAM_TOS)):
            value = getattr(self, name)
            if value is not None:
                param.valid |= bit
                setattr(param, name, value)
        return param


@dataclass(frozen=True)
class ConnInfo:
    """State, limits and counters of a connection."""

    state: State
    error: int
    device_index: int
    port: int
    transport: Transport
    mtu: int
    local: str
    remote: str
    sq_depth: int
    rq_depth: int
    max_sge: int
    max_read: int
    max_msg: int
    max_segment: int
    sq_used: int
    rq_used: int
    ops: int
    errors: int
    bytes_out: int
    bytes_in: int


def _address(addr: _Addr) -> str:
    text = ctypes.create_string_buffer(64)
    _lib.kverbs_addr_format(byref(addr), text, len(text))
    return text.value.decode()


def _conn_opts(param: Optional[Param], source: Optional[str], private_data: bytes,
               timeout: Optional[float], group: Optional[Group],
               pool: Optional[Pool]) -> _ConnOpts:
    opts = _ConnOpts(sz=ctypes.sizeof(_ConnOpts), priv=private_data or None,
                     priv_len=len(private_data))
    if param:
        opts.param = ctypes.pointer(param._struct())
        opts.param_sz = ctypes.sizeof(_ConnParam)
    if source is not None:
        opts.source = source.encode()
    opts.timeout_ms = -1 if timeout is None else max(1, min(int(timeout * 1000), INT_MAX))
    if group:
        opts.group = group._open()
    if pool:
        opts.pool = pool._open()
    return opts


def _sockaddr(family: int, address: Any) -> bytes:
    if family == socket.AF_INET:
        return struct.pack("=H", family) + struct.pack("!H4s8x", address[1],
                                                       socket.inet_pton(family, address[0]))
    return (struct.pack("=H", family) +
            struct.pack("!HI16s", address[1], address[2],
                        socket.inet_pton(family, address[0].partition("%")[0])) +
            struct.pack("=I", address[3]))


class Connection(_Closing):
    """A connection, from Context.connect() or Listener.request()."""

    def __init__(self, context: Context, handle: int, pool: Optional[Pool] = None) -> None:
        self.context = context
        self._handle: Optional[int] = handle
        self._pool = pool
        context._connections[handle] = self

    def _is_open(self) -> bool:
        return self._handle is not None and self.context._handle is not None

    def _open(self) -> int:
        if self._handle is None or self.context._handle is None:
            raise ValueError("the connection is closed")
        return self._handle

    # setup and end

    def accept(self, *, private_data: bytes = b"", param: Optional[Param] = None,
               timeout: Optional[float] = DEFAULT_TIMEOUT, group: Optional[Group] = None,
               pool: Optional[Pool] = None) -> Connection:
        """Accept the request of a peer and wait until the connection is established.

        Post receives first: the peer may send as soon as it is accepted. A peer that has sent
        and left meanwhile counts as accepted, and its messages can be received.
        """
        deadline = _Deadline(timeout)
        opts = _conn_opts(param, None, private_data, timeout, group, pool)
        self._pool = pool
        ret: int = _lib.kverbs_accept(self._open(), byref(opts))
        if ret == -EINTR:
            ret = _call_until("kverbs_conn_wait", deadline, self._open())
        self.context._progress()
        _check(ret, "kverbs_accept")
        return self

    async def accept_async(self, *, private_data: bytes = b"", param: Optional[Param] = None,
                           timeout: Optional[float] = DEFAULT_TIMEOUT,
                           group: Optional[Group] = None,
                           pool: Optional[Pool] = None) -> Connection:
        """The same as accept(), in an event loop."""
        self.accept_start(private_data=private_data, param=param, timeout=timeout, group=group,
                          pool=pool)
        try:
            await self.wait_async(timeout)
        except Reset:
            # The peer has been accepted, and has left: its messages can be received.
            pass
        return self

    def accept_start(self, *, private_data: bytes = b"", param: Optional[Param] = None,
                     timeout: Optional[float] = DEFAULT_TIMEOUT, group: Optional[Group] = None,
                     pool: Optional[Pool] = None) -> None:
        """Accept the request of a peer without waiting."""
        opts = _conn_opts(param, None, private_data, timeout, group, pool)
        self._pool = pool
        _call("kverbs_accept_start", self._open(), byref(opts))

    def reject(self, private_data: bytes = b"") -> None:
        """Reject the request of a peer, and close the connection."""
        handle = self._open()
        self._gone()
        try:
            _call("kverbs_reject", handle, private_data or None, len(private_data))
        finally:
            self.context._progress()

    def wait(self, timeout: Optional[float] = DEFAULT_TIMEOUT) -> None:
        """Wait until the connection is established; raise Error if it has failed."""
        ret = _call_until("kverbs_conn_wait", _Deadline(timeout), self._open())
        self.context._progress()
        _check(ret, "kverbs_conn_wait")

    async def wait_async(self, timeout: Optional[float] = DEFAULT_TIMEOUT) -> None:
        """The same as wait(), in an event loop."""
        def is_up() -> Optional[int]:
            ret: int = _lib.kverbs_conn_wait(self._open(), 0)
            return None if ret in (-ETIMEDOUT, -EINTR) else ret

        _check(await self.context._until(is_up, timeout), "kverbs_conn_wait")

    def _prepare(self, prepare: Callable[[Connection], Any]) -> bool:
        """Let a caller post receives; False: the peer has refused by then, as a wait will tell."""
        try:
            prepare(self)
        except Error as error:
            if error.errno != ENOTCONN:
                raise
            return False
        return True

    def disconnect(self) -> None:
        """Start to end the connection; requests complete with EIO (flushed)."""
        _call("kverbs_disconnect", self._open())

    def shutdown(self, timeout: Optional[float] = DEFAULT_TIMEOUT) -> None:
        """Wait until all operations but receives are complete, and end the connection."""
        ret = _call_until("kverbs_shutdown", _Deadline(timeout), self._open())
        self.context._progress()
        _check(ret, "kverbs_shutdown")

    async def shutdown_async(self, timeout: Optional[float] = DEFAULT_TIMEOUT) -> None:
        """The same as shutdown(), in an event loop."""
        def is_over() -> Optional[int]:
            ret: int = _lib.kverbs_shutdown(self._open(), 0)
            goes_on = ret == -EINTR or (ret == -ETIMEDOUT and not self.error)
            return None if goes_on else ret

        _check(await self.context._until(is_over, timeout), "kverbs_shutdown")

    def close(self) -> None:
        """End the connection; its requests complete with ECANCELED before the call returns."""
        # Callbacks of requests that are cancelled may close the connection, too.
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if self.context._handle is not None:
            _lib.kverbs_conn_free(handle)
        self.context._connections.pop(handle, None)
        self.context._progress()

    def _gone(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            self.context._connections.pop(handle, None)

    def __enter__(self) -> Connection:
        return self

    @property
    def error(self) -> Optional[Error]:
        """Why the connection has ended, None if it has not."""
        ret: int = _lib.kverbs_conn_error(self._open())
        return _error(-ret, "connection") if ret else None

    @property
    def private_data(self) -> bytes:
        """Private data of the peer's request, answer or refusal; they may be padded."""
        data = ctypes.create_string_buffer(PRIV_MAX)
        length = _call("kverbs_conn_priv", self._open(), data, PRIV_MAX)
        return data.raw[:length]

    def _query(self) -> _ConnQuery:
        query = _ConnQuery()
        _call("kverbs_conn_query", self._open(), byref(query), ctypes.sizeof(query))
        return query

    def query(self) -> ConnInfo:
        """Return state, limits and counters."""
        query = self._query()
        numbers = ("error", "device_index", "port", "mtu", "sq_depth", "rq_depth", "max_sge",
                   "max_read", "max_msg", "max_segment", "sq_used", "rq_used", "ops", "errors",
                   "bytes_out", "bytes_in")
        return ConnInfo(state=State(query.out_state), transport=Transport(query.out_transport),
                        local=_address(query.out_local), remote=_address(query.out_remote),
                        **{name: getattr(query, f"out_{name}") for name in numbers})

    # operations

    def post(self, ops: Sequence[Op], *, wait: bool = True) -> List[Optional[Request]]:
        """Post operations together, and return a request for each, None for unsignalled ones.

        The list is shorter if only the first ones could be posted; Error is raised if none was.
        With "wait" False the call does not wait for room, and raises WouldBlock instead.
        """
        array = (_Op * len(ops))()
        requests: List[Optional[Request]] = []
        for op, entry in zip(ops, array):
            requests.append(self._fill(entry, op))
        handle = self._open()
        for request, op in zip(requests, ops):
            if request:
                request._begin((self, op.local))
        function = "kverbs_post" if wait else "kverbs_try_post"
        posted = 0
        try:
            posted = self._post(function, handle, array, len(ops))
        finally:
            for request in requests[max(posted, 0):]:
                if request:
                    request._abort()
        self.context._progress()
        _check(posted, function)
        return requests[:posted]

    def _post(self, function: str, handle: int, array: Any, number: int) -> int:
        while True:
            ret: int = getattr(_lib, function)(handle, array, number)
            if ret != -EINTR:
                return ret

    def _fill(self, entry: _Op, op: Op) -> Optional[Request]:
        request = Request(self.context, op.done) if op.signalled else None
        entry.opcode = int(op.opcode)
        entry.imm = op.imm
        entry.rkey = op.rkey
        entry.flags = (_SQE_FENCE if op.fence else 0) | (_SQE_SOLICITED if op.solicited else 0)
        if op.local is not None:
            self._fill_local(entry, op.local)
        if op.token:
            entry.token = ctypes.pointer(op.token._token)
        entry.remote_offset = op.remote_offset
        entry.operand = op.operand & 0xffffffffffffffff
        entry.swap = op.swap & 0xffffffffffffffff
        if request:
            entry.req = ctypes.pointer(request._req)
        return request

    def _fill_local(self, entry: Union[_Op, _Vec], local: Locals) -> None:
        if isinstance(local, (Region, Piece)):
            piece = _piece(local)
            entry.buf = piece.region._open()
            entry.offset = piece.offset
            entry.length = piece.length
            return
        # An operation without pieces would be one without bytes.
        if not local:
            raise _error(EINVAL, "kverbs_post")
        vec = (_Vec * len(local))()
        for part, piece_of in zip(local, vec):
            self._fill_local(piece_of, part)
        entry.vec = vec
        entry.nr_vec = len(local)

    def _post_one(self, op: Op, wait: bool) -> Request:
        request = self.post([op], wait=wait)[0]
        assert request
        return request

    def send_copy(self, data: Union[bytes, bytearray, memoryview], *,
                  done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Send a message of COPY_MAX bytes at most that is in no region."""
        raw = bytes(data)
        request = Request(self.context, done)
        handle = self._open()
        request._begin((self,))
        ret = -EINTR
        try:
            while ret == -EINTR:
                ret = _lib.kverbs_send_copy(handle, raw, len(raw), byref(request._req))
        finally:
            if ret < 0:
                request._abort()
        self.context._progress()
        _check(ret, "kverbs_send_copy")
        return request

    def send(self, local: Optional[Locals], *, imm: Optional[int] = None,
             invalidate: Optional[int] = None, solicited: bool = False, fence: bool = False,
             wait: bool = True, done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Send a message: a piece, a list of pieces, or None for one without bytes.

        "imm": four bytes of immediate data for the peer. "invalidate": a key of the peer's
        token to revoke.
        """
        opcode = Opcode.SEND
        if imm is not None:
            opcode = Opcode.SEND_IMM
        elif invalidate is not None:
            opcode = Opcode.SEND_INV
        return self._post_one(Op(opcode, local, imm=imm or 0, rkey=invalidate or 0,
                                 solicited=solicited, fence=fence, done=done), wait)

    def recv(self, local: Locals, *,
             done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Post a receive into a piece or a list of pieces; "byte_len" is the message's length."""
        return self._post_one(Op(Opcode.RECV, local, done=done), True)

    def write(self, local: Optional[Locals], token: Optional[Token], remote_offset: int = 0, *,
              imm: Optional[int] = None, solicited: bool = False, fence: bool = False,
              wait: bool = True, done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Write into the peer's memory; with "imm", also complete a receive of the peer."""
        opcode = Opcode.WRITE if imm is None else Opcode.WRITE_IMM
        return self._post_one(Op(opcode, local, token, remote_offset, imm=imm or 0,
                                 solicited=solicited, fence=fence, done=done), wait)

    def read(self, local: Locals, token: Token, remote_offset: int = 0, *, fence: bool = False,
             wait: bool = True, done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Read from the peer's memory."""
        return self._post_one(Op(Opcode.READ, local, token, remote_offset, fence=fence,
                                 done=done), wait)

    def fetch_add(self, local: Local, token: Token, remote_offset: int, add: int, *,
                  done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Add to 8 bytes of the peer's memory; "local" receives the previous value."""
        return self._post_one(Op(Opcode.FETCH_ADD, local, token, remote_offset, operand=add,
                                 done=done), True)

    def cmp_swap(self, local: Local, token: Token, remote_offset: int, expected: int,
                 desired: int, *, done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Replace 8 bytes of the peer's memory if they are as expected.

        The request succeeds in either case: "local" receives the previous value.
        """
        return self._post_one(Op(Opcode.CMP_SWAP, local, token, remote_offset, operand=expected,
                                 swap=desired, done=done), True)

    def export(self, local: Local, access: Access) -> Export:
        """Grant the peer access to a piece; send it the export's token."""
        return Export(self, "", local, access)

    def watch(self, region: Region, offset: int, old: int,
              timeout: Optional[float] = None) -> None:
        """Wait until the peer has changed a byte, polling; see kverbs_watch()."""
        if not 0 <= offset < len(region):
            raise IndexError("no byte of the region")
        ret = _call_until("kverbs_watch", _Deadline(timeout), self._open(),
                          region.address + offset, old)
        self.context._progress()
        _check(ret, "kverbs_watch")


class Listener(_Closing):
    """A listener, from Context.listen()."""

    def __init__(self, context: Context, handle: int) -> None:
        self.context = context
        self._handle: Optional[int] = handle

    def _open(self) -> int:
        if self._handle is None or self.context._handle is None:
            raise ValueError("the listener is closed")
        return self._handle

    @property
    def port(self) -> int:
        """The port that the listener is bound to."""
        return int(_lib.kverbs_listener_port(self._open()))

    def request(self, timeout: Optional[float] = None) -> Connection:
        """Wait for a peer's request, to be accepted or rejected."""
        handle = c_void_p()
        ret = _call_until("kverbs_next_request", _Deadline(timeout), self._open(),
                          after=(byref(handle),))
        self.context._progress()
        return self._connection(ret, handle)

    async def request_async(self, timeout: Optional[float] = None) -> Connection:
        """The same as request(), in an event loop."""
        handle = c_void_p()

        def next_request() -> Optional[int]:
            ret: int = _lib.kverbs_next_request(self._open(), 0, byref(handle))
            return None if ret in (-ETIMEDOUT, -EINTR) else ret

        try:
            ret = await self.context._until(next_request, timeout)
        except BaseException:
            # The coroutine was cancelled with a request in hand.
            if handle.value and self.context._handle is not None:
                _lib.kverbs_conn_free(handle.value)
            raise
        return self._connection(ret, handle)

    def _connection(self, ret: int, handle: c_void_p) -> Connection:
        _check(ret, "kverbs_next_request")
        assert handle.value
        return Connection(self.context, handle.value)

    def close(self) -> None:
        """Stop listening, and reject the requests that were not taken."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        if self.context._handle is not None:
            _lib.kverbs_listener_free(handle)
            self.context._progress()

    def __enter__(self) -> Listener:
        return self


class Group(_Closing):
    """Connections on which the same exports are valid, from Context.create_group()."""

    def __init__(self, context: Context, handle: int) -> None:
        self.context = context
        self._handle: Optional[int] = handle

    def _is_open(self) -> bool:
        return self._handle is not None and self.context._handle is not None

    def _open(self) -> int:
        if self._handle is None or self.context._handle is None:
            raise ValueError("the group is closed")
        return self._handle

    def export(self, local: Local, access: Access) -> Export:
        """Grant the peers of all connections of the group access to a piece."""
        return Export(self, "group_", local, access)

    def close(self) -> None:
        """Free the group; EBUSY while a connection or an export belongs to it."""
        if self._handle is None:
            return
        if self.context._handle is not None:
            _call("kverbs_group_free", self._handle)
        self._handle = None

    def __enter__(self) -> Group:
        return self


class Pool(_Closing):
    """Receive buffers that connections share, from Context.create_pool()."""

    def __init__(self, context: Context, handle: int) -> None:
        self.context = context
        self._handle: Optional[int] = handle
        self._requests: weakref.WeakSet[Request] = weakref.WeakSet()
        context._pools.add(self)

    def _open(self) -> int:
        if self._handle is None or self.context._handle is None:
            raise ValueError("the pool is closed")
        return self._handle

    def add(self, local: Local, *,
            done: Optional[Callable[[Request], Any]] = None) -> Request:
        """Add a buffer; WouldBlock: the pool is full.

        The request completes when a message has arrived in the buffer, on its "connection".
        """
        piece = _piece(local)
        request = Request(self.context, done)
        handle = self._open()
        buf = piece.region._open()
        request._begin((self, local))
        ret = -EINVAL
        try:
            ret = _lib.kverbs_pool_add(handle, buf, piece.offset, piece.length,
                                       byref(request._req))
        finally:
            if ret < 0:
                request._abort()
        _check(ret, "kverbs_pool_add")
        self._requests.add(request)
        return request

    def close(self) -> None:
        """Destroy the pool; EBUSY while a connection uses it.

        Requests of buffers that are still in the pool complete with ECANCELED.
        """
        if self._handle is None:
            return
        if self.context._handle is not None:
            _call("kverbs_pool_destroy", self._handle)
        self._gone()

    def _gone(self) -> None:
        self._handle = None
        self.context._pools.discard(self)
        for request in list(self._requests):
            request._lose()

    def __enter__(self) -> Pool:
        return self


# ---- devices and the context ------------------------------------------------------------------


@dataclass(frozen=True)
class Port:
    """A port of a device. "rate" is in bits per second."""

    number: int
    transport: Transport
    state: int
    max_mtu: int
    active_mtu: int
    rate: int
    ifname: str


@dataclass(frozen=True)
class Gid:
    """An address of a port."""

    gid: bytes
    port: int
    index: int
    type: int
    ifindex: int


@dataclass(frozen=True)
class Device:
    """A device with its ports and addresses. "usable" tells whether kverbs can use it."""

    index: int
    name: str
    driver: str
    fw_version: str
    caps: int
    usable: bool
    ports: List[Port]
    gids: List[Gid]


def _device(device: _Device) -> Device:
    attr = device.attr.contents
    ports = [Port(p.port, Transport(p.transport), p.state, p.max_mtu, p.active_mtu,
                  p.rate_100mbps * 100_000_000, p.ifname.decode())
             for p in device.ports[:device.nr_ports]]
    gids = [Gid(bytes(g.gid), g.port, g.index, g.type, g.ifindex)
            for g in device.gids[:device.nr_gids]]
    return Device(attr.out_index, attr.out_name.decode(), attr.out_driver.decode(),
                  attr.out_fw_version.decode(), attr.out_caps, not attr.out_unusable, ports, gids)


class Context(_Closing):
    """An open device node with its ring.

    "path" is the node, /dev/kverbs by default. "sq_entries" and "cq_entries" are the sizes of the
    ring, powers of two. "busy_poll": poll the device instead of sleeping; "softirq": let the
    kernel poll it in a softirq.
    """

    def __init__(self, path: Optional[str] = None, *, sq_entries: int = 0, cq_entries: int = 0,
                 busy_poll: bool = False, softirq: bool = False) -> None:
        self._handle: Optional[int] = None
        self._regions: Set[Region] = set()
        self._pools: Set[Pool] = set()
        self._connections: Dict[int, Connection] = {}
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._waiters: List[Tuple[Callable[[], Optional[int]], asyncio.Future[int]]] = []
        self._busy_poll = busy_poll
        opts = _Opts(sz=ctypes.sizeof(_Opts), path=os.fsencode(path) if path else None,
                     sq_entries=sq_entries, cq_entries=cq_entries, busy_poll=busy_poll,
                     softirq=softirq)
        handle = c_void_p()
        _call("kverbs_open", byref(handle), byref(opts))
        self._handle = handle.value

    def _open(self) -> int:
        if self._handle is None:
            raise ValueError("the context is closed")
        return self._handle

    def __enter__(self) -> Context:
        return self

    def close(self) -> None:
        """Close the context and all objects that were made with it."""
        if self._handle is None:
            return
        loop = self._detach()
        # One by one, so that the callback of one's request finds that another one is closed.
        for conn in list(self._connections.values()):
            conn.close()
        handle, self._handle = self._handle, None
        _lib.kverbs_close(handle)
        for pool in list(self._pools):
            pool._gone()
        for region in list(self._regions):
            region._gone()
        # Coroutines that wait find out that the context is closed.
        if loop is not None:
            loop.call_soon_threadsafe(self._look)

    def __del__(self) -> None:
        if sys.is_finalizing() or self.__dict__.get("_handle") is None:
            return
        self.close()

    def fileno(self) -> int:
        """Descriptor that is readable while completions are unread, for poll and select."""
        return int(_lib.kverbs_fd(self._open()))

    def process(self, timeout: Optional[float] = 0.0) -> int:
        """Read completions and run callbacks; return their number, 0 if the time is over."""
        ret = _call_until("kverbs_process", _Deadline(timeout), self._open())
        self._progress()
        return _check(ret, "kverbs_process")

    @property
    def abi(self) -> int:
        """Version of the module's interface."""
        return int(self._info().out_abi)

    @property
    def module_version(self) -> str:
        """Version of the module."""
        return str(self._info().out_version.decode())

    def _info(self) -> _Info:
        info = _Info()
        _call("kverbs_info", self._open(), byref(info), ctypes.sizeof(info))
        return info

    def devices(self) -> List[Device]:
        """Return all devices with their ports and addresses."""
        array = POINTER(_Device)()
        number = _call("kverbs_device_list", self._open(), byref(array))
        try:
            return [_device(array[i]) for i in range(number)]
        finally:
            _lib.kverbs_device_list_free(array, number)

    def explain(self, error: Error, connection: Optional[Connection] = None) -> List[Cause]:
        """Return likely causes of an error, the likeliest first.

        "connection" is the one that failed, not closed yet, if there is one.
        """
        failure = _Failure(sz=ctypes.sizeof(_Failure), error=-(error.errno or 0),
                           wc_status=error.wc_status,
                           conn=connection._open() if connection else None)
        answer = _Explanation()
        _call("kverbs_conn_explain", self._open(), byref(failure), byref(answer),
              ctypes.sizeof(answer))
        return [_cause(answer.causes[i]) for i in range(answer.nr_causes)]

    # memory

    def register(self, obj: Any, *, read_only: bool = False) -> Region:
        """Register the buffer of an object, which stays alive and keeps its size meanwhile.

        "read_only": the device only reads the memory, so that bytes can be registered.
        """
        return Region(self, obj, read_only)

    def import_shared(self, fd: int, obj: Any, *, read_only: bool = False) -> Region:
        """A region of the memory that a descriptor of Region.share() refers to.

        "obj" is a buffer that has that memory, such as a mapping of the same memfd, and has its
        size. The memory is pinned and charged once, by the region that was registered.
        """
        return Region(self, obj, read_only, fd)

    def allocate(self, size: int) -> Region:
        """Allocate page-aligned, zeroed memory and register it."""
        if size < 1:
            raise _error(EINVAL, "allocate")
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        # A child would share pinned pages, and one of the two lose them on write.
        memory.madvise(mmap.MADV_DONTFORK)
        return Region(self, memory)

    # connections

    def connect(self, host: str, port: Union[str, int], *, private_data: bytes = b"",
                source: Optional[str] = None, param: Optional[Param] = None,
                timeout: Optional[float] = DEFAULT_TIMEOUT, group: Optional[Group] = None,
                pool: Optional[Pool] = None,
                prepare: Optional[Callable[[Connection], Any]] = None) -> Connection:
        """Connect to a host and wait until the connection is established.

        "prepare" is called with the connection of each attempt, to post the receives that a peer
        may fill as soon as it has accepted. If the peer refuses, the exception's "private_data"
        is what it sends.
        """
        return _Attempt(self, pool, prepare).run(
            host, str(port), _conn_opts(param, source, private_data, timeout, group, pool))

    async def connect_async(self, host: str, port: Union[str, int], *, private_data: bytes = b"",
                            param: Optional[Param] = None,
                            timeout: Optional[float] = DEFAULT_TIMEOUT,
                            group: Optional[Group] = None, pool: Optional[Pool] = None,
                            prepare: Optional[Callable[[Connection], Any]] = None) -> Connection:
        """The same as connect(), in an event loop; the time is for each address of the host."""
        loop = asyncio.get_running_loop()
        failure: Optional[Error] = None
        try:
            found = await loop.getaddrinfo(host, str(port), type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise _error(ENXIO, "connect_async") from error
        for family, _, _, _, address in found:
            opts = _conn_opts(param, None, private_data, timeout, group, pool)
            try:
                return await self._connect_to(_sockaddr(family, address), opts, pool, prepare,
                                              timeout)
            except Error as error:
                failure = error
        raise failure or _error(ENXIO, "connect_async")

    async def _connect_to(self, address: bytes, opts: _ConnOpts, pool: Optional[Pool],
                          prepare: Optional[Callable[[Connection], Any]],
                          timeout: Optional[float]) -> Connection:
        handle = c_void_p()
        _call("kverbs_connect_start", self._open(), address, byref(opts), byref(handle))
        assert handle.value
        conn = Connection(self, handle.value, pool)
        try:
            if prepare:
                conn._prepare(prepare)
            await conn.wait_async(timeout)
        except Error as error:
            if isinstance(error, Refused):
                error.private_data = conn.private_data
            conn.close()
            raise
        except BaseException:
            conn.close()
            raise
        return conn

    def listen(self, port: Union[str, int, None] = None, host: Optional[str] = None,
               backlog: int = 0) -> Listener:
        """Listen for connections; without a port any free one is taken."""
        handle = c_void_p()
        _call("kverbs_listen", self._open(), host.encode() if host else None,
              None if port is None else str(port).encode(), backlog, byref(handle))
        assert handle.value
        return Listener(self, handle.value)

    def create_group(self, device_index: int) -> Group:
        """Create a group of connections on a device."""
        handle = c_void_p()
        _call("kverbs_group_create", self._open(), device_index, byref(handle))
        assert handle.value
        return Group(self, handle.value)

    def create_pool(self, entries: int = 0) -> Pool:
        """Create a pool of receive buffers, a power of two of them."""
        handle = c_void_p()
        _call("kverbs_pool_create", self._open(), entries, byref(handle))
        assert handle.value
        return Pool(self, handle.value)

    # event loops

    def _attach(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            raise RuntimeError("the context belongs to another event loop")
        if self._busy_poll:
            raise _error(EOPNOTSUPP, "a context with busy_poll in an event loop")
        self._waiters.clear()
        loop.add_reader(self.fileno(), self._readable)
        self._loop = loop

    def _detach(self) -> Optional[asyncio.AbstractEventLoop]:
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed():
            return None
        loop.remove_reader(self.fileno())
        return loop

    def _readable(self) -> None:
        ret: int = _lib.kverbs_process(self._open(), 0)
        if ret < 0 and ret not in (-EINTR, -EAGAIN):
            _check(ret, "kverbs_process")
        self._look()

    def _progress(self) -> None:
        """Let coroutines look again: a call may have read the completion that they wait for."""
        if self._waiters and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        for waiter in list(self._waiters):
            check, future = waiter
            if future.done():
                continue
            try:
                ret = check()
            except Exception as error:
                future.set_exception(error)
                continue
            if ret is not None:
                future.set_result(ret)

    async def _until(self, check: Callable[[], Optional[int]], timeout: Optional[float]) -> int:
        loop = asyncio.get_running_loop()
        self._attach(loop)
        ret = check()
        if ret is not None:
            return ret
        future: asyncio.Future[int] = loop.create_future()
        waiter = (check, future)
        self._waiters.append(waiter)
        try:
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            return -ETIMEDOUT
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)


class _Attempt:
    """One call of connect(): what the library calls back, and what comes of it."""

    def __init__(self, context: Context, pool: Optional[Pool],
                 prepare: Optional[Callable[[Connection], Any]]) -> None:
        self._context = context
        self._pool = pool
        self._prepare = prepare
        self._conn: Optional[Connection] = None
        self._raised: Optional[BaseException] = None
        self._private_data = b""

    def _prepared(self, handle: int, _arg: int) -> int:
        self._forget()
        self._conn = Connection(self._context, handle, self._pool)
        if not self._prepare:
            return 0
        try:
            return 0 if self._conn._prepare(self._prepare) else -ENOTCONN
        except BaseException as error:
            self._raised = error
            return -EIO

    def _refused(self, _handle: int, _arg: int) -> bool:
        if self._conn:
            self._private_data = self._conn.private_data
        return False

    def _forget(self) -> None:
        """The library has freed the connection of the attempt before."""
        if self._conn:
            self._conn._gone()
        self._conn = None

    def run(self, host: str, port: str, opts: _ConnOpts) -> Connection:
        """Connect, or raise why that is not possible."""
        handle = c_void_p()
        opts.prepare = _prepare_fn(self._prepared)
        opts.refused = _refused_fn(self._refused)
        ret = -EINTR
        while ret == -EINTR and not self._raised:
            ret = _lib.kverbs_connect(self._context._open(), host.encode(), port.encode(),
                                      byref(opts), byref(handle))
        self._context._progress()
        if not ret and self._conn:
            return self._conn
        self._forget()
        self._fail(ret)

    def _fail(self, ret: int) -> NoReturn:
        if self._raised:
            raise self._raised
        raise _error(-ret, "kverbs_connect", private_data=self._private_data)
