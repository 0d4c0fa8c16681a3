# SPDX-License-Identifier: MIT
# tests/deb/: the packages of `make deb`, in small roots of Debian 12 and 13.
#
# make check-deb	builds the packages, looks at them, and installs, uses, replaces and removes them. The
#			roots are kept in $(BUILD)/qemu, or in $EXECALIGN_QEMU_CACHE; without them it takes minutes

.PHONY: check-deb
check-deb: deb | $(BUILD)/deps/check-deb
	@$(TEST_ENV) tests/run.sh -j $(TEST_JOBS) deb

$(BUILD)/deps/check-deb: mk/deps.sh tests/deb/deb.mk
	@mkdir -p $(@D)
	@mk/deps.sh arch-test binutils debian-archive-keyring lintian mmdebstrap python3 qemu-user-static util-linux
	@touch $@
