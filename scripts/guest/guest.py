# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One guest: its QEMU process, its channels, the files that cross into it."""

import ctypes
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile

import initramfs

NAMES = ("console", "control", "out", "err")
PR_SET_PDEATHSIG = 1


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _quote(path):
    return shlex.quote(os.fspath(path))


class Stream:
    """Bytes up to a marker that only we and this guest know."""

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
    """What scripts/vm says to one guest and hears from it."""

    def __init__(self, name, directory, options):
        self.name = name
        self.directory = directory
        self.options = options
        self.process = None
        self.sockets = {}
        self.console = bytearray()
        self.state = set()
        self.step = "boot"
        self.status = None
        self.why = None
        self.gets = []
        self.puts = []
        self.peer = None
        self.marker = b"\0" + os.urandom(16).hex().encode()
        self.streams = {}
        self._line = b""
        self.job = os.path.join(directory, "xchg", "job")
        os.makedirs(self.job)
        os.makedirs(os.path.join(directory, "xchg", "get"))

    # What is handed over before the start

    def set_sinks(self, out, err):
        self.streams = {"out": Stream(self.marker, out), "err": Stream(self.marker, err)}

    def _write(self, name, text):
        with open(os.path.join(self.job, name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def write_command(self, name, words, silent=False):
        """A script of one shell text, or of several words taken as they are."""
        options = self.options
        lines = [f"export {key}={shlex.quote(value)}" for key, value in options.environment.items()]
        lines.append(f"cd {_quote(options.cwd)} || exit 127")
        if silent:
            lines.append("exec >/dev/null 2>&1")
        lines.append(words[0] if len(words) == 1 else "exec " + " ".join(map(shlex.quote, words)))
        self._write(name, "\n".join(lines) + "\n")

    def write_job(self):
        options = self.options
        values = {
            "host": self.name,
            "link": "eth0" if self.peer else "dummy0",
            "type": options.provider,
            "modules": os.path.dirname(options.tree),
            "module": options.module or "",
            "module_params": options.module_params,
            "disks": "y" if options.disk else "",
            "top": options.top,
            "cwd": options.cwd,
            "kmemleak": "y" if options.kmemleak else "",
            "coverage": "y" if options.coverage else "",
            "root": options.root or "",
            "marker": self.marker[1:].decode(),
        }
        self._write("guest", "".join(f"{key}={_quote(value)}\n" for key, value in values.items()))
        prepare = []
        for host, path in self.puts:
            prepare.append(f"mkdir -p {_quote(os.path.dirname(path) or '/')}")
            prepare.append(f"cp -aLT {_quote('/run/vm/root' + os.path.realpath(host))} {_quote(path)}")
        collect = [f"cp -aLT {_quote(path)} /run/vm/xchg/get/{n}" for n, (path, _) in enumerate(self.gets)]
        if prepare:
            self._write("prepare", "\n".join(prepare) + "\n")
        if collect:
            self._write("collect", "\n".join(collect) + "\n")

    # The machine

    def _disks(self):
        arguments = []
        for kind in ("ext4", "xfs"):
            path = os.path.join(self.directory, kind)
            with open(path, "wb") as file:
                file.truncate(self.options.disk)
            subprocess.run([f"/sbin/mkfs.{kind}", "-q", path], check=True, stdout=subprocess.DEVNULL)
            arguments += ["-drive", f"file={path},format=raw,if=none,id={kind},cache=unsafe"]
            arguments += ["-device", f"virtio-blk-pci,drive={kind}"]
        return arguments

    def _kernel(self):
        """An image that needs no decompressing, if there is one."""
        names = ("vmlinux", "vmlinuz")
        paths = [os.path.join(self.options.kernel_dir, name) for name in names]
        return next(path for path in paths if os.path.exists(path))

    def start(self):
        options = self.options
        image = os.path.join(self.directory, "initramfs")
        initramfs.write(image, os.path.join(options.top, "scripts", "guest", "init"), options.tree)
        # On a busy host the kernel may find no tick of the timer that it tests, and panic.
        append = "console=ttyS0 loglevel=4 panic=-1 log_buf_len=4M mitigations=off rdinit=/init"
        # Vice versa it may call a good clock unstable, and then every look at one is slow.
        append += " no_timer_check tsc=reliable"
        # The emulator translates code anew for each address at which it meets it.
        append += " norandmaps"
        append += " watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60 net.ifnames=0 " + options.append
        command = [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-name", f"kverbs-{self.name}", "-smp", str(options.smp), "-m", options.mem,
            "-kernel", self._kernel(), "-initrd", image, "-append", append,
            "-fsdev", f"local,id=root,path={options.root or '/'},security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
            "-fsdev", f"local,id=xchg,path={self.directory}/xchg,security_model=none",
            "-device", "virtio-9p-pci,fsdev=xchg,mount_tag=xchg",
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            *options.accel,
        ]
        theirs = []
        for number, name in enumerate(NAMES):
            ours, other = socket.socketpair()
            self.sockets[name] = ours
            theirs.append(other)
            command += ["-chardev", f"socket,id={name},fd={other.fileno()}"]
            if name == "console":
                command += ["-serial", "chardev:console"]
            else:
                command += ["-device", f"virtserialport,chardev={name},nr={number}"]
        if self.peer:
            # 4200 leaves room for the headers of an RDMA MTU of 4096.
            mac = "52:54:00:00:00:0" + ("1" if self.name == "a" else "2")
            command += ["-netdev", f"socket,id=net,fd={self.peer.fileno()}"]
            command += ["-device", f"virtio-net-pci,netdev=net,host_mtu=4200,mac={mac}"]
            theirs.append(self.peer)
        if options.disk:
            command += self._disks()
        with open(os.path.join(self.directory, "qemu.log"), "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[each.fileno() for each in theirs], preexec_fn=_die_with_parent,
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
        """Take what a channel has; False at its end, which is QEMU's end."""
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

    def met_kverbs(self):
        """Whether what hangs now can be of our making."""
        return bool(self.options.root) or self.step.startswith(("insmod", "/bin/bash"))

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def killed_by(self):
        """The signal that ended the emulator, which is about to end; 0 if none did."""
        try:
            return max(0, -self.process.wait(timeout=10))
        except subprocess.TimeoutExpired:
            return 0

    # What remains after the end

    def read(self, name):
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def log(self):
        """The kernel's whole log if the guest lived to hand it over, else what it printed."""
        return self.read("xchg/dmesg") or self.console.decode(errors="replace").replace("\r", "")

    def keep_coverage(self, directory):
        """Add what of the module has run to what other guests have."""
        source = os.path.join(self.directory, "xchg", "coverage")
        if os.path.isdir(source):
            shutil.copytree(source, tempfile.mkdtemp(dir=directory), dirs_exist_ok=True)

    def fetch(self):
        """Move what was asked for to its place on the host; the paths that were not there."""
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
