#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot.py - a shell in an arm64 guest, with the kernel series or without it

Usage: boot.py [options]; see --help. Makes what is missing of the guest first. The filesystems are
at /mnt/ext4, /mnt/xfs, /mnt/erofs and /mnt/overlay; nothing of what is written there is kept.
"exit" in the guest ends it, and so does Ctrl-A X. Exit: that of QEMU, 2 cannot run.
"""
import argparse
import os
import sys

from artefacts import ArtefactError, Artefacts
from check import check_host
from machine import QEMU, qemu_command


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build', help='build directory')
    parser.add_argument('--pages', default='64k', choices=('4k', '16k', '64k'))
    parser.add_argument('--kernel', default='7.2', choices=('7.2', '6.12'))
    parser.add_argument('--series', default='after', choices=('before', 'after'),
                        help='of the patches of kernel/')
    return parser.parse_args()


def main():
    """See above."""
    options = parse_arguments()
    try:
        artefacts = Artefacts(options.build, {'series': ('series/make.sh',)})
        check_host(artefacts)
        kernel = artefacts.kernel(options.kernel, options.pages, options.series)
        images, initrd = artefacts.images(), artefacts.initrd(kernel)
    except ArtefactError as error:
        print(f'boot: {error}', file=sys.stderr)
        return 2
    command = qemu_command(os.path.join(kernel, 'Image'), initrd, images,
                           more_words='execalign.shell')
    os.execvp(QEMU, [*command, '-serial', 'mon:stdio'])


if __name__ == '__main__':
    sys.exit(main())
