# SPDX-License-Identifier: MIT
"""machine - one arm64 guest under QEMU: boots it, runs shell commands in it, looks at its vCPUs.

Nothing of a guest outlives the program that started it: QEMU is killed by the kernel when its parent
dies, memory is an unlinked file, disks are opened with snapshot=on.
"""
import contextlib
import mmap
import os
import re
import secrets
import select
import subprocess
import time

import gdbstub
import pagetable

QEMU = 'qemu-system-aarch64'
MEMORY_MIB = 2048
TAIL_LINES = 15


class GuestError(Exception):
    """The guest does not boot, hangs, panics or has ended; with the console's last lines."""

    def __init__(self, what, console):
        lines = [line for line in console.splitlines() if line.strip()][-TAIL_LINES:]
        super().__init__(what + ''.join(f'\n    | {line}' for line in lines))


def qemu_command(kernel, initrd, disks, cpus=2, machine='virt', more_words=''):
    """What all guests have in common; their console is for the caller to add.

    kernel, initrd, disks: see Guest. What a guest writes is not kept. more_words: of the kernel's
    command line.
    """
    command = [QEMU, '-M', machine, '-cpu', 'neoverse-n1', '-smp', str(cpus),
               '-m', str(MEMORY_MIB), '-kernel', kernel, '-initrd', initrd,
               '-append', f'console=ttyAMA0 quiet panic=-1 rdinit=/init {more_words}',
               '-nodefaults', '-display', 'none', '-no-reboot']
    for name, image in disks.items():
        command += ['-drive', f'if=none,id={name},file={image},format=raw,snapshot=on',
                    '-device', f'virtio-blk-pci,drive={name},serial={name}']
    return command


class Guest:
    """Use it in a with statement.

    kernel: path of the Image. initrd: path. disks: {name: image}; in the guest, disk NAME is the
    block device whose serial number is NAME. icount: count instructions (see -icount in qemu(1)),
    one vCPU. options: more of QEMU's.
    """

    def __init__(self, kernel, initrd, disks, boot_seconds=120, icount=False, options=()):
        self._console = ''
        # A name in the abstract namespace of sockets: no file that could stay behind.
        self.gdb = f'execalign-qemu-{os.getpid()}-{secrets.token_hex(8)}'
        self._memory_fd = os.memfd_create('guest')
        os.ftruncate(self._memory_fd, MEMORY_MIB << 20)
        self.ram = pagetable.Ram(mmap.mmap(self._memory_fd, MEMORY_MIB << 20, mmap.MAP_SHARED,
                                           mmap.PROT_READ))
        self._process = self._start(kernel, initrd, disks, icount, options)
        try:
            self._read_until(r'@@ready ', boot_seconds, 'does not boot')
        except GuestError:
            self.close()
            raise
        # When the case that runs must have ended; whoever runs cases sets it.
        self.deadline = float('inf')

    def _start(self, kernel, initrd, disks, icount, options):
        # QEMU ends with the thread that starts it, which runs the guest's cases.
        command = ['setpriv', '--pdeathsig', 'KILL', '--',
                   *qemu_command(kernel, initrd, disks, 1 if icount else 2,
                                 'virt,memory-backend=ram'),
                   '-object', f'memory-backend-file,id=ram,size={MEMORY_MIB}M,share=on,'
                              f'mem-path=/proc/self/fd/{self._memory_fd}',
                   '-serial', 'stdio',
                   '-chardev', f'socket,id=gdb,path={self.gdb},abstract=on,server=on,wait=off',
                   '-gdb', 'chardev:gdb', *options]
        if icount:
            # One instruction is 16 ns of the guest's time, one tick of its counter at 62.5 MHz.
            command += ['-icount', 'shift=4,sleep=off']
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, pass_fds=[self._memory_fd])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def runs(self):
        """Whether QEMU is still there."""
        return self._process.poll() is None

    def kill(self):
        """Ends QEMU at once; from any thread. Disks are not written back: they are snapshots."""
        self._process.kill()

    def close(self):
        """Ends the guest and frees what it used; may be called again."""
        if self._process.stdin.closed:
            return
        self.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        os.close(self._memory_fd)

    def run(self, command, seconds=60):
        """Runs a shell command, which may use guest.sh's functions: (status, output)."""
        if '\n' in command:
            raise ValueError('one line, please')
        token = secrets.token_hex(8)
        self._console = ''
        self._send(f'{token} {command}\n')
        seconds = max(1, min(seconds, self.deadline - time.monotonic()))
        match = self._read_until(rf'\n@@{token} (\d+)\n', seconds, f'no end of: {command}')
        return int(match[1]), self._console[:match.start()].strip('\n')

    def address_space(self, cookie_address, cookie, seconds=10):
        """For a with statement: the address space of the process that has the cookie.

        The process must be running in user space; the guest stands still inside the statement.
        """
        return _StoppedProcess(self, cookie_address, cookie, seconds)

    def _send(self, text):
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise GuestError('the guest has ended', self._console) from None

    def _read_until(self, pattern, seconds, what):
        expression = re.compile(pattern)
        deadline = time.monotonic() + seconds
        searched = 0
        while True:
            match = expression.search(self._console, max(0, searched - 200))
            if match:
                return match
            searched = len(self._console)
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise GuestError(f'{what} within {seconds:.0f} s', self._console)
            received = os.read(self._process.stdout.fileno(), 65536)
            if not received:
                raise GuestError(f'{what}: the guest has ended', self._console)
            self._console += received.decode('utf-8', 'replace').replace('\r', '')


class _StoppedProcess:
    """The guest, stopped while one of its vCPUs runs a certain process."""

    def __init__(self, guest, cookie_address, cookie, seconds):
        self._guest = guest
        self._cookie = cookie_address, cookie
        self._seconds = seconds
        self._stopped = None

    def __enter__(self):
        deadline = time.monotonic() + self._seconds
        while time.monotonic() < deadline:
            self._stopped = gdbstub.Stopped(self._guest.gdb)
            self._stopped.__enter__()
            try:
                space = pagetable.find(self._guest.ram, self._vcpus(), *self._cookie)
            except BaseException:
                self._stopped.__exit__()
                raise
            if space:
                return space
            self._stopped.__exit__()
            time.sleep(0.05)
        raise pagetable.WalkError('no vCPU is in the address space of the process')

    def _vcpus(self):
        return [(self._stopped.register(thread, 'TTBR0_EL1'),
                 self._stopped.register(thread, 'TCR_EL1')) for thread in self._stopped.threads()]

    def __exit__(self, *_):
        self._stopped.__exit__()
