# SPDX-License-Identifier: MIT
# docs/: man pages out of scdoc.

MAN_PAGES := $(patsubst docs/%.scd,$(BUILD)/man/%,$(wildcard docs/*.scd))

.PHONY: man
all man: $(MAN_PAGES)

$(BUILD)/man/%: docs/%.scd | $(BUILD)/deps/docs
	@mkdir -p $(@D)
	scdoc <$< >$@.new
	mv $@.new $@

$(BUILD)/deps/docs:
	@mkdir -p $(@D)
	@mk/deps.sh scdoc
	@touch $@
