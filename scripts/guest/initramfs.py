# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The files that a guest needs before it mounts the host's."""

import os
import shutil
import stat

# In load order; modules that are built into the kernel are not found, which is fine.
WANTED = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")


def _module_paths(tree):
    """Return the paths of the wanted modules and their dependencies, dependencies first."""
    needs = {}
    with open(os.path.join(tree, "modules.dep"), encoding="utf-8") as file:
        for line in file:
            path, _, rest = line.partition(":")
            needs[path] = rest.split()
    by_name = {os.path.basename(p).removesuffix(".ko").replace("-", "_"): p for p in needs}
    order = []
    for name in WANTED:
        path = by_name.get(name)
        if path:
            for each in [*reversed(needs[path]), path]:
                if each not in order:
                    order.append(each)
    return order


class _Cpio:
    """A writer of the newc format, which the kernel reads; needs no package."""

    def __init__(self, file):
        self.file = file
        self.inode = 0

    def _pad(self):
        self.file.write(b"\0" * (-self.file.tell() % 4))

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        encoded = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        self.file.write(b"070701" + b"".join(b"%08x" % field for field in fields) + encoded)
        self._pad()
        self.file.write(data)
        self._pad()

    def end(self):
        self.add("TRAILER!!!", 0)


def write(path, init, tree, system):
    """Write an initramfs: a system's busybox, the init script, modules from tree in order."""
    places = ("usr/bin", "bin", "usr/local/bin")
    busybox = shutil.which("busybox", path=":".join(os.path.join(system, each) for each in places))
    if not busybox:
        raise FileNotFoundError("busybox (package busybox-static)")
    modules = _module_paths(tree)
    with open(path, "wb") as file:
        cpio = _Cpio(file)
        for name in ("bin", "dev", "modules"):
            cpio.add(name, stat.S_IFDIR | 0o755)
        cpio.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
        for name, source in (("bin/busybox", busybox), ("init", init)):
            with open(source, "rb") as content:
                cpio.add(name, stat.S_IFREG | 0o755, content.read())
        for module in modules:
            with open(os.path.join(tree, module), "rb") as content:
                cpio.add("modules/" + os.path.basename(module), stat.S_IFREG | 0o644, content.read())
        order = "".join(os.path.basename(module) + "\n" for module in modules)
        cpio.add("modules/order", stat.S_IFREG | 0o644, order.encode())
        cpio.end()
