#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocks of contiguous PTEs, which this machine may not have, on page tables made up for the purpose.
. "$(dirname "$0")/cli-lib.sh"

cd "$EA_TOP"
gcc -g -O1 -Wall -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -I. -o "$TMP/cli_contpte" \
	tests/fixtures/cli_contpte.c cli/object.c cli/pagemap.c cli/process.c cli/maps.c cli/mounts.c \
	cli/elf_file.c cli/filesystem.c cli/format.c cli/io.c core/*.c -ljson-c
said=$("$TMP/cli_contpte") || fail "$said"
note "$said"
