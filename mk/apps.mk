# Real applications: Debian's packages of them in a root of their own, run plainly and recorded in turn
# (tests/apps.py, doc/applications.md).
#
#   make apps                        all of them
#   make apps APPS="nwchem lammps"   some; APPS=ci: those of continuous integration
#   make apps-table                  the tables of the last results, in doc/applications.md
#
# PAIRS: pairs of runs. APPS_FOLDER: where root, packages and runs lie. APPS_MIRROR: another
# mirror than apt's.

.PHONY: apps apps-table

PAIRS       := 3
APPS        :=
APPS_FOLDER := $(O)/apps
APPS_MIRROR :=
APPS_WORDS   = --build $(O) --folder $(APPS_FOLDER) --pairs $(PAIRS) \
               $(if $(APPS_MIRROR),--mirror $(APPS_MIRROR))

apps: all
	@tools/install-deps.sh mpi run apps
	@python3 tests/apps.py $(APPS_WORDS) $(APPS)

apps-table:
	@python3 tests/apps.py $(APPS_WORDS) --table --write
