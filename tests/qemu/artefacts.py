# SPDX-License-Identifier: MIT
"""artefacts - what guests are made of: kernels, the userland, filesystem images, initrds.

Each is made by a script beside this file, which keeps it in the cache under the hash of all that it
is made from and prints its path. The cache is $EXECALIGN_QEMU_CACHE, build/qemu by default.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
FILESYSTEMS = ('ext4', 'xfs', 'erofs')
# Userlands beside the usual one: what makes each of it. An overlay is of the first filesystem.
USERLANDS = {'patched': 'patched.sh', 'aligned': 'aligned.sh'}
MORE_FILESYSTEMS = ('ext4', 'xfs')


class ArtefactError(Exception):
    """One line: what cannot be made, and what to do about it."""


class Unavailable(ArtefactError):
    """This machine cannot have it: no network, no room, no QEMU. Not a mistake of ours."""


class Artefacts:
    """Makes what is asked for, once.

    more_tools: {name: command}; the directory that each makes is /tools/NAME in a guest.
    """

    def __init__(self, build, more_tools=None):
        self.build = os.path.abspath(build)
        self._more_tools = more_tools or {}
        cache = os.environ.get('EXECALIGN_QEMU_CACHE') or os.path.join(self.build, 'qemu')
        self.cache = os.path.abspath(cache)
        self._made = {}
        self._lock = threading.Lock()
        self._process = None
        self._tools = None
        self._aborted = False

    def kernel(self, version, pages, series=None):
        """Directory with Image, version and modules.

        series: None takes Debian's kernel where there is one, 'before' one of our own as Debian's
        source is, 'after' one with the patches of kernel/VERSION.
        """
        return self._make(*self._kernel_command(version, pages, series))

    def kernel_is_cached(self, version, pages, series=None):
        """Whether kernel() would build nothing."""
        script, *arguments = self._kernel_command(version, pages, series)
        with self._lock:
            return self._run([script, '--cached', *arguments]).returncode == 0

    @staticmethod
    def patches(version):
        """Where the series for a kernel version is."""
        return os.path.join(PROJECT, 'kernel', version)

    def _kernel_command(self, version, pages, series):
        if not series:
            return 'kernel.sh', version, pages
        patches = [self.patches(version)] if series == 'after' else []
        return 'kernel.sh', '--own', version, pages, *patches

    def fixtures(self):
        """Directory with list, lib and bin: synthetic libraries and the programs of the guests."""
        return self._make('fixtures/make.sh')

    def images(self, userlands=()):
        """{filesystem: image file}; for each of the userlands, also {FILESYSTEM-USERLAND: ...}."""
        userland = self._make('userland.sh', self.fixtures())
        images = {filesystem: self._make('image.sh', userland, filesystem)
                  for filesystem in FILESYSTEMS}
        for name in userlands:
            other = self._make(USERLANDS[name], userland)
            images.update((f'{filesystem}-{name}', self._make('image.sh', other, filesystem))
                          for filesystem in MORE_FILESYSTEMS)
        return images

    def initrd(self, kernel):
        """Path of an initrd with the shim and the command as they are now."""
        fixtures = self.fixtures()
        more = {name: self._make(*command) for name, command in self._more_tools.items()}
        with self._lock:
            if not self._tools:
                self._tools = self._gather_tools(fixtures, more)
        return self._make('initrd.sh', kernel, self._tools.name)

    def _gather_tools(self, fixtures, more):
        """What guests have at /tools, in a directory that ends with the program."""
        tools = tempfile.TemporaryDirectory(prefix='execalign-tools-')
        for source in (os.path.join(self.build, 'aarch64', 'libexecalign.so'),
                       os.path.join(self.build, 'aarch64', 'execalign'),
                       os.path.join(HERE, 'guest', 'guest.sh')):
            shutil.copy(source, tools.name)
        shutil.copytree(os.path.join(fixtures, 'bin'), os.path.join(tools.name, 'bin'))
        shutil.copytree(os.path.join(HERE, 'guest', 'apps'), os.path.join(tools.name, 'apps'))
        for name, directory in more.items():
            shutil.copytree(directory, os.path.join(tools.name, name))
        return tools

    def _make(self, *command):
        with self._lock:
            if command not in self._made:
                done = self._run(command)
                lines = done.stdout.splitlines()
                if done.returncode or not lines:
                    said = done.stderr.splitlines() or [f'exit status {done.returncode}']
                    # What suite.sh says when the mirror or a package is out of reach.
                    kind = Unavailable if 'cannot fetch' in said[-1] else ArtefactError
                    raise kind(f'{command[0]}: {said[-1]}')
                self._made[command] = lines[-1]
            return self._made[command]

    def abort(self):
        """From any thread: ends the script that runs, with all that it started."""
        self._aborted = True
        if self._process:
            os.killpg(self._process.pid, signal.SIGTERM)

    def _run(self, command):
        if self._aborted:
            raise ArtefactError('interrupted')
        environment = dict(os.environ, EXECALIGN_QEMU_CACHE=self.cache, BUILD=self.build)
        said = []
        with tempfile.TemporaryFile('w+') as stdout:
            with subprocess.Popen([os.path.join(HERE, command[0]), *command[1:]], text=True,
                                  stdout=stdout, stderr=subprocess.PIPE, env=environment,
                                  start_new_session=True) as self._process:
                try:
                    for line in self._process.stderr:
                        said.append(line)
                        print(line, end='', file=sys.stderr, flush=True)
                except BaseException:
                    self.abort()
                    raise
            status, self._process = self._process.returncode, None
            stdout.seek(0)
            return subprocess.CompletedProcess(command, status, stdout.read(), ''.join(said))
