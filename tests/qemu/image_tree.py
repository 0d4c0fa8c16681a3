#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""image_tree.py - what the tools that make filesystem images cannot do themselves

    image_tree.py protofile TREE    print the description of TREE that mkfs.xfs -p reads
    image_tree.py mark TREE         fill every block of zeros in the files of TREE with a mark
    image_tree.py unmark IMAGE      put the zeros back, in an image of such a tree

mke2fs leaves a hole in a file wherever a block is zero, so that a library would lie in pieces, as
it does on no real system. A block that holds the mark becomes a block of the file.

Exit: 0 done, 2 cannot (one line on stderr says what).
"""
import hashlib
import mmap
import os
import stat
import sys

BLOCK = 4096
MARK = b''.join(hashlib.sha512(b'execalign %d' % part).digest() for part in range(BLOCK // 64))


def regular_files(tree):
    """The files of tree, one name of each."""
    seen = set()
    for directory, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and status.st_ino not in seen:
                seen.add(status.st_ino)
                yield path, status


def mark(tree):
    """Fills whole blocks of zeros; times stay as they are."""
    zeros = bytes(BLOCK)
    for path, status in regular_files(tree):
        with open(path, 'rb') as file:
            content = file.read()
        blocks = [at for at in range(0, len(content) - BLOCK + 1, BLOCK)
                  if content[at:at + BLOCK] == zeros]
        if not blocks:
            continue
        os.chmod(path, status.st_mode | stat.S_IWUSR)
        with open(path, 'r+b') as file:
            for at in blocks:
                file.seek(at)
                file.write(MARK)
        os.chmod(path, status.st_mode)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def unmark(image):
    """Clears every block that is the mark."""
    with open(image, 'r+b') as file, mmap.mmap(file.fileno(), 0) as blocks:
        at = blocks.find(MARK)
        while at >= 0:
            blocks[at:at + BLOCK] = bytes(BLOCK)
            at = blocks.find(MARK, at + BLOCK)


def permissions(mode):
    """As a protofile has them: set-user-ID, set-group-ID, three octal digits."""
    return (('u' if mode & stat.S_ISUID else '-') + ('g' if mode & stat.S_ISGID else '-') +
            f'{mode & 0o777:03o}')


def entries(tree):
    """The lines for what is in tree; all is root's."""
    for name in sorted(os.listdir(tree)):
        path = os.path.join(tree, name)
        mode = os.lstat(path).st_mode
        if any(character.isspace() for character in path) or name.startswith(':'):
            raise ValueError(f'{path}: a protofile cannot have this name; remove or rename it')
        if stat.S_ISLNK(mode):
            yield f'{name} l{permissions(mode)} 0 0 {os.readlink(path)}'
        elif stat.S_ISREG(mode):
            yield f'{name} -{permissions(mode)} 0 0 {path}'
        elif stat.S_ISDIR(mode):
            yield f'{name} d{permissions(mode)} 0 0'
            yield from entries(path)
            yield '$'
        else:
            raise ValueError(f'{path}: neither file, directory nor symbolic link')


def protofile(tree):
    """Prints it. The first two lines are of times when disks had boot programs."""
    print('/', '0 0', f'd{permissions(os.stat(tree).st_mode)} 0 0', sep='\n')
    for line in entries(tree):
        print(line)
    print('$')


def main():
    commands = {'protofile': protofile, 'mark': mark, 'unmark': unmark}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        print('image_tree: usage: image_tree.py protofile|mark|unmark PATH', file=sys.stderr)
        return 2
    try:
        commands[sys.argv[1]](sys.argv[2])
    except (OSError, ValueError) as error:
        print(f'image_tree: {error}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
