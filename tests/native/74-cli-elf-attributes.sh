#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign elf --set-align keeps what a file has besides its contents, and refuses what it would break:
# one line says what and what to do, and the file is as it was.
# timeout: 300
. "$(dirname "$0")/cli-lib.sh"
need python3 jq strace
need_x86_64 "the files are of 2 MiB blocks"
cd "$TMP"
library=$FIXTURES/libl_bfd.so
cp "$library" old
cp "$library" new
cli 0 elf --set-align auto new

# attributes FILE - all but contents, modification and change time
attributes() {
	python3 - "$1" <<-'END'
		import os, sys
		path = sys.argv[1]
		info = os.stat(path)
		print(oct(info.st_mode), info.st_uid, info.st_gid, info.st_atime_ns,
		      sorted((name, os.getxattr(path, name)) for name in os.listxattr(path)))
	END
}
set_attribute() {
	python3 -c 'import os, sys
os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))' "$@" 2>/dev/null
}

fresh() {
	rm -f lib.so
	cp "$library" lib.so
	# An old file: what is copied may not be taken for what was just made. An access time that is still
	# to come is not set by reading (relatime).
	touch -m -d '2020-01-02 03:04:05.678901234' lib.so
	touch -a -d 'now + 10 hours' lib.so
}

# keeps - the file has the same attributes when it is changed, and when it is restored
keeps() {
	local before
	before=$(attributes lib.so)
	cli 0 elf --dry-run --set-align auto lib.so
	said out would-change
	cmp lib.so old || fail "--dry-run changed it"
	[ "$(attributes lib.so)" = "$before" ] || fail "--dry-run changed attributes"
	cli 0 elf --set-align auto lib.so
	cmp lib.so new || fail "not changed"
	[ "$(attributes lib.so)" = "$before" ] || fail "attributes: $before became $(attributes lib.so)"
	[ "$(stat -c %Y lib.so)" -gt 1600000000 ] || fail "it looks as if it had not been modified"
	inode=$(stat -c '%i %Z' lib.so)
	cli 0 elf --set-align auto lib.so
	[ "$(stat -c '%i %Z' lib.so)" = "$inode" ] || fail "a second time changes it again"
	cli 0 elf --restore lib.so
	cmp lib.so old || fail "not restored"
	[ "$(attributes lib.so)" = "$before" ] || fail "attributes are not kept by --restore"
	cli 0 elf --restore lib.so
	said out raise
}
kept=0
for mode in 755 644 600 4755 2711 6755; do
	fresh
	chmod $mode lib.so
	keeps
	kept=$((kept + 1))
done
fresh
if set_attribute lib.so user.note 6b657074; then
	keeps
	kept=$((kept + 1))
else
	note "no extended attributes of users here"
fi
# An access control list: user 1 may read.
fresh
acl=0200000001000700ffffffff02000400010000000400050 acl+=0ffffffff10000500ffffffff20000500ffffffff
if set_attribute lib.so system.posix_acl_access "$acl"; then
	keeps
	kept=$((kept + 1))
	# The directory's list for new files is not the file's.
	mkdir lists
	set_attribute lists system.posix_acl_default "$acl"
	cp old lists/old
	chmod 755 lists/old
	python3 -c 'import os; os.removexattr("lists/old", "system.posix_acl_access")'
	mv lists/old lists/lib.so
	touch -a -d 'now + 10 hours' lists/lib.so
	before=$(attributes lists/lib.so)
	cli 0 elf --set-align auto lists/lib.so
	cmp lists/lib.so new || fail "not changed"
	[ "$(attributes lists/lib.so)" = "$before" ] || fail "lists: $before became $(attributes lists/lib.so)"
else
	note "no access control lists here"
fi

# refused TEXT - and nothing has happened; nor with --dry-run, which says the same
refused() {
	local before
	before="$(stat -c '%i %Z' lib.so) $(attributes lib.so)"
	refuses 2 lib.so "$1" elf --set-align auto lib.so
	refuses 2 lib.so "$1" elf --set-align auto --dry-run lib.so
	[ "$(stat -c '%i %Z' lib.so) $(attributes lib.so)" = "$before" ] || fail "$1: it was changed"
	[ -z "$(find . -maxdepth 1 -name '.execalign*')" ] || fail "$1: a copy is left"
	cli 2 elf --json --set-align auto lib.so
	expect 'select(.type == "file") | .change.outcome' "${2:-refused}"
}
fresh
ln lib.so other
refused 'hard links'
rm other
fresh
printf '~Module signature appended~\n' >>lib.so
refused 'a signature'
fresh
cp "$FIXTURES/libl_lld.so" lib.so
refused '-Wl,-z,max-page-size'

# A program that runs keeps the file that it has.
fresh
mkdir running
cp "$FIXTURES"/{app,libtext10m.so} running
cp lib.so running/libtext5m.so
cp "$FIXTURES/libtext5m.so" running/
cp "$FIXTURES/cli_map" running/
python3 - running/libtext5m.so "$CLI" <<'END'
import ctypes, os, subprocess, sys
path, cli = sys.argv[1:]
library = ctypes.CDLL(os.path.abspath(path))
before = os.stat(path).st_ino
subprocess.run([cli, "elf", "--set-align", "auto", path], check=True, stdout=subprocess.DEVNULL)
assert os.stat(path).st_ino != before
assert library.text5m_first() == 1 and library.text5m_last() == 2
assert "libtext5m.so (deleted)" in open("/proc/self/maps").read()
END

# The package that it belongs to: by the checksums below the root that it is in.
mkdir -p image/var/lib/dpkg/info image/usr/lib
md5sum <old | sed 's|-|usr/lib/libone.so|' >image/var/lib/dpkg/info/one:amd64.md5sums
md5sum <old | sed 's|-|lib/libtwo.so|' >image/var/lib/dpkg/info/two.md5sums
for name in one two three; do cp old image/usr/lib/lib$name.so; done
cli 0 elf --json --set-align auto --dry-run image
for owner in one:one:amd64 two:two three:null; do
	expect "select(.type == \"file\" and .path == \"image/usr/lib/lib${owner%%:*}.so\") | .change.package" "${owner#*:}"
done
expect 'select(.type == "summary") | .packaged' 2
cli 0 elf --set-align auto image
said out 'belongs to one:amd64'
said out 'dpkg --verify'
said out 'until they start again'

# The first WSL.
cat >wsl.c <<'END'
#include <string.h>
#include <sys/utsname.h>
int uname(struct utsname *names)
{
	memset(names, 0, sizeof(*names));
	strcpy(names->release, "4.4.0-19041-Microsoft");
	return 0;
}
END
gcc -shared -fPIC -o wsl.so wsl.c
fresh
cli_prefix=(env LD_PRELOAD="$TMP/wsl.so")
refuses 2 --set-align 'WSL 1 cannot load' elf --set-align auto lib.so
cli 0 elf lib.so
cli 0 elf --restore lib.so
cli_prefix=()

# --- As root: other owners, capabilities, filesystems
need_root "owners, capabilities and mounts"
for owner in 1:1 65534:65534 0:5; do
	fresh
	chown $owner lib.so
	chmod 6755 lib.so
	keeps
	kept=$((kept + 1))
done
# cap_net_raw=ep, version 2
fresh
if set_attribute lib.so security.capability 0100000200200000000000000000000000000000; then
	chown 0:5 lib.so
	set_attribute lib.so security.capability 0100000200200000000000000000000000000000
	keeps
	[[ $(attributes lib.so) = *security.capability* ]] || fail "capabilities are lost"
	kept=$((kept + 1))
fi
fresh
if set_attribute lib.so trusted.note 6b657074; then keeps; fi
for name in security.ima security.evm; do
	fresh
	if set_attribute lib.so $name 0301; then refused "$name"; else note "no $name here"; fi
done
fresh
if command -v chattr >/dev/null && chattr +i lib.so 2>/dev/null; then
	refused immutable
	chattr -i lib.so
fi

# As somebody else.
mkdir -m 777 theirs
cp old theirs/lib.so
chmod 755 . theirs
cli_prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${cli_prefix[@]}" test -x "$CLI"; then
	refuses 2 theirs/lib.so 'run as root' elf --set-align auto theirs/lib.so
	chmod 777 theirs
	refuses 2 theirs/lib.so 'run as root' elf --set-align auto theirs/lib.so
	chown 65534:65534 theirs/lib.so
	chmod 444 theirs/lib.so
	refuses 2 theirs/lib.so 'run as root' elf --set-align auto theirs/lib.so
	chmod 000 theirs/lib.so
	refuses 2 theirs/lib.so 'may not be read' elf --set-align auto theirs/lib.so
	chmod 644 theirs/lib.so
	cmp theirs/lib.so old || fail "changed without the right to"
	cli 0 elf --set-align auto theirs/lib.so
	cmp theirs/lib.so new || fail "its owner may not change it"
	# Writable by all, and not the user's own: the copy could not have the owner.
	chown 1:1 theirs/lib.so
	chmod 666 theirs/lib.so
	refuses 2 theirs/lib.so 'run as root' elf --restore theirs/lib.so
	cmp theirs/lib.so new || fail "changed without the right to"
fi
cli_prefix=()

# Read-only and full filesystems, in a mount namespace of their own.
unshare --mount --propagation private true 2>/dev/null || {
	note "no mount namespace can be made: no read-only or full filesystem was tried"
	exit 0
}
mkdir mount
size=$(stat -c %s old)
# in_mount SCRIPT - run the command where SCRIPT says "$@"
in_mount() {
	cli_prefix=(unshare --mount --propagation private sh -ec "$1" sh)
}
# shellcheck disable=SC2016 # for the inner shell
{
	in_mount 'mount -t tmpfs none mount && cp old mount/lib.so && mount -o remount,ro mount && exec "$@"'
	refuses 2 mount/lib.so 'read-only filesystem' elf --set-align auto mount/lib.so
	refuses 2 mount/lib.so 'read-only filesystem' elf --set-align auto --dry-run mount/lib.so
	in_mount "mount -t tmpfs -o size=$((size + 400000)) none mount && cp old mount/lib.so"'
		"$@" || status=$?
		cmp mount/lib.so old && [ "$(ls -A mount)" = lib.so ] && exit $status'
	refuses 2 mount/lib.so 'no room for the copy' elf --set-align auto mount/lib.so
}
headline "$kept kinds of attributes kept"
