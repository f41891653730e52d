# Installation: the tool in bin, the recorders in lib/refrain (the tool finds them relative to
# itself, so the tree can be moved), library and headers for others, what programs with regions need
# (header, Fortran module, library), the module for Python, man pages, completion of shells.
#
# Programs in C are linked with the static library, and run wherever it was installed: there
# is no link librefrain.so, which -lrefrain would take. The shared library is for those that load it.

.PHONY: install uninstall

INSTALL_BIN     := $(DESTDIR)$(PREFIX)/bin
INSTALL_LIB     := $(DESTDIR)$(PREFIX)/lib
INSTALL_INCLUDE := $(DESTDIR)$(PREFIX)/include/refrain
INSTALL_MAN     := $(DESTDIR)$(PREFIX)/share/man
INSTALL_BASH    := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
INSTALL_ZSH     := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
INSTALL_FISH    := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# Debian's python3 looks there by itself with PREFIX=/usr. The module finds the library relative to itself.
PYTHONDIR       := $(PREFIX)/lib/python3/dist-packages
INSTALL_PYTHON  := $(DESTDIR)$(PYTHONDIR)/refrain

install: all
	install -d $(INSTALL_BIN) $(INSTALL_LIB)/refrain $(INSTALL_LIB)/pkgconfig $(INSTALL_INCLUDE)
	install -m 755 $(TOOL) $(INSTALL_BIN)/
	install -m 644 $(LIB) $(REGION_LIB) $(INSTALL_LIB)/
	install -m 755 $(SHARED_LIB) $(INSTALL_LIB)/
	install -m 644 $(RECORDERS) $(INSTALL_LIB)/refrain/
	install -m 755 $(MPI_PROGRAMS) $(SIMGRID_PROGRAM) $(INSTALL_LIB)/refrain/
	install -m 644 $(wildcard include/refrain/*.h include/refrain/*.f90) $(INSTALL_INCLUDE)/
	for section in 1 3 5 7; do \
	    for page in doc/man/*.$$section; do \
	        if [ -e "$$page" ]; then \
	            install -D -m 644 "$$page" "$(INSTALL_MAN)/man$$section/$${page##*/}"; \
	        fi; \
	    done; \
	done
	if command -v lowdown >/dev/null 2>&1; then \
	    install -d $(INSTALL_MAN)/man5; \
	    lowdown -s -Tman -m title=refrain-archive -m section=5 -o \
	        $(INSTALL_MAN)/man5/refrain-archive.5 doc/refrain-archive.5.md; \
	fi
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: refrain' \
	    'Description: records, reduces and analyzes the communication of MPI programs' \
	    'Version: $(VERSION)' \
	    'Libs.private: $(strip $(LIBS) $(CONVERT_LIBS)) -lpthread -lm' \
	    'Libs: -L$${prefix}/lib -lrefrain' 'Cflags: -I$${prefix}/include' \
	    >$(INSTALL_LIB)/pkgconfig/refrain.pc
	printf '%s\n' 'prefix=$(PREFIX)' 'fortran_module=$${prefix}/include/refrain/refrain.f90' \
	    'Name: refrain-region' 'Description: names for parts of an MPI program, for Refrain' \
	    'Version: $(VERSION)' 'Libs: -L$${prefix}/lib -lrefrain-region -ldl' \
	    'Cflags: -I$${prefix}/include' >$(INSTALL_LIB)/pkgconfig/refrain-region.pc
	install -d $(INSTALL_PYTHON)
	install -m 644 python/refrain/*.py python/refrain/py.typed $(INSTALL_PYTHON)/
	printf 'LIBRARY = "%s"  # from this folder\n' \
	    "$$(realpath -m --relative-to=$(PYTHONDIR)/refrain $(PREFIX)/lib/$(SHARED_NAME))" \
	    >$(INSTALL_PYTHON)/_installed.py
	install -d $(INSTALL_BASH) $(INSTALL_ZSH) $(INSTALL_FISH)
	$(TOOL) completion bash >$(INSTALL_BASH)/refrain
	$(TOOL) completion zsh >$(INSTALL_ZSH)/_refrain
	$(TOOL) completion fish >$(INSTALL_FISH)/refrain.fish
	@DESTDIR=$(DESTDIR) tools/install-summary.sh $(VERSION) $(PREFIX) $(PYTHONDIR) "$(FLAVOURS)"

uninstall:
	rm -rf $(INSTALL_BIN)/refrain $(INSTALL_LIB)/refrain $(INSTALL_INCLUDE) \
	    $(INSTALL_LIB)/librefrain.a $(INSTALL_LIB)/$(SHARED_NAME) $(INSTALL_LIB)/librefrain-region.a \
	    $(INSTALL_PYTHON) \
	    $(INSTALL_LIB)/pkgconfig/refrain.pc $(INSTALL_LIB)/pkgconfig/refrain-region.pc \
	    $(INSTALL_BASH)/refrain $(INSTALL_ZSH)/_refrain $(INSTALL_FISH)/refrain.fish
	rm -f $(INSTALL_MAN)/man5/refrain-archive.5
	for page in $(notdir $(wildcard doc/man/*.[1-8])); do \
	    rm -f "$(INSTALL_MAN)/man$${page##*.}/$$page"; \
	done
