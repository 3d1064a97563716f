# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest of user-mode Linux: a kernel that is a process of this machine."""

import os
import signal

from guest import Guest


class Uml(Guest):
    """A kernel that runs at native speed, on one CPU.

    Its processes are processes here, which it traces. Its serial lines are channels,
    and hostfs, by which it sees this machine's files, is what 9p is in QEMU.
    """

    def start(self):
        theirs = self.open_channels()
        lines = [f"ssl{number}=fd:{end.fileno()}" for number, end in enumerate(theirs.values())]
        command = [
            os.path.join(self.options.kernel_dir, "linux"), f"mem={self.options.mem}",
            f"initrd={self.write_initramfs()}", f"uml_dir={self.directory}", "umid=uml",
            *self.append("console=ttyS0", "con=null", "ssl=null", *lines),
            # Unknown words of the command line become environment variables of init.
            f"VM_XCHG={self.directory}/xchg",
        ]
        with open(os.path.join(self.directory, "machine.log"), "wb") as log:
            self.spawn(command, theirs.values(), log)

    def kill(self):
        if self.process:
            # Processes that it traces would survive it.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
