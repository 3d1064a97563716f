# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run one measurement with one tool; each returns figures by name, or raises Broken."""

import json
import math
import os
import re
import selectors
import signal
import subprocess
import time

import cases

HOST = "a"
ADDRESS = "192.0.2.1"
LIMIT = 90
# perftest with events sometimes sleeps for ever; its runs are short.
PERFTEST_LIMIT = 30
PROGRAMS = {
    "send-bw": "ib_send_bw", "write-bw": "ib_write_bw", "read-bw": "ib_read_bw",
    "send-lat": "ib_send_lat", "write-lat": "ib_write_lat", "read-lat": "ib_read_lat",
}
CONNECT_STEPS = ("create id", "bind addr", "resolve addr", "resolve route", "create qp", "connect")


class Broken(Exception):
    """A tool has printed no figure; with its last output."""


def tail(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(lines[-3:]) or "it said nothing"


class Process:
    """A command and its output; it is terminated when the context is left."""

    def __init__(self, *command):
        self.command = [str(word) for word in command]
        self.text = ""
        self.child = subprocess.Popen(["stdbuf", "-oL", *self.command], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGKILL)
        self.child.communicate()

    def wait_for(self, pattern, seconds=LIMIT):
        """Wait for the first match in its output."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.child.stdout, selectors.EVENT_READ)
            while True:
                match = re.search(pattern, self.text, re.M)
                if match:
                    return match
                if not selector.select(max(0, until - time.monotonic())):
                    raise Broken(f"{self.command[0]} took longer than {seconds} s: {tail(self.text)}")
                data = os.read(self.child.stdout.fileno(), 65536)
                if not data:
                    raise Broken(f"{self.command[0]} ended: {tail(self.text)}")
                self.text += data.decode(errors="replace")

    def await_listen(self):
        """Wait until rdma_cm lists it as a listener."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            shown = subprocess.run(["rdma", "resource", "show", "cm_id", "pid", str(self.child.pid)],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            if b"state LISTEN" in shown.stdout:
                return
            if self.child.poll() is not None:
                raise Broken(f"{self.command[0]} ended: {tail(self.child.stdout.read().decode())}")
            time.sleep(0.02)
        raise Broken(f"{self.command[0]} does not listen")


def output(*command):
    """Return the output of a command that must succeed, and its duration."""
    began = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    took = time.monotonic() - began
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        raise Broken(f"{command[0]} gives {done.returncode}: {tail(text)}")
    return text, took


# ---- perftest --------------------------------------------------------------------


def perftest_command(case, count, events):
    operation = case["operation"]
    command = [PROGRAMS[operation], "-R", "-F", "-s", case["size"], "-n", count]
    if operation.endswith("-bw"):
        command += ["-t", case["depth"], "-Q", case["moderation"]]
        if case["list"] > 1:
            command += ["-l", case["list"]]
        if operation == "send-bw":
            command += ["-r", cases.RECEIVES]
        if operation == "send-bw" and case["list"] > 1:
            command += [f"--recv_post_list={case['list']}"]
        if case["lanes"] > 1:
            command += ["-q", case["lanes"]]
    return command + (["-e"] if events else [])


def parse_perftest(operation, line):
    """Return the figures in the line of results.

    perftest times its clock first, and if it is interrupted too often in that, it takes a frequency
    of 0: rates become 0, times infinite.
    """
    words = line.split()
    try:
        numbers = [float(word) for word in words]
        first = 3 if operation.endswith("-bw") else 4
        if not 0 < numbers[first] < math.inf:
            raise Broken(f"perftest does not know its clock: {line.strip()}")
        if operation.endswith("-bw"):
            return {"MiBps": numbers[3], "Mpps": numbers[4]}
        return {"p50_us": numbers[4], "avg_us": numbers[5], "p99_us": numbers[7]}
    except (ValueError, IndexError):
        raise Broken(f"what perftest says is not understood: {line.strip()}") from None


def perftest(case, count, events=False):
    command = perftest_command(case, count, events)
    with Process(*command) as server:
        server.await_listen()
        with Process(*command, ADDRESS) as client:
            line = client.wait_for(rf"^ *{case['size']} +\d+ .*\n", PERFTEST_LIMIT)
            return parse_perftest(case["operation"], line[0])


# ---- kverbs bench ----------------------------------------------------------------


def bench_command(case, count, events, engine=None):
    command = ["kverbs", "bench", case["operation"], HOST, "--json", "-s", case["size"], "-n", count]
    if case["operation"].endswith("-bw"):
        command += ["-t", case["depth"], "-r", cases.RECEIVES, "-l", case["list"],
                    "-Q", case["moderation"], "-q", case["lanes"]]
    if case["lanes"] > 1 or case["part"] == "many":
        command[command.index("-r") + 1] = case["depth"]
    if engine:
        command += ["--engine", engine]
    return command + (["-e"] if events else [])


def parse_bench(text):
    """Return the figures in the only row of results."""
    row, = json.loads(text)["rows"]
    if "bw_avg_MiBps" in row:
        figures = {"MiBps": row["bw_avg_MiBps"], "Mpps": row["msg_rate_Mpps"]}
    else:
        figures = {"p50_us": row["p50_us"], "avg_us": row["t_avg_us"], "p99_us": row["p99_us"]}
    for side in "client", "server":
        for key, value in row.get(side, {}).items():
            figures[f"{side}_{key}"] = value
    return figures


def bench(case, count, events=False, engine=None):
    return parse_bench(output(*bench_command(case, count, events, engine))[0])


# ---- the others ------------------------------------------------------------------


def parse_cmtime(text):
    """Return the microseconds of each step of a connection's setup."""
    steps = {}
    for line in text.splitlines():
        name, colon, numbers = line.partition(":")
        if colon and len(numbers.split()) >= 4:
            steps[name.strip()] = float(numbers.split()[3])
    if not steps.get("connect"):
        raise Broken(f"what cmtime says is not understood: {tail(text)}")
    return {"us": sum(steps.get(step, 0) for step in CONNECT_STEPS),
            "end_us": steps.get("disconnect", 0) + steps.get("destroy", 0)}


def cmtime_run(connections):
    with Process("cmtime", "-b", ADDRESS, "-c", connections) as server:
        server.await_listen()
        return parse_cmtime(output("cmtime", "-s", ADDRESS, "-c", connections)[0])


def cmtime(_case, count):
    runs = sorted((cmtime_run(1) for _ in range(count)), key=lambda run: run["us"])
    return runs[len(runs) // 2]


def connect(_case, count):
    rows = json.loads(output("kverbs", "bench", "connect", HOST, "--json", "-n", count)[0])["rows"]
    steps = {row["step"]: row["p50_us"] for row in rows}
    return {"us": steps["established"], "end_us": steps["disconnected"] + steps["destroyed"],
            **{f"step_{row['step']}_{q}_us": row[f"{q}_us"] for row in rows for q in ("p50", "p99")}}


def round_trip(few, many, command):
    """Return one round trip from the difference of two runs, without setup and teardown."""
    short, long = (output(*command(number))[1] for number in (few, many))
    return {"us": (long - short) * 1e6 / (many - few)}


def rping(case, count):
    with Process("rping", "-s", "-P", "-a", ADDRESS, "-S", case["size"]) as server:
        server.await_listen()
        return round_trip(5, count + 5, lambda n: (
            "rping", "-c", "-a", ADDRESS, "-S", case["size"], "-C", n))


def ping(case, count):
    with Process("rping", "-s", "-P", "-a", ADDRESS, "-S", case["size"]) as server:
        server.await_listen()
        return round_trip(5, count + 5, lambda n: (
            "kverbs", "ping", "--rping", "-q", "-i", "0", "-s", case["size"], "-c", n, HOST))


def source_of(count):
    path = f"/tmp/source-{count}"
    if not os.path.exists(path):
        with open(path, "wb") as file:
            for _ in range(count):
                file.write(os.urandom(cases.MIB))
    return path


def rcopy(_case, count):
    source = source_of(count)
    with Process("rcopy") as server:
        server.await_listen()
        _, took = output("rcopy", source, f"{ADDRESS}:/tmp/rcopied")
    os.unlink("/tmp/rcopied")
    return {"MiBps": count / took}


def cp(_case, count):
    text, took = output("kverbs", "cp", "--json", source_of(count), f"{HOST}:/copied")
    os.unlink(f"{ROOT}/copied")
    return {"MiBps": count / took, "own_MiBps": json.loads(text)["rate_MBps"] / 1.048576}


# The root of kverbs serve, on a tmpfs as /tmp is.
ROOT = "/tmp/root"
RUN = {
    "perftest": perftest,
    "perftest-e": lambda case, count: perftest(case, count, True),
    "user": bench,
    "user-e": lambda case, count: bench(case, count, True),
    "kernel": lambda case, count: bench(case, count, False, "kernel"),
    "kernel-e": lambda case, count: bench(case, count, True, "kernel"),
    "rping": rping,
    "ping": ping,
    "cmtime": cmtime,
    "cmtime-many": lambda _case, count: cmtime_run(5 * count),
    "connect": lambda case, count: connect(case, 5 * count),
    "rcopy": rcopy,
    "cp": cp,
    "write": lambda case, count: bench({**case, "operation": "write-bw"}, count),
}
