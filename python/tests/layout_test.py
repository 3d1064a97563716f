#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The module's structs, constants and functions are those of the headers."""

import ctypes
import os
import re
import subprocess
import tempfile

import t
from t import kverbs

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")

STRUCTS = {
    "kverbs_opts": kverbs._Opts,
    "kverbs_conn_param": kverbs._ConnParam,
    "kverbs_conn_opts": kverbs._ConnOpts,
    "kverbs_segment": kverbs._Segment,
    "kverbs_token": kverbs._Token,
    "kverbs_req": kverbs._Req,
    "kverbs_vec": kverbs._Vec,
    "kverbs_op": kverbs._Op,
    "kverbs_port": kverbs._Port,
    "kverbs_gid": kverbs._Gid,
    "kverbs_cmd_device_query": kverbs._DeviceQuery,
    "kverbs_device": kverbs._Device,
    "kverbs_addr": kverbs._Addr,
    "kverbs_cmd_conn_query": kverbs._ConnQuery,
    "kverbs_cmd_info": kverbs._Info,
    "kverbs_failure": kverbs._Failure,
    "kverbs_counter": kverbs._Counter,
    "kverbs_explanation": kverbs._Explanation,
}

CONSTANTS = {
    **{f"KVERBS_REMOTE_{access.name}": access for access in kverbs.Access},
    **{f"KVERBS_OP_{opcode.name}": opcode for opcode in kverbs.Opcode},
    **{f"KVERBS_CONN_{state.name}": state for state in kverbs.State},
    **{f"KVERBS_TRANSPORT_{transport.name}": transport for transport in kverbs.Transport},
    "KVERBS_REGION_READ_ONLY": kverbs._REGION_READ_ONLY,
    "KVERBS_SQE_FENCE": kverbs._SQE_FENCE,
    "KVERBS_SQE_SOLICITED": kverbs._SQE_SOLICITED,
    "KVERBS_CQE_F_IMM": kverbs._CQE_F_IMM,
    "KVERBS_CQE_F_WRITE": kverbs._CQE_F_WRITE,
    "KVERBS_CQE_F_INV": kverbs._CQE_F_INV,
    "KVERBS_CQE_F_MORE": kverbs._CQE_F_MORE,
    "KVERBS_PARAM_RETRY": kverbs._PARAM_RETRY,
    "KVERBS_PARAM_RNR_RETRY": kverbs._PARAM_RNR_RETRY,
    "KVERBS_PARAM_RNR_TIMER": kverbs._PARAM_RNR_TIMER,
    "KVERBS_PARAM_ACK_TIMEOUT": kverbs._PARAM_ACK_TIMEOUT,
    "KVERBS_PARAM_TOS": kverbs._PARAM_TOS,
    "KVERBS_LIST_MAX": kverbs.LIST_MAX,
    "KVERBS_COPY_MAX": kverbs.COPY_MAX,
}

# Why the module does not call a function.
NOT_CALLED = {
    "by kverbs_post()": {
        "kverbs_cmp_swap", "kverbs_fetch_add", "kverbs_read", "kverbs_recv", "kverbs_send",
        "kverbs_send_imm", "kverbs_send_inv", "kverbs_write", "kverbs_write_imm",
        "kverbs_readv", "kverbs_recvv", "kverbs_sendv", "kverbs_writev"},
    "memory is Python's": {"kverbs_buf_addr", "kverbs_buf_alloc", "kverbs_buf_register_dmabuf",
                           "kverbs_buf_register_fd"},
    "threads take turns in Python": {"kverbs_worker_open"},
    "a signal handler raises an exception in a wait": {"kverbs_wakeup", "kverbs_wakeup_clear"},
    "an exported buffer of Python does not move": {"kverbs_buf_stale"},
    "objects have attributes": {"kverbs_conn_data", "kverbs_conn_set_data", "kverbs_req_conn"},
    "Request.complete": {"kverbs_complete"},
    "enumerations have names": {"kverbs_conn_state_str", "kverbs_transport_str",
                                "kverbs_gid_type_str"},
    "Context.explain() compares no counters": {"kverbs_counters_free", "kverbs_counters_read"},
    "requests have callbacks": {"kverbs_poll", "kverbs_wait_any"},
    "one system call less is no gain here": {"kverbs_post_wait", "kverbs_post_watch"},
    "for measuring the kernel": {"kverbs_bench"},
}


def named(members):
    """Members with a meaning, by the header's names."""
    return [(name.rstrip("_"), name) for name, *_ in members if not name.startswith("reserved")]


def numbers_of_c():
    """Sizes, offsets and constants as a C compiler has them."""
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for member, _ in named(struct._fields_):
            at = f"offsetof(struct {name}, {member})"
            lines.append(f'printf("{name}.{member} %zu\\n", {at});')
    for name in CONSTANTS:
        lines.append(f'printf("{name} %llu\\n", (unsigned long long){name});')
    body = "\n\t".join(lines)
    source = f"#include <stdio.h>\n#include <kverbs.h>\nint main(void)\n{{\n\t{body}\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "layout")
        subprocess.run([*os.environ.get("CC", "cc").split(), "-I", f"{TOP}/uapi", "-I",
                        f"{TOP}/userspace-tool/include", "-x", "c", "-", "-o", program],
                       input=source, text=True, check=True)
        out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: int(line.split()[1]) for line in out.splitlines()}


def exported():
    with open(f"{TOP}/userspace-tool/lib/libkverbs.map", encoding="utf-8") as file:
        return set(re.findall(r"\bkverbs_\w+(?=;)", file.read()))


class Layout(t.Case):
    def test_structs_and_constants_are_those_of_the_headers(self):
        found = numbers_of_c()
        for name, struct in STRUCTS.items():
            self.assertEqual(ctypes.sizeof(struct), found[name], name)
            for member, own in named(struct._fields_):
                self.assertEqual(getattr(struct, own).offset, found[f"{name}.{member}"],
                                 f"{name}.{member}")
        for name, value in CONSTANTS.items():
            self.assertEqual(int(value), found[name], name)

    def test_every_function_of_the_library_is_called_or_has_a_reason(self):
        called = set(kverbs._CALLS) | set(kverbs._OTHERS)
        others = set().union(*NOT_CALLED.values())
        self.assertEqual(called | others, exported())
        self.assertEqual(called & others, set())

    def test_every_function_can_be_loaded(self):
        for name in (*kverbs._CALLS, *kverbs._OTHERS):
            self.assertTrue(callable(getattr(kverbs._lib, name)), name)
        self.assertRaises(AttributeError, getattr, kverbs._lib, "kverbs_nothing")

    def test_every_public_name_is_documented(self):
        for name in kverbs.__all__:
            thing = getattr(kverbs, name)
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if callable(value) and not member.startswith("_"):
                    self.assertTrue(value.__doc__, f"{name}.{member}")


t.main()
