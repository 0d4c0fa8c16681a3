# SPDX-License-Identifier: MIT
# tests/loader/loader.mk - patched dynamic loaders: built, and run
#
# make check-loader	builds glibc, musl for two machines and, to compare with, both as they are; runs
#			the scenarios tests/loader/*.sh, and some of the shim's under glibc
# make check-musl	the part that make check runs: musl's
# make loader-parts	only builds them; glibc takes minutes
#	MUSL=1.2.3 GLIBC=2.36	other versions
#
# They are kept in $(BUILD)/qemu, or in $EXECALIGN_QEMU_CACHE.

MUSL ?= 1.2.5
GLIBC ?= 2.41
LOADER_ENV = $(TEST_ENV) EXECALIGN_MUSL=$(MUSL) EXECALIGN_GLIBC=$(GLIBC)
LOADER_PART = BUILD=$(BUILD) tests/loader/part.sh

.PHONY: check-loader check-musl loader-parts musl-parts
musl-parts: | $(BUILD)/deps/native $(BUILD)/deps/loader
	@$(LOADER_PART) musl $(MUSL) x86_64
	@$(LOADER_PART) --stock musl $(MUSL) x86_64
	@MUSL_CONFIGURE=--disable-exec-align $(LOADER_PART) musl $(MUSL) x86_64
	@$(LOADER_PART) musl $(MUSL) aarch64

loader-parts: musl-parts
	@$(LOADER_PART) glibc $(GLIBC) x86_64
	@$(LOADER_PART) --stock glibc $(GLIBC) x86_64

check-loader: all fixtures loader-parts | $(BUILD)/deps/package
	@$(LOADER_ENV) tests/run.sh -j $(TEST_JOBS) musl glibc package

check-musl: all fixtures musl-parts
	@$(LOADER_ENV) tests/run.sh -j $(TEST_JOBS) musl

$(BUILD)/deps/loader: mk/deps.sh tests/loader/loader.mk
	@mkdir -p $(@D)
	@mk/deps.sh dpkg-dev debian-archive-keyring qemu-user-static gcc-aarch64-linux-gnu util-linux
	@touch $@

$(BUILD)/deps/package: mk/deps.sh tests/loader/loader.mk
	@mkdir -p $(@D)
	@mk/deps.sh debhelper
	@touch $@
