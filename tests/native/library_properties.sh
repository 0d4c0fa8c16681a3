# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# library_properties.sh - what a build of libexecalign.so must be; sourced after lib.sh

EXPORTS="__asan_default_options la_activity la_objclose la_objopen la_objsearch la_preinit la_version \
mmap mmap64"

# check_library FILE PROPERTY-NOTE MACHINE
check_library() {
	local file=$1 property=$2 machine=$3 text size exported
	readelf -hW "$file" | grep -q "Machine:.*$machine" || fail "$file is not for $machine"
	readelf -dW "$file" >"$TMP/dynamic"
	readelf -lW "$file" >"$TMP/segments"
	! grep NEEDED "$TMP/dynamic" || fail "$file has DT_NEEDED"
	! grep -E 'TEXTREL|RPATH|RUNPATH' "$TMP/dynamic" || fail "$file: unwanted dynamic tags"
	grep -q INITFIRST "$TMP/dynamic" || fail "$file is not -z initfirst"
	! grep -w TLS "$TMP/segments" || fail "$file has TLS"
	grep -w GNU_STACK "$TMP/segments" | grep -q 'RW ' || fail "$file: the stack is executable"
	grep -qw GNU_RELRO "$TMP/segments" || fail "$file has no RELRO"
	! grep -E 'LOAD.* RWE ' "$TMP/segments" || fail "$file has a writable and executable segment"
	text=0
	size_list=$(awk '$1 == "LOAD" && /R E/ { print $5 }' "$TMP/segments")
	for size in $size_list; do
		text=$((text + size))
	done
	# On aarch64 this is one segment with the read-only data; the look at the loader's note took it
	# beyond 32 KiB. Neither there nor on x86-64 (whose text alone counts) may it grow without a reason.
	if [ "$text" = 0 ] || [ "$text" -gt 36864 ]; then
		fail "$file: $text bytes of text"
	fi
	readelf -nW "$file" | grep -q "Properties:.*$property" ||
		fail "$file: the property note is not $property"
	exported=$(readelf --dyn-syms -W "$file" |
		awk '$1 ~ /^[0-9]+:$/ && $7 != "UND" && $5 != "LOCAL" && $4 != "OBJECT" {
			sub(/@.*/, "", $8)
			print $8
		}' | sort | xargs)
	[ "$exported" = "$EXPORTS" ] ||
		fail "$file exports: $exported"
	! readelf --dyn-syms -W "$file" | awk '$7 == "UND" && $8 != "" && $5 != "WEAK"' | grep . ||
		fail "$file needs symbols"
	note "$(basename "$(dirname "$file")")/$(basename "$file"): $text bytes of text, $property"
}
