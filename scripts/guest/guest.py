# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Common code of all kinds of guests: the process, its channels, files for the guest."""

import ctypes
import os
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import initramfs

NAMES = ("console", "control", "out", "err")
PR_SET_PDEATHSIG = 1


def _prepare():
    """Run in the child: die with the parent, and dump no core of a guest's memory."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def quote(path):
    return shlex.quote(os.fspath(path))


class Stream:
    """A stream of bytes that ends at a marker known only to this guest and its host."""

    def __init__(self, marker, sink):
        self.marker = marker
        self.sink = sink
        self.held = b""
        self.ended = False

    def feed(self, data):
        data = self.held + data
        self.held = b""
        if data.endswith(self.marker):
            self.ended = True
            data = data[: -len(self.marker)]
        else:
            for length in range(min(len(data), len(self.marker) - 1), 0, -1):
                if data.endswith(self.marker[:length]):
                    self.held = data[-length:]
                    data = data[:-length]
                    break
        if data:
            self.sink(data)


class Guest:
    """The communication of scripts/vm with one guest; subclasses implement start()."""

    def __init__(self, name, directory, options):
        self.name = name
        self.directory = directory
        self.options = options
        self.process = None
        self.sockets = {}
        self.console = bytearray()
        self.state = set()
        self.times = []
        self.step = "boot"
        self.status = None
        self.why = None
        self.gets = []
        self.puts = []
        self.links = ()
        self.marker = b"\0" + os.urandom(16).hex().encode()
        self.streams = {}
        self._line = b""
        self.job = os.path.join(directory, "xchg", "job")
        os.makedirs(self.job)
        os.makedirs(os.path.join(directory, "xchg", "get"))

    # Before the start

    def set_sinks(self, out, err):
        self.streams = {"out": Stream(self.marker, out), "err": Stream(self.marker, err)}

    def _write(self, name, text):
        with open(os.path.join(self.job, name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def write_command(self, name, words, silent=False):
        """Write a script from one shell command line, or from several words taken literally."""
        options = self.options
        lines = [f"export {key}={shlex.quote(value)}" for key, value in options.environment.items()]
        lines.append(f"cd {quote(options.cwd)} || exit 127")
        if silent:
            lines.append("exec >/dev/null 2>&1")
        lines.append(words[0] if len(words) == 1 else "exec " + " ".join(map(shlex.quote, words)))
        self._write(name, "\n".join(lines) + "\n")

    def write_job(self):
        options = self.options
        values = {
            "host": self.name,
            "links": " ".join(f"eth{n}" for n in range(len(self.links))) or "dummy0",
            "type": options.provider,
            "modules": os.path.dirname(options.tree),
            "module": options.module or "",
            "module_params": options.module_params,
            "disks": "y" if options.disk else "",
            "top": options.top,
            "cwd": options.cwd,
            "cache": options.cache if options.foreign else "",
            "kmemleak": "y" if options.kmemleak else "",
            "coverage": "y" if options.coverage else "",
            "root": options.root or "",
            "marker": self.marker[1:].decode(),
        }
        self._write("guest", "".join(f"{key}={quote(value)}\n" for key, value in values.items()))
        prepare = []
        for host, path in self.puts:
            prepare.append(f"mkdir -p {quote(os.path.dirname(path) or '/')}")
            prepare.append(f"cp -aLT {quote('/run/vm/root' + os.path.realpath(host))} {quote(path)}")
        collect = [f"cp -aLT {quote(path)} /run/vm/xchg/get/{n}" for n, (path, _) in enumerate(self.gets)]
        if prepare:
            self._write("prepare", "\n".join(prepare) + "\n")
        if collect:
            self._write("collect", "\n".join(collect) + "\n")

    # The machine

    def write_initramfs(self):
        """Write the initramfs to a file and return its path."""
        path = os.path.join(self.directory, "initramfs")
        initramfs.write(path, os.path.join(self.options.top, "scripts", "guest", "init"), self.options.tree,
                        self.options.system if self.options.foreign else "/")
        return path

    def append(self, *words):
        """Return the kernel's command line: common parameters, words, the caller's parameters."""
        common = ["loglevel=4", "log_buf_len=4M", "rdinit=/init", "net.ifnames=0",
                  "rcupdate.rcu_cpu_stall_timeout=60"]
        return [*common, *words, *self.options.append.split()]

    def open_channels(self):
        """Return the guest's end of every channel, by name."""
        theirs = {}
        for name in NAMES:
            self.sockets[name], theirs[name] = socket.socketpair()
        return theirs

    def spawn(self, command, theirs, output):
        """Start the machine; it inherits its ends of the channels, which are closed here."""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            pass_fds=[each.fileno() for each in theirs], preexec_fn=_prepare,
            start_new_session=True,
        )
        for each in theirs:
            each.close()

    def say(self, word):
        try:
            self.sockets["control"].sendall(word.encode() + b"\n")
        except OSError:
            pass  # it died; the loop will notice

    def receive(self, name):
        """Read from a channel; False at end of file, when the emulator has exited."""
        try:
            data = self.sockets[name].recv(1 << 18)
        except ConnectionError:
            data = b""
        if not data:
            return False
        if name == "console":
            self.console += data
        elif name == "control":
            *lines, self._line = (self._line + data).split(b"\n")
            for line in lines:
                self._hear(*line.decode(errors="replace").strip().partition(" ")[::2])
        else:
            self.streams[name].feed(data)
        return True

    def _hear(self, word, rest):
        self.state.add(word)
        if word == "exit":
            self.status = int(rest)
        elif word == "at":
            self.step = rest
        elif word == "fail":
            self.why = rest
        elif word in ("ready", "end"):
            self.times.append((time.monotonic(), float(rest)))

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def killed_by(self):
        """Return the signal that killed an emulator with a healthy guest; else 0."""
        return 0

    # After the end

    def haste(self):
        """Return how many times too fast the guest's clock was, or 1 if the host's delays explain that."""
        if len(self.times) < 2 or self.options.icount:
            return 1
        (start, first), (end, last) = self.times
        took = end - start
        return (last - first) / took if last - first > 1.5 * took + 5 else 1

    def read(self, name):
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def log(self):
        """Return the complete kernel log if the guest has delivered it, else its console output."""
        return self.read("xchg/dmesg") or self.console.decode(errors="replace").replace("\r", "")

    def keep_coverage(self, directory):
        """Add the module's coverage to that of other guests."""
        source = os.path.join(self.directory, "xchg", "coverage")
        if os.path.isdir(source):
            shutil.copytree(source, tempfile.mkdtemp(dir=directory), dirs_exist_ok=True)

    def fetch(self):
        """Move requested files to their place on the host; return the missing paths."""
        missing = []
        for number, (path, host) in enumerate(self.gets):
            source = os.path.join(self.directory, "xchg", "get", str(number))
            if not os.path.lexists(source):
                missing.append(path)
            elif os.path.isdir(source):
                shutil.copytree(source, host, dirs_exist_ok=True, symlinks=True)
            else:
                shutil.copy(source, host)
        return missing
