# The demonstration: from a fresh checkout to the report on a recorded run, in one command. It asks
# before it installs anything (NO_INSTALL=1: it only says what is missing).

.PHONY: demo

demo:
	@tools/install-deps.sh build mpi run
	+@$(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) --no-print-directory O=$(O) all
	@tools/demo.sh $(O)
