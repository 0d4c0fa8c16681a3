#!/bin/bash
# SPDX-License-Identifier: MIT
# A program started through a #! line, directly and two levels deep: the same arguments, names and
# output, and its libraries congruent.
. "$(dirname "$0")/lib.sh"
need perl
misaligning_root

filter='/^env LD_(PRELOAD|AUDIT)=/d; s/^(fd 1 .* )position.*/\1/'
printf '#!%s names\nnothing\n' "$FIXTURES/state" >"$TMP/script"
cat >"$TMP/perl-script" <<'END'
#!/usr/bin/perl -w
print "perl $0 @ARGV\n";
$| = 1;
exec(shift @ARGV, @ARGV) if @ARGV;
END
cat >"$TMP/sh-script" <<'END'
#!/bin/sh
echo "sh $0 $*"
exec "$@"
END
chmod +x "$TMP/script" "$TMP/perl-script" "$TMP/sh-script"
compare --at-least 1 --filter "$filter" "$TMP/script" env auxv
compare --at-least 1 --filter "$filter" "$TMP/perl-script" "$TMP/sh-script" "$TMP/script" env auxv
grep -q "^execfn $TMP/script\$" "$TMP/plain.out" ||
	fail "AT_EXECFN is not the script's path even plain"
