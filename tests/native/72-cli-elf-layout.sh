#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign elf judges files by their headers, each layout by its name; what it cannot judge is one line.
# timeout: 300
. "$(dirname "$0")/cli-lib.sh"
need jq python3
need_x86_64 "the libraries are of 2 MiB blocks"

# --- Wrong usage
refuses 2 elf 'no file is given' elf
refuses 2 elf 'no file is given' elf --json
for size in 3M 0 '' 2K 2048 2G -2M 2M2 64KB 0x200000 99999999999999999999 always; do
	refuses 2 --set-align "'$size' is not an alignment" elf --set-align "$size" /bin/true
done
refuses 2 --set-align 'needs a value' elf --set-align
refuses 2 elf 'exclude each other' elf --set-align 2M --restore x
refuses 2 elf 'exclude each other' elf --restore --set-align 2M x
refuses 2 elf 'exclude each other' elf --restore --check x
refuses 2 --dry-run 'nothing would be changed' elf --dry-run x

# --- What is no program and no library
cd "$TMP"
library=$FIXTURES/libl_bfd.so
# change OUT OFFSET FORMAT VALUE [FROM] - a copy of a library with one field overwritten (struct.pack)
change() {
	python3 - "$@" <<-'END'
		import struct, sys
		out, offset, kind, value = sys.argv[1:5]
		data = bytearray(open(sys.argv[5], "rb").read())
		struct.pack_into("<" + kind, data, int(offset), int(value, 0))
		open(out, "wb").write(data)
	END
}
first_load=64
second_load=$((64 + 56))
change class32 4 B 1 "$library"
change big 5 B 2 "$library"
change class9 4 B 9 "$library"
change riscv 18 H 243 "$library"
change unknown 18 H 64000 "$library"
change object 16 H 1 "$library"
change core 16 H 4 "$library"
change version 20 I 7 "$library"
change no-headers 56 H 0 "$library"
change many-headers 56 H 65535 "$library"
change far-headers 32 Q 0xfffffffffffffff0 "$library"
change entry-size 54 H 32 "$library"
change overlap $((second_load + 16)) Q 0 "$library"
change larger $((second_load + 32)) Q 0x10000000 "$library"
change thin $((second_load + 40)) Q 1 "$library"
change longer $((second_load + 8)) Q 0xfffffffffff000 "$library"
change odd $((second_load + 8)) Q 0x1001 "$library"
change no-load $first_load I 0x60000000 "$library"
head -c 40 "$library" >cut-header
head -c 100 "$library" >cut-headers
head -c 100000 "$library" >cut-text
: >empty
printf '\177ELF' >magic
echo '#!/bin/sh' >script
mkfifo pipe
#       file           text
while read -r file text; do
	refuses 2 "$file" "$text" elf "$file"
	refuses 2 "$file" "$text" elf --set-align auto "$file"
	refuses 2 "$file" "$text" elf --restore "$file"
done <<'END'
empty        not an ELF file
script       not an ELF file
magic        truncated
cut-header   truncated
cut-headers  truncated
cut-text     truncated
far-headers  truncated
many-headers broken
longer       truncated
class32      a 32-bit ELF file
big          a big-endian ELF file
class9       broken
riscv        for another machine (RISC-V)
unknown      for another machine
object       no loader maps
core         no loader maps
version      broken
no-headers   broken
entry-size   broken
overlap      broken
larger       truncated
thin         broken
odd          broken
pipe         neither a file nor a directory
/dev/null    neither a file nor a directory
/nonexistent No such file
END
# One among others does not keep these from being judged.
cli 2 elf script "$library" /nonexistent
said out "$library"
[ "$(wc -l <err)" = 2 ] || fail "not a line each: $(cat err)"
cli 2 elf --json script "$library"
expect 'select(.type == "file") | .kind' $'not-elf\njudged'
expect 'select(.type == "summary") | .kinds["not-elf"]' 1

# --- Each layout
while read -r name verdict fault libc; do
	cli 0 elf --json "$FIXTURES/$name"
	expect 'select(.type == "file") | .verdict' "$verdict"
	expect 'select(.type == "file") | .fault.code' "$fault"
	expect 'select(.type == "file") | .libc' "$libc"
	expect 'select(.type == "file") | .path' "$FIXTURES/$name"
	case $verdict in
	raise | mislaid)
		expect 'select(.type == "summary") | .lacking' 1
		cli 1 elf --check "$FIXTURES/$name"
		;;
	*)
		expect 'select(.type == "summary") | .lacking' 0
		cli 0 elf --check "$FIXTURES/$name"
		;;
	esac
	said out "$verdict"
done <<'END'
libl_bfd.so         raise     null   null
libl_large.so       raise     null   null
libl_together.so    raise     null   null
libl_align64k.so    raise     null   null
libl_none.so        too-small null   null
libl_300k.so        too-small null   null
libl_align2m.so     aligned   null   null
libl_lld2m.so       aligned   null   null
libl_lldseparate.so raise     null   null
libl_lld.so         mislaid   offset null
libl_lld64k.so      mislaid   offset null
libl_lldbased.so    mislaid   offset null
libl_based.so       raise     null   null
libl_oddbased.so    mislaid   base   null
libl_based64k.so    mislaid   base   null
app                 too-small null   null
END
cli 0 elf --json "$FIXTURES/libl_lld.so"
expect 'select(.type == "file") | .fault.distance_bytes' 4096
[[ $(query 'select(.type == "file") | .fault.linker') = *LLD* ]] || fail "the linker is not named"
expect 'select(.type == "file") | .text.text_bytes / 1024 | floor' 5120
cli 0 elf "$FIXTURES/libl_lld.so"
said out 'max-page-size=0x200000'
cli 0 elf "$library"
said out 'pages of 4 KiB: blocks of 2 MiB'
said out 'a p_align of 2 MiB would place it'

# Who places it.
placer() {
	cli 0 elf --json "$1"
	expect 'select(.type == "file") | .placer' "$2"
}
printf '__asm__(".text\\n.fill 5 << 18, 4, 0x90909090"); int main(void) { return 0; }' >main.c
gcc -fPIE -pie -o pie main.c
gcc -fno-pie -no-pie -o fixed main.c
placer pie kernel
placer fixed linker
placer "$library" loader
# A library that can be executed, as libc.so.6.
cat >interp.c <<'END'
const char interp[] __attribute__((section(".interp"))) = "/lib64/ld-linux-x86-64.so.2";
END
gcc -shared -fPIC -o libexec.so main.c interp.c -Wl,-soname,libexec.so
placer libexec.so loader
if gcc -fPIE -static-pie -o static main.c 2>/dev/null; then placer static kernel-static; fi
expect 'select(.type == "file") | .block_bytes' $((2 << 20))
cli 0 elf --check fixed
said out fixed
cli 0 elf pie
said out 'the kernel heeds it for programs since Linux 5.10'
if command -v musl-gcc >/dev/null && musl-gcc -shared -fPIC -o libmusl.so main.c -nostartfiles 2>/dev/null; then
	cli 0 elf libmusl.so
	said out "musl's loader does not heed it"
fi

# --- arm64: by page size. The headers of a library do not tell that its code is another machine's.
for name in l_align64k l_300k l_bfd l_none; do
	change "arm-$name" 18 H 183 "$FIXTURES/lib$name.so"
done
pages() {
	query 'select(.type == "file") | .pages | map("\(.page_bytes / 1024):\(.mappable):\(.block_bytes // 0 | . / 1024)") | join(" ")'
}
expect_pages() {
	cli 0 elf --json "$1"
	[ "$(pages)" = "$2" ] || fail "$1: $(pages), not $2"
}
expect_pages arm-l_align64k '4:true:2048 16:true:2048 64:true:2048'
expect 'select(.type == "file") | .verdict' raise
# Linked for pages of 4K alone.
expect_pages arm-l_bfd '4:true:2048 16:false:0 64:false:0'
expect_pages arm-l_300k '4:true:64 16:false:0 64:false:0'
expect 'select(.type == "file") | .verdict' raise
expect 'select(.type == "file") | .block_bytes' 65536
cli 0 elf --json --set-align auto arm-l_300k
expect 'select(.type == "file") | .change.to_align_bytes' 65536
cli 0 elf --json --set-align auto arm-l_align64k
expect 'select(.type == "file") | .change.from_align_bytes' 65536
expect 'select(.type == "file") | .change.to_align_bytes' $((2 << 20))
cli 0 elf --check arm-l_300k arm-l_align64k
cli 0 elf --restore arm-l_300k arm-l_align64k
change back 18 H 62 arm-l_align64k
cmp back "$FIXTURES/libl_align64k.so" || fail "not restored"

# --- Sizes
cp "$FIXTURES/libl_large.so" sized
for step in '64K 65536' '2M 2097152' '4M 4194304'; do
	read -r size bytes <<<"$step"
	cli 0 elf --json --set-align "$size" sized
	expect 'select(.type == "file") | .change.to_align_bytes' "$bytes"
	cli 0 elf --json --set-align "$size" sized
	expect 'select(.type == "file") | .change.outcome' already
	expect 'select(.type == "file") | .text.original_align_bytes' 4096
done
cli 0 elf --json --set-align 4K sized
expect 'select(.type == "file") | .change.outcome' already
# No whole block of 32M in 10M.
cli 0 elf --json --set-align 32M sized
expect 'select(.type == "file") | .verdict' too-small
expect 'select(.type == "file") | .change' null
cli 0 elf --restore sized
cmp sized "$FIXTURES/libl_large.so" || fail "not restored from three steps"
# One that auto leaves alone.
cp "$FIXTURES/libl_300k.so" small
cli 0 elf --set-align 64K small
! cmp -s small "$FIXTURES/libl_300k.so" || fail "64K was not set"
cli 0 elf --restore small
cmp small "$FIXTURES/libl_300k.so" || fail "64K was not undone"

# --- What could not be undone is refused: here a section asks for more than the other segments do.
cat >section.c <<'END'
__asm__(".text\n.p2align 16\n.fill 5 << 18, 4, 0x90909090");
END
gcc -shared -nostdlib -fPIC -o libsection.so section.c -Wl,-z,max-page-size=4096
cp libsection.so libsection.old
refuses 2 libsection.so '--restore could not tell' elf --set-align auto libsection.so
cli 0 elf --restore libsection.so
cmp libsection.so libsection.old || fail "the linker's own alignment was taken away"

# Two at the same time on one file, by two names, and what cannot be written.
ln -s sized link
cli 0 elf --json --set-align auto sized link ./sized
expect 'select(.type == "summary") | "\(.files) \(.repeated) \(.outcomes.changed)"' '3 2 1'
[ -L link ] || fail "the link was replaced"
if [ -w /dev/full ]; then
	status=0
	"$CLI" elf sized >/dev/full 2>err || status=$?
	[ "$status" = 2 ] || fail "elf >/dev/full: exit status $status"
fi
