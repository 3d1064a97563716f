# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest in QEMU."""

import os
import subprocess

from guest import Guest


class Qemu(Guest):
    """A machine that QEMU emulates, with as many CPUs and hosts as are wanted."""

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
        append = self.append(
            "console=ttyS0", "panic=-1", "mitigations=off", "watchdog_thresh=30",
            # On a busy host the kernel may find no tick of the timer that it tests, and panic.
            "no_timer_check",
            # Vice versa it may call a good clock unstable, and then every look at one is slow.
            "tsc=reliable",
            # The emulator translates code anew for each address at which it meets it.
            "norandmaps",
            # A CPU of QEMU 7.2 that translates code while another patches it may go on with what
            # was there before (fixed in 8.1 by deba78709ae8), and die of a breakpoint that is
            # gone. Of a dozen times that 6.12 patches itself (but for modules, before they run)
            # ten are over when /init starts the other CPUs, and a running guest has hardly any.
            "maxcpus=1", "noreplace-smp",
        )
        command = [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-name", f"kverbs-{self.name}", "-smp", str(options.smp), "-m", options.mem,
            "-kernel", self._kernel(), "-initrd", self.write_initramfs(),
            "-append", " ".join(append),
            "-fsdev", f"local,id=root,path={options.root or '/'},security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
            "-fsdev", f"local,id=xchg,path={self.directory}/xchg,security_model=none",
            "-device", "virtio-9p-pci,fsdev=xchg,mount_tag=xchg",
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            *options.accel,
        ]
        theirs = self.open_channels()
        for number, (name, end) in enumerate(theirs.items()):
            command += ["-chardev", f"socket,id={name},fd={end.fileno()}"]
            if name == "console":
                command += ["-serial", "chardev:console"]
            else:
                command += ["-device", f"virtserialport,chardev={name},nr={number}"]
        ends = list(theirs.values())
        if self.peer:
            # 4200 leaves room for the headers of an RDMA MTU of 4096.
            mac = "52:54:00:00:00:0" + ("1" if self.name == "a" else "2")
            command += ["-netdev", f"socket,id=net,fd={self.peer.fileno()}"]
            command += ["-device", f"virtio-net-pci,netdev=net,host_mtu=4200,mac={mac}"]
            ends.append(self.peer)
        if options.disk:
            command += self._disks()
        with open(os.path.join(self.directory, "machine.log"), "wb") as log:
            self.spawn(command, ends, log)

    def killed_by(self):
        """The signal that ended the emulator, which is about to end; 0 if none did."""
        try:
            return max(0, -self.process.wait(timeout=10))
        except subprocess.TimeoutExpired:
            return 0
