# What is made with GHC: build/bin/capstan by Cabal, so that flags and modules are written down
# once, and build/lib/libcapstan-rts.so by GHC itself.

# A configuration of our own: Cabal's default one asks Hackage for its keys on first use, and that
# fails without a network. All packages come from Debian.
export CABAL_CONFIG := $(abspath tools/cabal.config)
export CABAL_DIR := $(abspath $(BUILD)/cabal/home)
CABAL_DIST := $(abspath $(BUILD)/cabal/dist)
CABAL_FLAGS := --builddir=$(CABAL_DIST)
# Cabal does not know which headers a C file includes, and calls a package up to date whose objects
# were compiled with older ones. So its work is thrown away when a header has changed. GHC does not
# link a program again if only a library's C code has changed. So when a C file has changed, the
# programs are thrown away, with Cabal's notes of what is up to date. One Cabal at a time, whatever
# -j says: two take each other's files.
cabal_changed = find runtime app cmm src-bench examples tests bench \( $(1) \) -newer $(CABAL_DIR) | grep -q .
CABAL_RUN = mkdir -p $(CABAL_DIR) $(CABAL_DIST) && exec 9>$(BUILD)/cabal/lock && flock 9 && \
    if $(call cabal_changed,-name '*.h'); then rm -rf $(CABAL_DIST); touch $(CABAL_DIR); \
    elif $(call cabal_changed,-name '*.[cS]' -o -name '*.cmm'); then \
        find $(CABAL_DIST) -type f \( -perm -u+x ! -name '*.so' -o -path '*/cache/build' \) -delete; \
        touch $(CABAL_DIR); fi && $(CABAL) -v1

# cabal_program NAME: builds the program of this name, and copies it to the target.
define cabal_program
	@mkdir -p $(@D)
	$(CABAL_RUN) build $(CABAL_FLAGS) exe:$(1) && \
	    install -m 755 "$$($(CABAL) -v0 list-bin $(CABAL_FLAGS) exe:$(1))" $@
endef

COMMAND := $(BUILD)/bin/capstan
COMMAND_SOURCES := $(shell find app -name '*.hs' -o -name '*.[ch]')

$(COMMAND): $(COMMAND_SOURCES) app/capstan-cli.cabal cabal.project
	$(call cabal_program,capstan)

# The rts substrate as a library of its own. Its C sources ask GHC's headers; GHC links, so that the
# library needs GHC's own libraries and knows where they lie.
# The rts substrate for C programs: its C files, the three of the runtime that it shares, and the one
# Haskell module that a worker runs, with GHC's runtime system linked in. The module is compiled
# apart from Cabal, because here it belongs to no package. make says when: GHC
# would leave an object older than a source that is newer but the same.
RTS_LIBRARY := $(BUILD)/lib/libcapstan-rts.so
RTS_MODULE := src/Capstan/Internal/Worker.hs
RTS_SOURCES := $(sort $(wildcard runtime/substrate/rts/*.c) \
    runtime/substrate/thread.c \
    $(addprefix runtime/platform/linux/,confined.c cpu_mask.c futex.c))
RTS_OBJECTS := $(RTS_SOURCES:%=$(BUILD)/obj/rts/%.o)
RTS_MODULE_OBJECT := $(BUILD)/obj/rts/hs/$(RTS_MODULE:src/%.hs=%.o)
RTS_EXPORTS := runtime/substrate/rts/exports.map
GHC_FLAGS := -v0 -fforce-recomp -dynamic -this-unit-id capstan-rts
GHC_INCLUDE = $(firstword $(dir $(wildcard $(addsuffix /include/Rts.h,$(GHC_LIBDIR)) \
    $(GHC_LIBDIR)/*/*/include/Rts.h $(GHC_LIBDIR)/*/*/*/include/Rts.h)))
GHC_LIBDIR = $(or $(shell $(GHC) --print-libdir 2>/dev/null),$(error there is no GHC here ($(GHC)): $(HOW_TO_INSTALL)))

$(BUILD)/obj/rts/%.c.o: %.c capstan.cabal
	@mkdir -p $(@D)
	$(COMPILE) -isystem $(GHC_INCLUDE) -fPIC -DCST_SHARED_LIBRARY -c $< -o $@

$(RTS_MODULE_OBJECT): $(RTS_MODULE)
	@mkdir -p $(BUILD)/obj/rts/hs
	$(GHC) $(GHC_FLAGS) -O1 -fPIC -isrc -outputdir $(BUILD)/obj/rts/hs -c $<

$(RTS_LIBRARY): $(RTS_OBJECTS) $(RTS_MODULE_OBJECT) $(RTS_EXPORTS)
	@mkdir -p $(@D)
	$(GHC) $(GHC_FLAGS) -shared -threaded -flink-rts $(RTS_OBJECTS) $(RTS_MODULE_OBJECT) -o $@ \
	    -optl-Wl,-soname,$(@F) -optl-Wl,-z,nodelete -optl-Wl,-z,relro \
	    -optl-Wl,--version-script=$(RTS_EXPORTS)

-include $(RTS_OBJECTS:.o=.d)

.PHONY: rts command
rts: $(RTS_LIBRARY) ## The rts substrate alone: build/lib/libcapstan-rts.so.
command: $(COMMAND) ## The command alone: build/bin/capstan.

.PHONY: cabal-all cabal-check cabal-test
cabal-all: # Tests and examples too.
	$(CABAL_RUN) build $(CABAL_FLAGS) --enable-tests all

# A warning is an error.
cabal-check:
	@mkdir -p $(CABAL_DIR)
	@for package in . app exports examples src-task src-bench; do \
	    (cd $$package && $(CABAL) check) >$(BUILD)/cabal/check.txt 2>&1 && \
	        ! grep '^Warning' $(BUILD)/cabal/check.txt || { cat $(BUILD)/cabal/check.txt; exit 1; }; \
	done

cabal-test: ## The Haskell tests alone.
	$(CABAL_RUN) test $(CABAL_FLAGS) --test-show-details=failures all
