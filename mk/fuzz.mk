# Fuzzers of the runtime's parsers (tests/fuzz/README.md), by clang, as GCC has no libFuzzer.

CLANG ?= clang-14
SECONDS ?= 600
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZERS := $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)
FUZZ_FLAGS := -O1 -g -DCST_CHECK_LEVEL=2 -fno-sanitize-recover=all
comma := ,
# Files in memory stand in for the kernel's (tests/fuzz/files.h).
FUZZ_FILES := $(addprefix -Wl$(comma)--wrap=,open read close statfs)
$(BUILD)/fuzz/quota $(BUILD)/fuzz/topology: FUZZ_LINK := $(FUZZ_FILES)

$(BUILD)/obj/fuzz/%: private CC := $(CLANG)
$(eval $(call variant,fuzz,$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link$$(comma)address$$(comma)undefined))

$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) $(BUILD)/obj/fuzz/libcapstan.a
	@mkdir -p $(@D)
	$(CLANG) $(CABAL_CFLAGS) $(CABAL_INCLUDES) $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined \
	    $< $(BUILD)/obj/fuzz/libcapstan.a $(FUZZ_LINK) -o $@ -ldl -lpthread

.PHONY: fuzz fuzzers
fuzzers: $(FUZZERS)

fuzz: test-dependencies ## Each parser on made-up input, for SECONDS=600 each; NAME=places: one.
	@tests/fuzz/fuzz.sh $(SECONDS) $(NAME)
