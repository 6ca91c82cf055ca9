# The other releases of Debian, each with its GCC and its GHC: tools/in-release.

RELEASE ?=

.PHONY: check-release
check-release: ## The tests in a chroot: RELEASE=trixie (GCC 14, GHC 9.6) or sid (GCC 16, GHC 9.10).
	$(if $(RELEASE),,$(error say which: make check-release RELEASE=trixie, or sid))
	@sh tools/install-dependencies release
	JOBS=$(JOBS) tools/in-release $(RELEASE)
