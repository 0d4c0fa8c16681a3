# SPDX-License-Identifier: MIT
# cli/: the command execalign, and what `make install` copies.

CLI := $(BUILD)/execalign
CLI_SOURCES := $(wildcard cli/*.c) $(CORE_SOURCES)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(BUILD)/obj/cli/%.o)
CLI_PATHS := $(BUILD)/obj/cli/paths.h
CLI_CFLAGS = $(COMMON_CFLAGS) -D_GNU_SOURCE -pthread -I$(BUILD)/obj/cli
CLI_LIBRARIES := -pthread -ljson-c -lelf -lpfm

all: $(CLI)

# Where the shim is looked for once it is installed. Rewritten only when LIBDIR is another one.
$(CLI_PATHS): FORCE
	@mkdir -p $(@D)
	@printf '#define EXECALIGN_LIBDIR "%s"\n' '$(LIBDIR)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

.PHONY: FORCE
FORCE:

$(BUILD)/obj/cli/cli/launch.o: $(CLI_PATHS)

$(BUILD)/obj/cli/%.o: %.c | $(BUILD)/deps/cli
	@mkdir -p $(@D)
	$(CC) $(CLI_CFLAGS) $(CFLAGS) -c -o $@ $<

$(CLI): $(CLI_OBJECTS) cli/cli.mk
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(CLI_LIBRARIES)

$(BUILD)/deps/cli:
	@mkdir -p $(@D)
	@mk/deps.sh gcc libc6-dev libelf-dev libjson-c-dev libpfm4-dev
	@touch $@

# For aarch64, against Debian 12's libraries: the cross compiler prefers libraries of its own and must
# be told to take these. $(CLI_SYSROOT) is a link into the cache.
CLI_AARCH64 := $(BUILD)/aarch64/execalign
CLI_SYSROOT := $(BUILD)/aarch64/sysroot
CLI_SYSROOT_SUITE := bookworm
CLI_SYSROOT_PACKAGES := libc6 libc6-dev libgcc-s1 linux-libc-dev libjson-c5 libjson-c-dev \
	libelf1 libelf-dev libpfm4 libpfm4-dev zlib1g zlib1g-dev
CLI_SYSROOT_CFLAGS = --sysroot=$(CLI_SYSROOT) -isystem $(CLI_SYSROOT)/usr/include/aarch64-linux-gnu \
	-isystem $(CLI_SYSROOT)/usr/include
CLI_SYSROOT_LDFLAGS = --sysroot=$(CLI_SYSROOT) -B$(CLI_SYSROOT)/usr/lib/aarch64-linux-gnu \
	-L$(CLI_SYSROOT)/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,$(CLI_SYSROOT)/lib/aarch64-linux-gnu

.PHONY: cli-aarch64
cli-aarch64: $(CLI_AARCH64)

$(BUILD)/obj/cli-aarch64/cli/launch.o: $(CLI_PATHS)

$(BUILD)/obj/cli-aarch64/%.o: %.c | $(BUILD)/deps/cli-aarch64
	@mkdir -p $(@D)
	$(CC_AARCH64) $(CLI_CFLAGS) $(CLI_SYSROOT_CFLAGS) -O2 -g -c -o $@ $<

$(CLI_AARCH64): $(CLI_SOURCES:%.c=$(BUILD)/obj/cli-aarch64/%.o) cli/cli.mk
	@mkdir -p $(@D)
	$(CC_AARCH64) $(CLI_SYSROOT_LDFLAGS) -o $@ $(filter %.o,$^) $(CLI_LIBRARIES)

$(BUILD)/deps/cli-aarch64: mk/sysroot.sh cli/cli.mk
	@mkdir -p $(@D) $(dir $(CLI_SYSROOT))
	@mk/deps.sh gcc-aarch64-linux-gnu debian-archive-keyring
	@sysroot=$$(BUILD='$(BUILD)' mk/sysroot.sh $(CLI_SYSROOT_SUITE) arm64 $(CLI_SYSROOT_PACKAGES)) && \
		ln -sfn "$$sysroot" $(CLI_SYSROOT)
	@touch $@

install: all man
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR) $(DESTDIR)$(MANDIR)/man1 \
		$(DESTDIR)$(MANDIR)/man8 $(DESTDIR)$(COMPLETIONSDIR)
	$(INSTALL) -m 755 $(CLI) $(DESTDIR)$(BINDIR)/execalign
	$(INSTALL) -m 644 $(BUILD)/libexecalign.so $(DESTDIR)$(LIBDIR)/libexecalign.so
	$(INSTALL) -m 644 $(BUILD)/man/execalign.1 $(DESTDIR)$(MANDIR)/man1/execalign.1
	$(INSTALL) -m 644 $(BUILD)/man/libexecalign.so.8 \
		$(DESTDIR)$(MANDIR)/man8/libexecalign.so.8
	$(INSTALL) -m 644 cli/completion.bash $(DESTDIR)$(COMPLETIONSDIR)/execalign
