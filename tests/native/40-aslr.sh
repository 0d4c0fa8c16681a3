#!/bin/bash
# SPDX-License-Identifier: MIT
# 2,000 starts of a small program with two eligible libraries: the number of distinct bases, and the
# entropy of each bit of a base, with and without the shim. Alignment to 2 MiB takes the low 9 bits;
# the shim gives them back as random whole blocks where there is room: on arm64 all of them. On
# x86-64 the kernel spreads 2^28 pages, and so many blocks do not fit into 2^47 bytes; there the
# shift adds only as much as keeps libraries where sanitizers want them.
# timeout: 600
. "$(dirname "$0")/lib.sh"
misaligning_root

[ "$(cat /proc/sys/kernel/randomize_va_space)" != 0 ] || skip "address space randomization is off"
starts=2000
for mode in plain LD_AUDIT LD_PRELOAD; do
	"$FIXTURES/starts" "$starts" "$mode=$SHIM" "$FIXTURES/app" bases \
		>"$TMP/bases.$mode" 2>"$TMP/err" ||
		fail "$mode: $(cat "$TMP/err")"
done
rnd_bits=$(cat /proc/sys/vm/mmap_rnd_bits)
/usr/bin/python3 - "$TMP" "$starts" "$rnd_bits" <<'END' || fail "randomness was lost"
import math, os, sys

directory, starts, rnd_bits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
BLOCK = 2 << 20
# What the random shift adds on x86-64 to the bits that alignment leaves: a quarter TiB to one TiB.
EXTRA_BITS = 0.3

def entropies(bases):
    """Entropy of each bit from the page size up to the top of the address space."""
    result = []
    for bit in range(12, 47):
        share = sum(base >> bit & 1 for base in bases) / len(bases)
        result.append(0.0 if share in (0, 1) else
                      -share * math.log2(share) - (1 - share) * math.log2(1 - share))
    return result

table, failed = {}, False
for mode in ("plain", "LD_AUDIT", "LD_PRELOAD"):
    rows = [line.split() for line in open("%s/bases.%s" % (directory, mode))]
    if len(rows) != starts or any(len(row) != 2 for row in rows):
        sys.exit("%s: %d starts answered" % (mode, len(rows)))
    for index, library in enumerate(("libtext5m.so", "libtext10m.so")):
        bases = [int(row[index], 16) for row in rows]
        bits = entropies(bases)
        table[mode, library] = (len(set(bases)), sum(bits))
        print("%-10s %-13s distinct %d of %d, entropy %.2f bits, per bit from 12 up: %s" % (
            mode, library, len(set(bases)), starts, sum(bits),
            " ".join("%.2f" % bit for bit in bits)))
        congruent = sum(base % BLOCK == 0 for base in bases)
        if mode == "plain":
            if congruent > starts / 20:
                sys.exit("plain: %d of %d are congruent by themselves" % (congruent, starts))
            continue
        plain_distinct, plain_bits = table["plain", library]
        if congruent != starts:
            print("%s %s: only %d of %d congruent" % (mode, library, congruent, starts))
            failed = True
        # 2,000 draws of 2^19.3 have 3 pairs in common on average.
        if len(set(bases)) < plain_distinct - 15:
            print("%s %s: too few distinct bases" % (mode, library))
            failed = True
        wanted = rnd_bits - 9 + EXTRA_BITS if os.uname().machine == "x86_64" else plain_bits - 0.3
        if sum(bits) < wanted:
            print("%s %s: too little entropy" % (mode, library))
            failed = True
sys.exit(failed)
END
