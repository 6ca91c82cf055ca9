# make demo: the main job on real input. Installs what is missing first.

CALLERS := $(BUILD)/bin/callers
LIBRARY_SOURCES := $(shell find $(wildcard src runtime cmm) -name '*.hs' -o -name '*.[chS]' -o -name '*.cmm')

$(CALLERS): $(LIBRARY_SOURCES) $(wildcard examples/demo/*) capstan.cabal cabal.project
	$(call cabal_program,callers)

.PHONY: demo
demo: ## Installs what is missing, builds all, runs an image job and a Haskell program.
	sh tools/install-dependencies build demo
	@$(MAKE) --no-print-directory all $(CALLERS)
	@bash tools/demo $(CALLERS)
