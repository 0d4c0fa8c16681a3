# SPDX-License-Identifier: MIT
#
# make            build libexecalign.so and execalign into build/
# make run        show it at work: clang from a mount that does not align, plain and under the shim
# make check      all tests
# make check-qemu   the shim on arm64 kernels with pages of 4K, 16K and 64K, in QEMU; some minutes
# make check-loader   patched dynamic loaders: builds musl and glibc, and runs programs under them
# make check-kernel   the kernel series on such kernels, before and after; builds twelve, takes hours
# make check-deb   the Debian packages, in roots of Debian 12 and 13; some minutes
# make fuzz       fuzz every parser of untrusted bytes (FUZZ_SECONDS in all)
# make bench-startup   what the shim costs at start-up
# make deb        Debian packages for amd64 and arm64, in build/deb
# make install    DESTDIR= PREFIX=/usr/local LIBDIR=
# make help       every target
#
# Each directory says how it is built in its own .mk file.

BUILD ?= build
PREFIX ?= /usr/local
MULTIARCH = $(shell $(CC) -print-multiarch 2>/dev/null)
LIBDIR ?= $(PREFIX)/lib$(if $(MULTIARCH),/$(MULTIARCH))
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
COMPLETIONSDIR ?= $(PREFIX)/share/bash-completion/completions
INSTALL ?= install

CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wno-unused-parameter $(if $(WERROR),-Werror)
# What every object of the project is compiled with; -MMD tracks header dependencies.
COMMON_CFLAGS = -std=gnu11 $(WARNINGS) -MMD -MP -I$(CURDIR)

.PHONY: all help clean install check fuzz run deps
all:

# core/ first: its sources are compiled into the others.
include $(wildcard $(addsuffix .mk,core/core shim/shim cli/cli docs/docs tests/tests bench/bench \
	examples/examples packaging/packaging))

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
