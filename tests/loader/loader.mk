# SPDX-License-Identifier: MIT
# tests/loader/loader.mk - patched dynamic loaders: built, and run
#
# make check-loader	builds musl for both machines, stock musl to compare with, glibc, and runs the
#			scenarios tests/loader/{musl,glibc}-*.sh; MUSL=1.2.3 for another version of musl
# make loader-parts	only builds them
#
# They are kept in $(BUILD)/qemu, or in $EXECALIGN_QEMU_CACHE.

MUSL ?= 1.2.5
LOADER_ENV = EXECALIGN_MUSL=$(MUSL)

.PHONY: check-loader loader-parts
loader-parts: | $(BUILD)/deps/native $(BUILD)/deps/loader
	@BUILD=$(BUILD) tests/loader/part.sh musl $(MUSL) x86_64
	@BUILD=$(BUILD) tests/loader/part.sh --stock musl $(MUSL) x86_64
	@BUILD=$(BUILD) MUSL_CONFIGURE=--disable-exec-align tests/loader/part.sh musl $(MUSL) x86_64
	@BUILD=$(BUILD) tests/loader/part.sh musl $(MUSL) aarch64

check-loader: all fixtures loader-parts
	@$(TEST_ENV) $(LOADER_ENV) tests/run.sh -j $(TEST_JOBS) loader

$(BUILD)/deps/loader: mk/deps.sh tests/loader/loader.mk
	@mkdir -p $(@D)
	@mk/deps.sh dpkg-dev debian-archive-keyring qemu-user-static gcc-aarch64-linux-gnu util-linux
	@touch $@
