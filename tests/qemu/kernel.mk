# SPDX-License-Identifier: MIT
# tests/qemu/kernel.mk - the kernel series (kernel/7.2, kernel/6.12) on arm64 kernels under QEMU
#
# make check-kernel	all cases on kernels before the series and after it; the tables are in
#			$(BUILD)/kernel-matrix.{md,json} and $(BUILD)/kernel-folios.txt
#	PAGES=4k|16k|64k KERNEL=7.2|6.12 SERIES=before|after FS=ext4|xfs|overlay CASE=PATTERN	narrow it
# make check-kernel-quick	the part that make check runs
# make boot	a shell in one of these guests: 7.2, 64k, after the series, unless told otherwise
# make kernel-parts	only build the kernels, and fetch and build what else guests are made of
#
# The parts are kept where those of check-qemu are (qemu.mk); a kernel takes minutes to build.

KERNEL_OPTIONS = $(QEMU_OPTIONS) $(if $(SERIES),--series '$(SERIES)')

.PHONY: boot check-kernel check-kernel-quick kernel-parts
check-kernel: shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@tests/qemu/kernel_check.py --build $(BUILD) $(KERNEL_OPTIONS) \
		--json $(BUILD)/kernel-matrix.json --markdown $(BUILD)/kernel-matrix.md \
		--folios $(BUILD)/kernel-folios.txt

check-kernel-quick: shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@$(TEST_ENV) tests/run.sh kernel

boot: shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@tests/qemu/boot.py --build $(BUILD) $(if $(PAGES),--pages '$(PAGES)') \
		$(if $(KERNEL),--kernel '$(KERNEL)') $(if $(SERIES),--series '$(SERIES)')

kernel-parts: shim-aarch64 cli-aarch64 | $(BUILD)/deps/qemu
	@tests/qemu/kernel_check.py --build $(BUILD) $(KERNEL_OPTIONS) --parts-only
