# SPDX-License-Identifier: MIT
# tests/qemu/qemu.mk - arm64 kernels with pages of 4K, 16K and 64K under QEMU
#
# make check-qemu		all cases on all kernels; the matrix is in $(BUILD)/qemu-matrix.{md,json}
#	PAGES=4k|16k|64k KERNEL=7.2|6.12 FS=ext4|xfs|erofs|overlay CASE=PATTERN	narrow it
# make check-qemu-quick	the part that make check runs
# make qemu-parts		only fetch and build kernels, userland and images
#
# The columns of the patched loaders need glibc and musl for arm64, which are built once; the quick part
# has none of them.
#
# What guests are made of is kept in $(BUILD)/qemu, or in $EXECALIGN_QEMU_CACHE. tests/qemu/README.md
# tells how it works.

QEMU_PACKAGES := qemu-system-arm qemu-user-static python3 debian-archive-keyring dpkg-dev
QEMU_OPTIONS = $(if $(PAGES),--pages '$(PAGES)') $(if $(KERNEL),--kernel '$(KERNEL)') \
	$(if $(FS),--fs '$(FS)') $(if $(CASE),--case '$(CASE)')

.PHONY: check-qemu check-qemu-quick qemu-parts
check-qemu: $(CLI) shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@tests/qemu/check.py --build $(BUILD) $(QEMU_OPTIONS) --json $(BUILD)/qemu-matrix.json \
		--markdown $(BUILD)/qemu-matrix.md

check-qemu-quick: shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@$(TEST_ENV) tests/run.sh qemu

qemu-parts: $(CLI) shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@tests/qemu/check.py --build $(BUILD) $(QEMU_OPTIONS) --parts-only

include tests/qemu/kernel.mk

$(BUILD)/deps/qemu: mk/deps.sh tests/qemu/qemu.mk
	@mkdir -p $(@D)
	@mk/deps.sh $(QEMU_PACKAGES)
	@touch $@
