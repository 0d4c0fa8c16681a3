# SPDX-License-Identifier: MIT
# tests/native/native.mk - what the scenarios run: programs and libraries in $(BUILD)/fixtures
#
# fixtures	builds them; deps-native installs the Debian packages that the scenarios use.
# The scenarios are tests/native/NN-name.sh; tests/run.sh runs them.

# gcc with its sanitizers' libraries, clang with its own; programs with many or large libraries;
# debuggers and tracers; what only some scenarios need is asked for there and skipped otherwise.
NATIVE_PACKAGES := gcc libc6-dev binutils lld clang libclang-rt-dev gdb strace linux-perf perl \
	python3 libjemalloc2 musl-tools util-linux mount squashfs-tools

FIXTURES := $(BUILD)/fixtures
FIXTURE_CFLAGS := -O1 -g $(WARNINGS) -std=gnu11 -fno-builtin-malloc
FIXTURE_SOURCES := tests/fixtures

.PHONY: deps-native fixtures
deps-native: $(BUILD)/deps/native
$(BUILD)/deps/native: mk/deps.sh tests/native/native.mk
	@mkdir -p $(@D)
	@mk/deps.sh $(NATIVE_PACKAGES)
	@touch $@

# Libraries: text in KiB, layout, linker options (make_library.sh).
LIBRARY_text5m := 5120 bfd
LIBRARY_text6m := 6144 bfd
LIBRARY_text10m := 10240 bfd
LIBRARY_text300k := 300 bfd
LIBRARY_unresolved := 5120 unresolved
# Each layout, linked with the program layouts. A text of 3 MiB that begins at 4 KiB holds no whole
# 2 MiB block. The addresses differ so that each library can have the one it asks for.
LIBRARY_l_bfd := 5120 bfd
LIBRARY_l_large := 10240 bfd
LIBRARY_l_none := 3072 bfd
LIBRARY_l_300k := 300 bfd
LIBRARY_l_100k := 100 bfd
LIBRARY_l_align64k := 5120 bfd -z max-page-size=0x10000
LIBRARY_l_align2m := 5120 bfd -z max-page-size=0x200000
LIBRARY_l_together := 5120 bfd -z noseparate-code
LIBRARY_l_based := 5120 bfd -Ttext-segment=0x10000000
LIBRARY_l_oddbased := 5120 bfd -Ttext-segment=0x20001000
LIBRARY_l_based64k := 5120 bfd -Ttext-segment=0x30010000 -z max-page-size=0x10000
LIBRARY_l_lld := 5120 lld
LIBRARY_l_lld64k := 5120 lld -z max-page-size=0x10000
LIBRARY_l_lld2m := 5120 lld -z max-page-size=0x200000
LIBRARY_l_lldseparate := 5120 lld -z separate-loadable-segments
LIBRARY_l_lldbased := 5120 lld --image-base=0x40001000
LIBRARY_l_two := 5120 two --section-start=.text_second=0xb04000
LIBRARY_l_two64k := 5120 two --section-start=.text_second=0xb40000 -z max-page-size=0x10000
LAYOUTS := l_bfd l_large l_none l_300k l_100k l_align64k l_align2m l_together l_based l_oddbased \
	l_based64k l_lld l_lld64k l_lld2m l_lldseparate l_lldbased l_two l_two64k
# 48 libraries, 12 of them eligible.
MANY := $(foreach i,0 1 2 3 4 5,$(foreach j,0 1 2 3 4 5 6 7,many$(i)$(j)))
$(foreach name,$(MANY),$(eval LIBRARY_$(name) := \
	$(if $(filter %0 %4,$(name)),4200,64) bfd))

LIBRARIES := text5m text6m text10m text300k unresolved $(LAYOUTS) $(MANY)
LIBRARY_FILES := $(LIBRARIES:%=$(FIXTURES)/lib%.so)

$(LIBRARY_FILES): $(FIXTURES)/lib%.so: $(FIXTURE_SOURCES)/make_library.sh tests/native/native.mk \
		| $(BUILD)/deps/native
	@mkdir -p $(@D)
	CC=gcc $(FIXTURE_SOURCES)/make_library.sh $@ $(LIBRARY_$*)

# Programs: plain, with an eligible library, or built in a way of their own.
PLAIN := inherit starts evict cli_map seccomp_run fexec threads mmap_exec \
	noload_last hugetlb_exec small_stack thread_filter simple_tracer upset_probes title
TRACING := exit_maps $(if $(filter x86_64%,$(shell uname -m)),fail_shim_syscall)
WITH_TEXT := app state fork_spawn
SANITIZED := asan ubsan tsan asan-clang
PROGRAMS := $(PLAIN) $(TRACING) $(WITH_TEXT) $(SANITIZED) many layouts tls tls128 tsan_reuse \
	jemalloc static mmap_exec-musl private_memory
PROGRAM_FILES := $(PROGRAMS:%=$(FIXTURES)/%)
EXTRA_FILES := $(FIXTURES)/libtls4k.so $(FIXTURES)/other_auditor.so $(FIXTURES)/other_preload.so \
	$(FIXTURES)/libtls128.so $(FIXTURES)/closing_auditor.so $(FIXTURES)/counting_preload.so

# make takes a bare parenthesis for its own.
open := (
close := )

FIXTURE_CC = gcc $(FIXTURE_CFLAGS) -pthread -Wl,-rpath,'$$ORIGIN' -L$(FIXTURES)
FIXTURE_CLANG = clang $(FIXTURE_CFLAGS) -pthread -Wl,-rpath,'$$ORIGIN' -L$(FIXTURES)

$(PLAIN:%=$(FIXTURES)/%): $(FIXTURES)/%: $(FIXTURE_SOURCES)/%.c | $(BUILD)/deps/native
	@mkdir -p $(@D)
	$(FIXTURE_CC) -o $@ $<

$(TRACING:%=$(FIXTURES)/%): $(FIXTURES)/%: $(FIXTURE_SOURCES)/%.c \
		$(FIXTURE_SOURCES)/traced_child.c $(FIXTURE_SOURCES)/traced_child.h | $(BUILD)/deps/native
	@mkdir -p $(@D)
	$(FIXTURE_CC) -o $@ $(filter %.c,$^)

$(WITH_TEXT:%=$(FIXTURES)/%): $(FIXTURES)/%: $(FIXTURE_SOURCES)/%.c $(FIXTURES)/libtext5m.so \
		$(FIXTURES)/libtext10m.so
	$(FIXTURE_CC) -o $@ $< -ltext5m $(if $(filter app,$*),-ltext10m)

# The benchmark's; with an eligible library, so that there is something to gain.
$(FIXTURES)/private_memory: bench/fixtures/private-memory.c $(FIXTURES)/libtext5m.so
	$(FIXTURE_CC) -Wl,--no-as-needed -o $@ $< -ltext5m

$(FIXTURES)/many: $(FIXTURE_SOURCES)/many_main.c $(MANY:%=$(FIXTURES)/lib%.so)
	$(FIXTURE_CC) -o $@ $< $(MANY:%=-l%)

$(FIXTURES)/layouts: $(FIXTURE_SOURCES)/layouts_main.c $(LAYOUTS:%=$(FIXTURES)/lib%.so)
	$(FIXTURE_CC) '-DLAYOUTS=$(LAYOUTS:%=X$(open)%$(close))' -o $@ $< $(LAYOUTS:%=-l%)

$(FIXTURES)/libtls4k.so $(FIXTURES)/libtls128.so: $(FIXTURES)/libtls%.so: \
		$(FIXTURE_SOURCES)/tls_library.c | $(BUILD)/deps/native
	@mkdir -p $(@D)
	$(FIXTURE_CC) $(if $(filter 128,$*),-DTLS_ALIGN_BYTES=128) -shared -fPIC \
		-Wno-missing-prototypes -o $@ $<

$(FIXTURES)/tls $(FIXTURES)/tls128: $(FIXTURE_SOURCES)/tls_main.c $(FIXTURES)/libtls4k.so \
		$(FIXTURES)/libtls128.so $(FIXTURES)/libtext5m.so
	$(FIXTURE_CC) -o $@ $< $(if $(filter %tls128,$@),-ltls128,-ltls4k) -ltext5m

$(FIXTURES)/jemalloc: $(FIXTURE_SOURCES)/jemalloc_main.c $(FIXTURES)/libtext5m.so
	$(FIXTURE_CC) -o $@ $< -l:libjemalloc.so.2 -ltext5m

$(FIXTURES)/static: $(FIXTURE_SOURCES)/static_main.c | $(BUILD)/deps/native
	@mkdir -p $(@D)
	$(FIXTURE_CC) -static -o $@ $<

$(FIXTURES)/asan: SANITIZE = $(FIXTURE_CC) -fsanitize=address
$(FIXTURES)/ubsan: SANITIZE = $(FIXTURE_CC) -fsanitize=undefined
$(FIXTURES)/tsan: SANITIZE = $(FIXTURE_CC) -fsanitize=thread
$(FIXTURES)/asan-clang: SANITIZE = $(FIXTURE_CLANG) -fsanitize=address
$(SANITIZED:%=$(FIXTURES)/%): $(FIXTURE_SOURCES)/sanitize_main.c $(FIXTURES)/libtext5m.so
	$(SANITIZE) -o $@ $< -ltext5m

$(FIXTURES)/tsan_reuse: $(FIXTURE_SOURCES)/tsan_reuse.c | $(BUILD)/deps/native
	@mkdir -p $(@D)
	$(FIXTURE_CC) -fsanitize=thread -o $@ $<

OTHERS := other_auditor other_preload closing_auditor counting_preload
$(OTHERS:%=$(FIXTURES)/%.so): $(FIXTURES)/%.so: \
		$(FIXTURE_SOURCES)/%.c | $(BUILD)/deps/native
	@mkdir -p $(@D)
	$(FIXTURE_CC) -shared -fPIC -Wno-missing-prototypes -o $@ $<

$(FIXTURES)/mmap_exec-musl: $(FIXTURE_SOURCES)/mmap_exec.c | $(BUILD)/deps/native
	@mkdir -p $(@D)
	musl-gcc $(FIXTURE_CFLAGS) -o $@ $<

fixtures: $(LIBRARY_FILES) $(PROGRAM_FILES) $(EXTRA_FILES)
