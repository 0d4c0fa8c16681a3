#!/bin/bash
# SPDX-License-Identifier: MIT
# perl loads extension modules (XS) and large libraries with dlopen; they work and are congruent.
. "$(dirname "$0")/lib.sh"
need perl
misaligning_root

cat >"$TMP/plugins.pl" <<'END'
use strict;
use warnings;
use POSIX ();
use List::Util qw(sum);
use Digest::MD5 qw(md5_hex);
use Storable qw(freeze thaw);
use Time::HiRes ();
use Encode;
use Encode::JP;
require DynaLoader;
my $text = Encode::encode("euc-jp", "\x{65e5}\x{672c}\x{8a9e}");
print md5_hex($text), " ", sum(1 .. 10), " ", POSIX::floor(2.5), "\n";
print scalar @{thaw(freeze([1, 2, 3]))}, "\n";
for my $file (@ARGV) {
	my $handle = DynaLoader::dl_load_file($file, 0) or die DynaLoader::dl_error();
	my ($name) = $file =~ m{lib([^/.]+)\.};
	my $found = DynaLoader::dl_find_symbol($handle, "${name}_first");
	print "$file ", $found ? "found" : "not found", "\n";
}
END
compare --at-least 3 perl "$TMP/plugins.pl" "$FIXTURES/libtext5m.so" "$FIXTURES/libtext10m.so" \
	"$FIXTURES/libl_lld.so"
grep -q 'libl_lld.so found' "$TMP/plain.out" || fail "perl did not load the libraries"
