# Formatters and linters. Their rules are in .clang-format, .clang-tidy and .hlint.yaml.

C_FILES := $(shell find runtime app src-bench tests examples bench -name '*.[ch]' 2>/dev/null | sort)
# Programs that must not compile are kept as they are.
HASKELL_FILES := $(shell find app src src-bench src-task tests examples bench -type f -name '*.hs' \
    -not -path 'tests/hs/linear/fail/*' 2>/dev/null | sort)
SHELL_FILES = $(shell grep -l -r -E '^\#! ?/bin/(ba)?sh' tools tests .ci 2>/dev/null | sort)
CLANG_FORMAT ?= clang-format-14
CLANG_TIDY ?= clang-tidy-14

.PHONY: fmt lint lint-format-c lint-format-haskell lint-haskell lint-shell lint-tidy
fmt: ## Formats all C and Haskell files.
	sh tools/install-dependencies lint
	$(CLANG_FORMAT) -i $(C_FILES)
	$(if $(HASKELL_FILES),ormolu --mode inplace $(HASKELL_FILES))
	python3 tools/cabal-lists --write

lint: ## Says what the formatters and linters would change.
	sh tools/install-dependencies lint
	@$(MAKE) --no-print-directory -k lint-format-c lint-format-haskell lint-haskell lint-shell lint-tidy

lint-format-c:
	$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

lint-format-haskell:
	$(if $(HASKELL_FILES),ormolu --mode check $(HASKELL_FILES))

lint-haskell:
	$(if $(HASKELL_FILES),hlint --no-summary --cpp-include=runtime/platform/$(ARCH) $(HASKELL_FILES))

lint-shell:
	shellcheck --severity=warning --external-sources $(SHELL_FILES)

lint-tidy:
	@printf '%s\n' $(filter %.c,$(LIB_SOURCES)) | xargs -P $(JOBS) -n 6 sh -c \
	    '$(CLANG_TIDY) --quiet --warnings-as-errors="*" "$$@" -- $(CABAL_CFLAGS) $(CABAL_INCLUDES) \
	        2>/dev/null' tidy
