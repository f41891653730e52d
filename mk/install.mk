# Installation: the tool in bin, the recorders in lib/refrain (the tool finds them relative to
# itself, so the tree can be moved), library and headers for others, man pages.

.PHONY: install uninstall

INSTALL_BIN     := $(DESTDIR)$(PREFIX)/bin
INSTALL_LIB     := $(DESTDIR)$(PREFIX)/lib
INSTALL_INCLUDE := $(DESTDIR)$(PREFIX)/include/refrain
INSTALL_MAN     := $(DESTDIR)$(PREFIX)/share/man

install: all
	install -d $(INSTALL_BIN) $(INSTALL_LIB)/refrain $(INSTALL_LIB)/pkgconfig $(INSTALL_INCLUDE)
	install -m 755 $(TOOL) $(INSTALL_BIN)/
	install -m 644 $(LIB) $(INSTALL_LIB)/
	install -m 644 $(RECORDERS) $(INSTALL_LIB)/refrain/
	install -m 644 $(wildcard include/refrain/*.h) $(INSTALL_INCLUDE)/
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
	    'Version: $(VERSION)' 'Requires.private: libzstd libdw libelf jansson' \
	    'Libs: -L$${prefix}/lib -lrefrain' 'Cflags: -I$${prefix}/include' \
	    >$(INSTALL_LIB)/pkgconfig/refrain.pc

uninstall:
	rm -rf $(INSTALL_BIN)/refrain $(INSTALL_LIB)/refrain $(INSTALL_LIB)/librefrain.a \
	    $(INSTALL_LIB)/pkgconfig/refrain.pc $(INSTALL_INCLUDE)
	rm -f $(INSTALL_MAN)/man1/refrain.1 $(INSTALL_MAN)/man1/refrain-*.1 \
	    $(INSTALL_MAN)/man5/refrain-*.5
