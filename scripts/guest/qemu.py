# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest in QEMU."""

import os
import socket
import subprocess

from guest import Guest


class Qemu(Guest):
    """A machine emulated by QEMU, with any number of CPUs and one or two hosts."""

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

    def _hca(self):
        """Return the device of tests/hca, and a monitor that the guest has at the other end of a port."""
        near, far = socket.socketpair()
        return [
            "-device", "pcie-root-port,id=socket,chassis=1",
            "-device", "edu,id=edu,bus=socket,dma_mask=0xffffffffffffffff",
            "-chardev", f"socket,id=monitor,fd={near.fileno()}", "-mon", "chardev=monitor,mode=readline",
            "-chardev", f"socket,id=operator,fd={far.fileno()}",
            "-device", "virtserialport,chardev=operator,nr=4",
        ], [near, far]

    def _kernel(self):
        """Return the uncompressed image, if there is one."""
        names = ("vmlinux", "vmlinuz")
        paths = [os.path.join(self.options.kernel_dir, name) for name in names]
        return next(path for path in paths if os.path.exists(path))

    def _jiffy(self):
        """Return the argument that spares each CPU to measure its loops per jiffy, for 2 s."""
        path = os.path.join(self.options.kernel_dir, "build/include/config/auto.conf")
        if not self.options.tsc_khz or not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            rate = next(int(line.split("=")[1]) for line in file if line.startswith("CONFIG_HZ="))
        # Delays count the TSC.
        return [f"lpj={self.options.tsc_khz * 1000 // rate}"]

    def _share(self, name, path, more=""):
        """Return the arguments that let the guest mount a directory of this machine."""
        return ["-fsdev", f"local,id={name},path={path},security_model=none{more}",
                "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]

    def start(self):
        options = self.options
        append = self.append(
            "console=ttyAMA0" if options.foreign else "console=ttyS0",
            "panic=-1", "mitigations=off", "watchdog_thresh=30",
            # On a busy host the kernel's timer test may see no tick, and panic.
            "no_timer_check",
            # Otherwise the kernel may consider a good clock unstable, which makes reading the
            # clock slow.
            "tsc=reliable",
            # The emulated TSC is that of this machine. A kernel that measures the rate while this
            # machine is busy may find a quarter of it. All clocks of the guest are then four times
            # too fast, and every wait ends too early.
            *([f"tsc_early_khz={options.tsc_khz}"] if options.tsc_khz else []),
            *self._jiffy(),
            # The emulator translates code again for each address at which it is mapped.
            "norandmaps",
            # In QEMU 7.2 a CPU that translates code while another one patches it may continue
            # with the old code (fixed in 8.1 by deba78709ae8), and die of a breakpoint that was
            # removed. 6.12 patches itself about a dozen times (except modules, which it patches
            # before they run): ten of these are over when /init starts the other CPUs, and a
            # running guest patches hardly at all.
            "maxcpus=1", "noreplace-smp",
        )
        command = [
            options.emulator, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-name", f"kverbs-{self.name}", "-smp", str(options.smp), "-m", options.mem,
            "-kernel", self._kernel(), "-initrd", self.write_initramfs(),
            "-append", " ".join(append),
            *self._share("root", options.system, ",readonly=on,multidevs=remap"),
            *self._share("xchg", f"{self.directory}/xchg"),
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
        if options.iommu:
            command += ["-device", "intel-iommu"]
        if options.hca:
            devices, sockets = self._hca()
            command += devices
            ends += sockets
        for number, link in enumerate(self.links):
            # 4200 leaves room for the headers of packets with an RDMA MTU of 4096.
            mac = f"52:54:00:00:0{number}:0" + ("1" if self.name == "a" else "2")
            command += ["-netdev", f"socket,id=net{number},fd={link.fileno()}"]
            command += ["-device", f"virtio-net-pci,netdev=net{number},host_mtu=4200,mac={mac}"]
            ends.append(link)
        if options.disk:
            command += self._disks()
        if options.foreign:
            command += self._share("host", "/", ",readonly=on,multidevs=remap")
        with open(os.path.join(self.directory, "machine.log"), "wb") as log:
            self.spawn(command, ends, log)

    def killed_by(self):
        """Wait for the emulator to exit; return the signal that killed it, or 0."""
        try:
            return max(0, -self.process.wait(timeout=10))
        except subprocess.TimeoutExpired:
            return 0
