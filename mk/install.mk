# make install PREFIX=… DESTDIR=…; make uninstall removes the same files.

libdir := $(PREFIX)/lib/capstan
# Every installed file, so that uninstall knows them: those of C programs, and those of the command.
LIBRARY_FILES = \
    $(libdir)/libgomp.so.1.0.0 \
    $(libdir)/libgomp.so.1 \
    $(libdir)/libomp.so.5 \
    $(libdir)/libiomp5.so \
    $(libdir)/libcapstan-llvm.so \
    $(libdir)/libcapstan-intel.so \
    $(libdir)/libcapstan-tcm.so \
    $(libdir)/libtcm.so.1 \
    $(libdir)/libomp.so \
    $(libdir)/libcapstan-adopt.so \
    $(PREFIX)/include/capstan.h \
    $(PREFIX)/lib/pkgconfig/capstan.pc
COMMAND_FILES = \
    $(PREFIX)/bin/capstan \
    $(libdir)/libcapstan-rts.so \
    $(PREFIX)/share/man/man1/capstan.1 \
    $(PREFIX)/share/bash-completion/completions/capstan \
    $(PREFIX)/share/zsh/vendor-completions/_capstan \
    $(PREFIX)/share/fish/vendor_completions.d/capstan.fish

.PHONY: install install-lib uninstall absolute-prefix
# A relative folder would lie below the source folder, wherever make was called (-C).
absolute-prefix:
	@case '$(PREFIX)' in /*) ;; *) echo 'PREFIX must be an absolute path, not "$(PREFIX)"' >&2; exit 2 ;; esac

install-lib: absolute-prefix lib ## Installs the C library alone, which needs no Haskell.
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(LIBRARY_FILES))))
	install -m 755 $(LIBGOMP) $(LLVM_NAMES) $(INTEL_NAMES) $(TCM_NAMES) $(ADOPT_LIBRARY) $(DESTDIR)$(libdir)
	for name in libgomp.so.1 libomp.so.5 libiomp5.so; do ln -sf libgomp.so.1.0.0 $(DESTDIR)$(libdir)/$$name; done
	ln -sf libcapstan-llvm.so $(DESTDIR)$(libdir)/libomp.so
	ln -sf libcapstan-tcm.so $(DESTDIR)$(libdir)/libtcm.so.1
	install -m 644 runtime/include/capstan.h $(DESTDIR)$(PREFIX)/include/capstan.h
	sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' docs/capstan.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/capstan.pc

install: all install-lib ## Installs below PREFIX (/usr/local), or DESTDIR/PREFIX.
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(COMMAND_FILES))))
	install -m 755 $(COMMAND) $(DESTDIR)$(PREFIX)/bin/capstan
	install -m 755 $(RTS_LIBRARY) $(DESTDIR)$(libdir)
	sed -e 's|@VERSION@|$(VERSION)|g' docs/capstan.1 > $(DESTDIR)$(PREFIX)/share/man/man1/capstan.1
	$(COMMAND) --bash-completion-script $(PREFIX)/bin/capstan \
	    > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/capstan
	$(COMMAND) --zsh-completion-script $(PREFIX)/bin/capstan \
	    > $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_capstan
	$(COMMAND) --fish-completion-script $(PREFIX)/bin/capstan \
	    > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/capstan.fish

uninstall: absolute-prefix ## Removes all installed files.
	rm -f $(addprefix $(DESTDIR),$(LIBRARY_FILES) $(COMMAND_FILES))
	-rmdir $(DESTDIR)$(libdir)
