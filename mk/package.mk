# Packages to give to others.
#
#   make dist   a tarball that builds without git: build/refrain-VERSION.tar.gz
#   make deb    Debian packages of this release of Debian, in build/deb, and what lintian says of them

.PHONY: dist deb

DIST := refrain-$(VERSION)

dist:
	@mkdir -p $(O)
	@git ls-files -z | tar --null --files-from=- --transform='s|^|$(DIST)/|' -czf $(O)/$(DIST).tar.gz
	@echo "$(O)/$(DIST).tar.gz"

deb: dist
	@tools/install-deps.sh build mpi option deb
	rm -rf $(O)/deb
	mkdir -p $(O)/deb
	tar -C $(O)/deb -xzf $(O)/$(DIST).tar.gz
	cd $(O)/deb/$(DIST) && dpkg-buildpackage -b -us -uc
	rm -rf $(O)/deb/$(DIST)
	lintian --fail-on=error --suppress-tags=bogus-mail-host $(O)/deb/*.changes
