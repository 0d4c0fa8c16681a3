# SPDX-License-Identifier: MIT
# packaging/: Debian packages in $(BUILD)/deb, for amd64 and arm64.
#
# make deb		both; make deb-amd64, make deb-arm64: one
#
# Each is built in a directory of its own, for /usr, against the libraries of Debian 12, on whatever this
# machine is: packages ask for the C library that they were linked with, or a newer one.

DEB := $(BUILD)/deb
DEB_ARCHITECTURES := amd64 arm64
DEB_TRIPLET_amd64 := x86_64-linux-gnu
DEB_TRIPLET_arm64 := aarch64-linux-gnu
# Of the machine's own architecture, this compiler comes with gcc.
DEB_GCC_amd64 := gcc-x86-64-linux-gnu
DEB_GCC_arm64 := gcc-aarch64-linux-gnu

# What says where the files lie on this machine is kept out of the packages; the build id is a hash of it.
# The last map that fits is used, and the sysroot may lie within the source: dpkg's own would win.
DEB_CC = $(DEB_TRIPLET_$*)-gcc -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$$sysroot=
# For the command alone. The library has nothing to do with a libc, and includes the compiler's headers.
DEB_SYSROOT_CFLAGS = --sysroot=$$sysroot -isystem $$sysroot/usr/include/$(DEB_TRIPLET_$*) \
	-isystem $$sysroot/usr/include
DEB_SYSROOT_LDFLAGS = -B$$sysroot/usr/lib/$(DEB_TRIPLET_$*) -L$$sysroot/usr/lib/$(DEB_TRIPLET_$*) \
	-Wl,-rpath-link,$$sysroot/lib/$(DEB_TRIPLET_$*) -Wl,-rpath-link,$$sysroot/usr/lib/$(DEB_TRIPLET_$*)
DEB_FLAGS = DEB_HOST_ARCH=$* DEB_BUILD_MAINT_OPTIONS='hardening=+all reproducible=-all' dpkg-buildflags --get

.PHONY: deb $(DEB_ARCHITECTURES:%=deb-%)
deb: $(DEB_ARCHITECTURES:%=deb-%)

# What the caller may have set for the usual build must not reach this one.
$(DEB_ARCHITECTURES:%=deb-%): deb-%: $(DEB)/%/prepared
	@sysroot=$$(realpath $(DEB)/$*/sysroot) && rm -rf $(DEB)/$*/tree && \
	$(MAKE) --no-print-directory install BUILD=$(DEB)/$* DESTDIR=$(DEB)/$*/tree \
		PREFIX=/usr LIBDIR=/usr/lib/$(DEB_TRIPLET_$*) BINDIR=/usr/bin MANDIR=/usr/share/man \
		COMPLETIONSDIR=/usr/share/bash-completion/completions INSTALL=install \
		CC="$(DEB_CC)" CFLAGS="$$($(DEB_FLAGS) CFLAGS) $$($(DEB_FLAGS) CPPFLAGS) $(DEB_SYSROOT_CFLAGS)" \
		LDFLAGS="$$($(DEB_FLAGS) LDFLAGS) $(DEB_SYSROOT_LDFLAGS)" && \
	packaging/deb.sh $* $(DEB)/$*/tree "$$sysroot" $(DEB)

# Objects do not survive other flags or headers.
$(DEB)/%/prepared: packaging/packaging.mk cli/cli.mk mk/sysroot.sh mk/suite.sh
	@mkdir -p $(@D)
	@rm -rf $(@D)/obj
	@if [ "$$(dpkg --print-architecture)" = $* ]; then gcc=gcc; else gcc=$(DEB_GCC_$*); fi && \
		mk/deps.sh debian-archive-keyring dpkg-dev "$$gcc"
	@sysroot=$$(BUILD='$(BUILD)' mk/sysroot.sh $(CLI_SYSROOT_SUITE) $* $(CLI_SYSROOT_PACKAGES)) && \
		ln -sfn "$$sysroot" $(@D)/sysroot
	@touch $@
