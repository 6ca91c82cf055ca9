# The front door. `make help` lists what one can ask for.
#
# What is built follows from the folders; flags stand in capstan.cabal and are read from there.
# The rules are in mk/: one file per part of the house.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

CC := gcc
GHC ?= ghc
CABAL ?= cabal
PREFIX ?= /usr/local
BUILD := build
JOBS ?= $(shell nproc)

VERSION := $(shell sed -n 's/^version: *//p' capstan.cabal)

HOW_TO_INSTALL := `sh tools/install-dependencies build' installs what make needs, and `make check' what tests need

include mk/library.mk
include mk/haskell.mk
include mk/tests.mk
include mk/fuzz.mk
include mk/release.mk
include mk/aarch64.mk
include mk/bench.mk
include mk/site.mk
include mk/style.mk
include mk/install.mk
include mk/wheel.mk
include mk/demo.mk

.PHONY: all help clean dependencies
all: lib rts command ## The library, the rts substrate and the command (the default).

help: ## This list.
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 30

clean: ## Removes all that was built.
	rm -rf $(BUILD) dist-newstyle
