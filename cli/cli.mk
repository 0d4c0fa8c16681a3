# SPDX-License-Identifier: MIT
# cli/: the command execalign, and what `make install` copies.

CLI := $(BUILD)/execalign
CLI_SOURCES := $(wildcard cli/*.c) $(CORE_SOURCES)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(BUILD)/obj/cli/%.o)
CLI_PATHS := $(BUILD)/obj/cli/paths.h
CLI_CFLAGS = $(COMMON_CFLAGS) -D_GNU_SOURCE -I$(BUILD)/obj/cli

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
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -ljson-c

$(BUILD)/deps/cli:
	@mkdir -p $(@D)
	@mk/deps.sh gcc libc6-dev libjson-c-dev
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
