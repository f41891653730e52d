# Other releases of Debian: each in a root of its own Refrain is built, demonstrated and tested
# (tests/systems.py).
#
#   make check-systems                  Debian 12, 13 and 14
#   make check-systems SYSTEMS=trixie   one of them; FULL=1: all of `make check` there
#   make systems-table                  the table of the last results, in doc/systems.md
#
# SYSTEMS_FOLDER: where roots, packages and builds lie. APPS_MIRROR: another mirror than apt's.

.PHONY: check-systems systems-table

SYSTEMS        :=
FULL           :=
SYSTEMS_FOLDER := $(O)/systems
SYSTEMS_WORDS   = --folder $(SYSTEMS_FOLDER) $(if $(APPS_MIRROR),--mirror $(APPS_MIRROR))

check-systems:
	@tools/install-deps.sh apps
	@python3 tests/systems.py $(SYSTEMS_WORDS) $(if $(FULL),--full) $(SYSTEMS)

systems-table:
	@python3 tests/systems.py $(SYSTEMS_WORDS) --table --write
