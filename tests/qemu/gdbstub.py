# SPDX-License-Identifier: MIT
"""gdbstub - QEMU's gdb server, as far as reading the vCPUs' registers needs it.

While a Stopped is open, the guest stands still. Protocol: "Remote Serial Protocol" in gdb's manual.
"""
import re
import socket
import xml.etree.ElementTree as ElementTree


class GdbError(Exception):
    """The server said something else than the protocol allows, or nothing."""


class Stopped:
    """Stops the guest by connecting; lets it go on at the end of the with statement.

    name: of the server's socket in the abstract namespace.
    """

    def __init__(self, name, timeout_seconds=20):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_seconds)
        try:
            self._socket.connect(f'\0{name}')
        except OSError as error:
            self._socket.close()
            raise GdbError(f"cannot connect to QEMU's gdb server: {error}") from None
        self._buffer = b''
        self._numbers = {}

    def __enter__(self):
        # Connecting has stopped the guest; without this, the server does not speak of threads.
        try:
            self._ask('qSupported:xmlRegisters=aarch64')
            self._read_description('target.xml', [0])
        except BaseException:
            self._socket.close()
            raise
        return self

    def __exit__(self, *_):
        try:
            self._ask('D')
        finally:
            self._socket.close()

    def threads(self):
        """One per vCPU, as the server's names of them."""
        found = []
        answer = self._ask('qfThreadInfo')
        while answer.startswith('m'):
            found += answer[1:].split(',')
            answer = self._ask('qsThreadInfo')
        return found

    def register(self, thread, name):
        """Value of a register of one vCPU."""
        if name not in self._numbers:
            raise GdbError(f'QEMU does not show the register {name}')
        if self._ask(f'Hg{thread}') != 'OK':
            raise GdbError(f'no vCPU {thread}')
        answer = self._ask(f'p{self._numbers[name]:x}')
        if not re.fullmatch('([0-9a-f]{2})+', answer):
            raise GdbError(f'cannot read {name}: {answer!r}')
        return int.from_bytes(bytes.fromhex(answer), 'little')

    def _read_description(self, document, following):
        """Registers are numbered in the order of the description, unless it gives a number."""
        text, answer = '', 'm'
        while answer.startswith('m'):
            answer = self._ask(f'qXfer:features:read:{document}:{len(text):x},ffb')
            text += answer[1:]
        for element in ElementTree.fromstring(re.sub('xi:include', 'include', text)).iter():
            if element.tag == 'include':
                self._read_description(element.get('href'), following)
            elif element.tag == 'reg':
                following[0] = int(element.get('regnum', following[0]))
                self._numbers[element.get('name')] = following[0]
                following[0] += 1

    def _ask(self, packet):
        checksum = sum(packet.encode()) % 256
        self._socket.sendall(f'${packet}#{checksum:02x}'.encode())
        answer = self._answer()
        # That the guest has stopped is said once, unasked; nothing that is asked is answered so.
        return self._answer() if answer.startswith('T') else answer

    def _answer(self):
        while True:
            match = re.search(rb'\$([^#]*)#[0-9a-f]{2}', self._buffer, re.DOTALL)
            if match:
                break
            try:
                received = self._socket.recv(65536)
            except socket.timeout:
                raise GdbError("QEMU's gdb server does not answer") from None
            if not received:
                raise GdbError("QEMU's gdb server hung up")
            self._buffer += received
        self._buffer = self._buffer[match.end():]
        self._socket.sendall(b'+')
        # "}" escapes the next byte.
        return re.sub(rb'\}(.)', lambda escaped: bytes([escaped[1][0] ^ 0x20]), match[1],
                      flags=re.DOTALL).decode('latin-1')
