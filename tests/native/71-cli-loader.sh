#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign doctor tells loaders that place text by themselves from others, with the default and the
# switch, and then does not recommend the shim; report does not either. What cannot be read gets a line.
. "$(dirname "$0")/cli-lib.sh"
need jq gcc
misaligning_root

stock=$(realpath /lib64/ld-linux-x86-64.so.2 2>/dev/null || realpath /lib/ld-linux-aarch64.so.1)
mark() {
	"$EA_TOP/tests/native/marked_loader.py" "$stock" "$@" || fail "no loader with a note"
}

# loader PATH - the check of that loader
loader() {
	echo ".checks[] | select(.name == \"loader\" and .subject == \"$1\")"
}

# program OUT LOADER
program() {
	gcc -O1 -o "$1" "$TMP/libraries.c" -L"$FIXTURES" -ltext5m -ltext10m -Wl,-rpath,"$FIXTURES" \
		-Wl,-dynamic-linker,"$2" || fail "gcc cannot build $1"
}
sed '1i #define LIBRARIES X(text5m) X(text10m)' "$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"

# The loaders of programs, each once, by the names that the programs have for them.
for name in on:1:1 off:1:0 newer:9:1 newer-off:9:0 void:0:1; do
	IFS=: read -r name version default <<<"$name"
	mark "$TMP/$name.so" "$version" "$default"
	program "$TMP/$name" "$TMP/$name.so"
done
cp "$TMP/on" "$TMP/on-too"
cli 0 doctor --json "$TMP"/{on,on-too,off,newer,newer-off,void} "$TMP/libraries.c" "$TMP"
expect "[$(loader "$TMP/on.so")] | length" 1
expect "$(loader "$TMP/on.so") | .status" ok
expect "$(loader "$TMP/on.so") | .values | tojson" \
	'{"places_text":true,"rule_version":1,"on_by_default":true}'
expect "$(loader "$TMP/off.so") | .status" limits
expect "$(loader "$TMP/off.so") | .remedy" 'set GLIBC_TUNABLES=glibc.elf.exec_align=1'
expect "$(loader "$TMP/off.so") | .values | tojson" \
	'{"places_text":false,"rule_version":1,"on_by_default":false}'
expect "$(loader "$TMP/newer.so") | .status" ok
expect "$(loader "$TMP/newer.so") | .values.rule_version" 9
expect "$(loader "$TMP/newer.so") | .detail | test(\"newer\")" true
expect "$(loader "$TMP/on.so") | .detail | test(\"newer\")" false
expect "$(loader "$TMP/newer-off.so") | .status" limits
expect "$(loader "$TMP/void.so") | .status" limits
expect "$(loader "$TMP/void.so") | .values | tojson" \
	'{"places_text":false,"rule_version":null,"on_by_default":null}'
expect "$(loader "$TMP/void.so") | .remedy | test(\"execalign run\")" true
for name in on off newer newer-off; do
	expect "$(loader "$TMP/$name.so") | .remedy // \"\" | test(\"execalign run\")" false
done
# The system's own is there without being named.
cli 0 doctor --json
interpreter=$(readelf -lW "$CLI" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
expect "[$(loader "$interpreter")] | length" 1

# The switch, and the loader itself as PATH.
cli_prefix=(env GLIBC_TUNABLES=glibc.malloc.check=0:glibc.elf.exec_align=0)
cli 0 doctor --json "$TMP/on.so" "$TMP/newer.so"
expect "$(loader "$TMP/on.so") | .values.places_text" false
expect "$(loader "$TMP/newer.so") | .status" limits
cli_prefix=(env GLIBC_TUNABLES=glibc.elf.exec_align=1)
cli 0 doctor --json "$TMP/off"
expect "$(loader "$TMP/off.so") | .status" ok
cli_prefix=()

# musl's has another switch.
for name in 1 0; do
	mark "$TMP/ld-musl-$name.so.1" 1 "$name"
done
musl_is() {
	cli 0 doctor --json "$TMP"/ld-musl-{1,0}.so.1
	expect "[($(loader "$TMP/ld-musl-1.so.1")), ($(loader "$TMP/ld-musl-0.so.1")) | .values.places_text | tostring] | join(\" \")" "$1"
}
musl_is 'true false'
expect "$(loader "$TMP/ld-musl-0.so.1") | .remedy" 'set LD_EXEC_ALIGN=1'
for row in '0:false false' '1:true true' '65536:true true' '0x200000:true true' ':true false' \
	'2:true false' '1x:true false' '3000000:true false' 'off:true false' '-0:true false'; do
	cli_prefix=(env "LD_EXEC_ALIGN=${row%%:*}" GLIBC_TUNABLES=glibc.elf.exec_align=0)
	musl_is "${row#*:}"
done
cli_prefix=()

# Loaders that are not there, or no loaders: a line each, no failure.
echo nothing >"$TMP/text.so"
head -c 4000 "$stock" >"$TMP/cut.so"
mkfifo "$TMP/fifo.so"
mkdir "$TMP/directory.so"
: >"$TMP/zero.so"
bad=(missing text cut fifo directory zero)
for name in "${bad[@]}"; do
	program "$TMP/$name" "$TMP/$name.so"
done
cli 0 doctor --json "${bad[@]/#/$TMP/}"
for name in "${bad[@]}"; do
	expect "$(loader "$TMP/$name.so") | .status" unknown
done
expect "$(loader "$TMP/missing.so") | .detail" 'No such file or directory'
# Named as PATHs they are files like others.
cli 0 doctor "$TMP"/{text,cut,fifo,directory,zero}.so

# A command whose own loader places text does not recommend the shim for anything.
short=$(mktemp -d /tmp/ea.XXXXXX)
cleanup_list+=("$short")
mark "$short/ld.so"
python3 - "$CLI" "$TMP/execalign" "$interpreter" "$short/ld.so" <<'END'
import os, sys
source, out, old, new = sys.argv[1:]
old, new = old.encode() + b"\0", new.encode() + b"\0"
data = open(source, "rb").read()
assert old in data and len(new) <= len(old)
# PT_INTERP comes before anything that the program says of loaders.
open(out, "wb").write(data.replace(old, new.ljust(len(old), b"\0"), 1))
os.chmod(out, 0o755)
END
recommended='[.checks[] | select(.name != "loader") | .remedy // "" | select(test("execalign run"))] | length > 0'
cli 0 doctor --json
expect "$recommended" true
CLI=$TMP/execalign
cli 0 doctor --json
expect "$recommended" false
expect '.checks[] | select(.name == "glibc.elf.thp") | .status' ok
expect '.checks | all(.status != "limits" or .remedy != null)' true
cli_prefix=(env GLIBC_TUNABLES=glibc.elf.exec_align=0)
cli 0 doctor --json
expect "$recommended" true
cli_prefix=()
CLI=$BUILD/execalign

# report: why the libraries are misplaced under a loader that was to place them. One in 512 lands well.
cat >"$TMP/wait.c" <<'END'
#include <unistd.h>
int text5m_first(void);
int main(void) { return text5m_first() == 1 && write(1, "ready\n", 6) == 6 ? pause() : 1; }
END
# reason_under LOADER [VARIABLE=VALUE] - sets reason, as the report has it
reason_under() {
	local pid
	gcc -o "$TMP/wait" "$TMP/wait.c" -L"$FIXTURES" -ltext5m -Wl,-rpath,"$FIXTURES" \
		-Wl,-dynamic-linker,"$1"
	shift
	for _ in 1 2 3; do
		: >"$TMP/ready"
		env "$@" "$TMP/wait" >"$TMP/ready" &
		pid=$!
		for _ in $(seq 100); do
			[ ! -s "$TMP/ready" ] || break
			sleep 0.05
		done
		cli 0 report --json "$pid"
		kill "$pid"
		wait "$pid" 2>/dev/null || :
		reason=$(query '.processes[0].objects[] | select(.path | test("libtext5m")) |
			if .congruent then "" else .reason.text end')
		[ -z "$reason" ] || break
	done
}
reason_under "$stock"
[[ $reason == *'execalign run'* ]] || fail "stock loader: $reason"
reason_under "$TMP/on.so"
[[ $reason == *'its loader places text by itself'* && $reason != *'execalign run'* ]] ||
	fail "loader that places: $reason"
for row in "off.so A=1" "on.so GLIBC_TUNABLES=glibc.elf.exec_align=0"; do
	reason_under "$TMP/${row% *}" "${row#* }"
	[[ $reason == *'glibc.elf.exec_align=1'* && $reason != *'execalign run'* ]] ||
		fail "loader that is off ($row): $reason"
done
