# Refrain's build: GNU make and pkg-config, no configure step.
#
#   make                 the tool, the library, a recorder per MPI that is installed
#   make demo            installs what is missing, builds, records an example and reports on it
#   make check           the tests (installs what they need); with ALL=1 also those that take long
#   make check-systems   Debian 12, 13 and 14, each in a root of its own; SYSTEMS=trixie is one of them
#   make apps            real applications, plain and recorded; APPS="nwchem heat" runs some of them
#   make install         PREFIX=/usr/local DESTDIR= PYTHONDIR=PREFIX/lib/python3/dist-packages
#   make dist deb        a tarball; Debian packages
#   make help            the other targets and variables
#
# Sources are found by wildcard: a new src/STAGE/x.c or src/STAGE/FOLDER/x.c needs no line here. How
# objects are compiled is below; the page for browsers is in mk/view.mk, tests in mk/test.mk, real
# applications in mk/apps.mk, other systems in mk/systems.mk, installation, packages
# and demonstration in mk/install.mk, mk/package.mk, mk/demo.mk.

VERSION := 0.1.0
O       := build
# One name, however it is given: what objects depend on is known of the names they were made with.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(O)))
ifneq ($(filter $(O)/%,$(CURDIR)/),)
$(error O=$(O) has the sources in it: it is to be a folder of its own)
endif
PREFIX  := /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
OBJCOPY := objcopy
SAN   :=
DEBUG :=
V     :=

# Goals that must work before anything is installed, or that need no compiler.
BARE_GOALS := help demo check check-systems systems-table dist deb deps clean distclean check-layers check-format format
GOALS      := $(or $(MAKECMDGOALS),all)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help clean distclean deps tests summary

ifneq ($(filter-out $(BARE_GOALS),$(GOALS)),)
include $(O)/config.mk
endif

# What the system has. The package database's time tells when to look again.
$(O)/config.mk: tools/probe.sh deps/packages $(wildcard /var/lib/dpkg/status)
	@MPICC_MPICH=$(MPICC_MPICH) MPICC_OPENMPI=$(MPICC_OPENMPI) tools/probe.sh $(CC) $@

# ---- flags ----

# -ffile-prefix-map keeps builds the same wherever the sources lie.
# Where sanitizers are in it, gcc warns of what is not so.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion $(if $(WERROR),$(if $(SAN),,-Werror))
# A report of a sanitizer tells functions and lines; more would take most of the time to build.
OPTIMIZE := $(if $(DEBUG),-O0 -g,$(if $(SAN),-O1 -g1,-O2 -g))
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS   ?=
CPPFLAGS ?=
LDFLAGS  ?=
BASE_FLAGS  = -std=c11 $(WARNINGS) $(OPTIMIZE) $(SANITIZE) -ffile-prefix-map=$(CURDIR)/= \
              -MMD -MP -Isrc -Iinclude $(CORE_INCLUDES) $(OTF2_INCLUDES) -DRFN_VERSION='"$(VERSION)"' \
              $(if $(HAVE_PAPI),-DRFN_HAVE_PAPI) $(if $(HAVE_ZLIB),-DRFN_HAVE_ZLIB) \
              $(if $(HAVE_EXPAT),-DRFN_HAVE_EXPAT)
# The library goes into the tool, into the recorders (shared objects) and into other programs. Of its
# symbols the shared library has those that public headers declare; they cost no more than hidden ones.
LIB_FLAGS   = $(BASE_FLAGS) -fPIC -fvisibility=hidden -fno-semantic-interposition $(CPPFLAGS) $(CFLAGS)
CLI_FLAGS   = $(BASE_FLAGS) $(CPPFLAGS) $(CFLAGS)
# Call paths are walked from the wrapper's frame on. MPI's headers count as system headers.
RECORD_FLAGS = $(LIB_FLAGS) -fno-omit-frame-pointer -D_GNU_SOURCE

q := $(if $(V),,@)
comma := ,
say = @$(if $(V),:,printf '  %-4s %s\n' $(1) $(2))

# Objects are made again when the way they are compiled changes, or the name of their folder.
ifneq ($(filter-out $(BARE_GOALS),$(GOALS)),)
STAMP_TEXT := $(CC) $(WARNINGS) $(OPTIMIZE) $(SANITIZE) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(VERSION) \
              $(if $(HAVE_PAPI),papi) $(if $(HAVE_OTF2),otf2) $(if $(HAVE_ZLIB),zlib) \
              $(if $(HAVE_EXPAT),expat) $(O)
ifneq ($(strip $(STAMP_TEXT)),$(strip $(file <$(O)/flags)))
$(shell mkdir -p $(O))
$(file >$(O)/flags,$(STAMP_TEXT))
endif
endif

# ---- sources ----

# Stages that make up librefrain; the recorder contains those that run inside the program.
LIB_FOLDERS      := base event reduce archive analyze explain predict convert simulate view
EMBEDDED_FOLDERS := base event reduce archive
# A stage's sources, in its folder and in the folders inside it.
files   = $(foreach f,$(1),$(wildcard src/$(f)/$(2) src/$(f)/*/$(2)))
# Of a library that may not be there: its files, or the one that says so.
OPTIONAL_SRC := $(if $(HAVE_OTF2),no_otf2.c,otf2_%.c)
sources = $(filter-out %_test.c %_fuzz.c src/view/wasm/% src/convert/otf2/$(OPTIONAL_SRC),$(call files,$(1),*.c))

LIB_SRC      := $(call sources,$(LIB_FOLDERS))
EMBEDDED_SRC := $(call sources,$(EMBEDDED_FOLDERS))
RECORD_SRC   := $(call sources,record)
CLI_SRC      := $(call sources,cli)
LIB_OBJ      := $(LIB_SRC:src/%.c=$(O)/obj/%.o) $(O)/obj/view/page.gen.o
EMBEDDED_OBJ := $(EMBEDDED_SRC:src/%.c=$(O)/obj/%.o)
CLI_OBJ      := $(CLI_SRC:src/%.c=$(O)/obj/%.o)

# ---- the library and the tool ----

TOOL := $(O)/refrain
LIB  := $(O)/librefrain.a
# For programs that load the library, as python/refrain does. Its number changes when a public function
# or structure does.
SHARED_NAME := librefrain.so.0
SHARED_LIB  := $(O)/lib/$(SHARED_NAME)
LIBS  = $(CORE_LIBS) $(JSON_LIBS) $(if $(HAVE_ZLIB),-lz) $(if $(HAVE_EXPAT),-lexpat) -ldl
# For whoever converts traces.
CONVERT_LIBS = $(OTF2_LIBS)

$(O)/obj/cli/%.o: src/cli/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(q)$(CC) $(CLI_FLAGS) -c -o $@ $<

$(O)/obj/%.o: src/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(q)$(CC) $(LIB_FLAGS) -c -o $@ $<

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(q)rm -f $@ && $(AR) rcsD $@ $^

$(SHARED_LIB): $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(q)$(CC) -shared $(OPTIMIZE) $(SANITIZE) $(LDFLAGS) -Wl,-soname,$(SHARED_NAME) \
	    $(if $(SAN),,-Wl$(comma)--no-undefined) -Wl,-Bsymbolic -Wl,-z,relro -o $@ $^ $(LIBS) $(CONVERT_LIBS) -lm -lpthread

$(TOOL): $(CLI_OBJ) $(LIB)
	$(call say,LD,$@)
	$(q)$(CC) $(OPTIMIZE) $(SANITIZE) $(LDFLAGS) -o $@ $(CLI_OBJ) $(LIB) $(LIBS) $(CONVERT_LIBS)

# What programs with regions are linked with: it passes calls on by jumps (src/program/region.c).
REGION_LIB := $(O)/librefrain-region.a

$(O)/obj/program/%.o: src/program/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(q)$(CC) -std=c11 $(WARNINGS) -O2 -g -fPIC -fomit-frame-pointer -D_GNU_SOURCE \
	    -ffile-prefix-map=$(CURDIR)/= -MMD -MP -Iinclude $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(REGION_LIB): $(O)/obj/program/region.o
	$(call say,AR,$@)
	$(q)rm -f $@ && $(AR) rcsD $@ $^

# ---- recorders: one per flavour of MPI ----

# A flavour's generated sources lie in $(O)/gen/FLAVOUR/record and are included as "record/...".
GENERATED         := functions.gen.h functions.gen.c mpi_table.gen.h mpi_table.gen.c wrappers.gen.c
GENERATED_FORTRAN := fortran.gen.c
HEAP_SYMBOLS      := malloc calloc realloc free

define flavour_rules
GEN_$(1)      := $$(GENERATED:%=$(O)/gen/$(1)/record/%)
FORTRAN_$(1)  := $$(if $$(filter smpi,$(1)),,$(O)/gen/$(1)/record/$$(GENERATED_FORTRAN))
GEN_OBJ_$(1)  := $$(patsubst $(O)/gen/$(1)/record/%.c,$(O)/obj/record-$(1)/%.o, \
                 $$(filter %.c,$$(GEN_$(1)) $$(FORTRAN_$(1))))
SRC_OBJ_$(1)  := $$(patsubst src/record/%.c,$(O)/obj/record-$(1)/%.o, \
                 $$(if $$(filter smpi,$(1)),$$(RECORD_SRC),$$(filter-out %/smpi_heap.c,$$(RECORD_SRC))))
FLAGS_$(1)     = $$(RECORD_FLAGS) -DRFN_FLAVOUR_$(2) -DRFN_FLAVOUR_NAME='"$(1)"' \
                 -I$(O)/gen/$(1) $$(MPI_INCLUDES_$(1))

$$(GEN_$(1)) &: src/record/wrap/gen_wrappers.py src/record/wrap/mpi.def $$(MPI_H_$(1)) $(O)/config.mk
	@mkdir -p $(O)/gen/$(1)/record
	$$(call say,GEN,$(O)/gen/$(1)/record)
	$$(q)python3 src/record/wrap/gen_wrappers.py --flavour $(1) --cc "$$(MPICC_$(1))" \
	    --def src/record/wrap/mpi.def --out $(O)/gen/$(1)/record
	@touch $$(GEN_$(1))

$$(FORTRAN_$(1)): src/record/wrap/gen_fortran.py src/record/wrap/gen_wrappers.py src/record/wrap/mpi.def \
    $$(MPI_H_$(1)) $(O)/config.mk | $$(GEN_$(1))
	$$(call say,GEN,$$@)
	$$(q)python3 src/record/wrap/gen_fortran.py --flavour $(1) --cc "$$(MPICC_$(1))" \
	    --def src/record/wrap/mpi.def --out $(O)/gen/$(1)/record

$$(GEN_OBJ_$(1)): $(O)/obj/record-$(1)/%.o: $(O)/gen/$(1)/record/%.c $(O)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(q)$$(CC) $$(FLAGS_$(1)) -c -o $$@ $$<

$(O)/obj/record-$(1)/%.o: src/record/%.c $(O)/flags | $$(GEN_$(1))
	@mkdir -p $$(@D)
	$$(call say,CC,"$$< ($(1))")
	$$(q)$$(CC) $$(FLAGS_$(1)) -c -o $$@ $$<

# Names are bound inside the recorder, so that nothing the program defines gets in between; an
# undefined MPI symbol is an error because MPI may not be loaded yet when the recorder is. The
# library's names stay inside: the program may load a librefrain of its own.
$(O)/lib/librefrain-$(1).so: $$(SRC_OBJ_$(1)) $$(GEN_OBJ_$(1)) $$(EMBEDDED_OBJ) src/record/hidden.map
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(q)$$(CC) -shared $$(OPTIMIZE) $$(LDFLAGS) -Wl,-soname,$$(@F) -Wl,--no-undefined -Wl,-z,nodelete \
	    -Wl,-Bsymbolic -Wl,-z,now -Wl,-z,relro -Wl,--build-id -Wl,--exclude-libs,ALL \
	    -Wl,--version-script,src/record/hidden.map -o $$@ $$(filter %.o,$$^) \
	    $$(CORE_LIBS) $$(UNWIND_LIBS) -lpthread -ldl

# For programs that are linked with the recorder: SMPI copies the program's data for each rank, so
# nothing may be preloaded there. It does so by copying the program's file, hence no debugging
# information: five times the size. src/record/core/smpi_heap.h says why malloc is another.
$(O)/lib/librefrain-$(1).a: $$(SRC_OBJ_$(1)) $$(GEN_OBJ_$(1)) $$(EMBEDDED_OBJ)
	@mkdir -p $$(@D)
	$$(call say,AR,$$@)
	$$(q)rm -f $$@ && $$(AR) rcsD $$@ $$(filter-out %/smpi_heap.o,$$^) $$(if $$(filter smpi,$(1)),&& \
	    $$(OBJCOPY) --strip-debug $$(foreach s,$$(HEAP_SYMBOLS),--redefine-sym $$(s)=rec_smpi_heap_$$(s)) $$@ && \
	    $$(AR) rcsD $$@ $$(filter %/smpi_heap.o,$$^))
endef

FLAVOUR_MACRO_mpich   := MPICH
FLAVOUR_MACRO_openmpi := OPENMPI
FLAVOUR_MACRO_smpi    := SMPI
FLAVOUR_MACRO_mpiabi  := MPIABI
# The recorder for the standard ABI needs no MPI to be built, programs that call MPI do.
RECORD_FLAVOURS  := $(FLAVOURS) mpiabi
PROGRAM_FLAVOURS := $(FLAVOURS) $(if $(MPI_LIBS_mpiabi),mpiabi)
$(foreach f,$(RECORD_FLAVOURS),$(eval $(call flavour_rules,$(f),$(FLAVOUR_MACRO_$(f)))))

# ---- programs that are MPI programs themselves: one of each per flavour ----

# `refrain replay`, `refrain calibrate` and `refrain gather` become them. Files mpi_*.c call MPI, the
# others do not and are compiled once.
PROGRAMS := replay calibrate gather

define program_rules
$(1)_MPI_SRC   := $$(filter src/$(1)/mpi_%,$$(call sources,$(1)))
$(1)_PLAIN_OBJ := $$(patsubst src/%.c,$(O)/obj/%.o,$$(filter-out $$($(1)_MPI_SRC),$$(call sources,$(1))))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rules,$(p))))

define program_flavour_rules
$(1)_OBJ_$(2) := $$($(1)_MPI_SRC:src/$(1)/%.c=$(O)/obj/$(1)-$(2)/%.o)

$$($(1)_OBJ_$(2)): $(O)/obj/$(1)-$(2)/%.o: src/$(1)/%.c $(O)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,"$$< ($(2))")
	$$(q)$$(if $$(filter smpi,$(2)),$$(MPICC_smpi) -DRFN_SIMULATED,$$(CC)) $$(LIB_FLAGS) \
	    -DRFN_FLAVOUR_NAME='"$(2)"' -I$(O)/gen/$(2) $$(MPI_INCLUDES_$(2)) -c -o $$@ $$<

# SMPI copies the program for each rank, hence no debugging information.
$(O)/lib/refrain-$(1)-$(2): $$($(1)_OBJ_$(2)) $$($(1)_PLAIN_OBJ) $$(LIB)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(q)OMPI_CC="$$(CC)" MPICH_CC="$$(CC)" $$(MPICC_$(2)) $$(OPTIMIZE) $$(LDFLAGS) \
	    $$(if $$(filter smpi,$(2)),-s) -o $$@ $$^ $$(MPI_LIBS_$(2)) $$(LIBS) -lm
endef
$(foreach p,$(PROGRAMS),$(foreach f,$(PROGRAM_FLAVOURS),$(eval $(call program_flavour_rules,$(p),$(f)))))

# What of MPI there is to be replayed.
define replay_rules
$$(replay_OBJ_$(1)): $(O)/gen/$(1)/replay/have.gen.h

$(O)/gen/$(1)/replay/have.gen.h: $(O)/gen/$(1)/record/functions.gen.h
	@mkdir -p $$(@D)
	$$(call say,GEN,$$@)
	$$(q)sed -n 's/^ *REC_FN_\(MPIX*_[A-Za-z0-9_]*\),$$$$/#define RPL_HAVE_\1 1/p' $$< >$$@
endef
$(foreach f,$(PROGRAM_FLAVOURS),$(eval $(call replay_rules,$(f))))

# ---- the program that predicts on SimGrid ----

# `refrain predict --engine simgrid` starts it: the only one in C++, which libsimgrid is in.
CXX_FLAGS  = -std=c++17 -Wall -Wextra $(OPTIMIZE) $(SANITIZE) -ffile-prefix-map=$(CURDIR)/= -MMD -MP \
             -Isrc -Iinclude $(CPPFLAGS)

$(O)/obj/simulate/simgrid_main.o: src/simulate/simgrid_main.cpp $(O)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(q)$(CXX) $(CXX_FLAGS) -c -o $@ $<

$(O)/lib/refrain-simgrid: $(O)/obj/simulate/simgrid_main.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(q)$(CXX) $(OPTIMIZE) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lsimgrid $(LIBS) -lm

SIMGRID_PROGRAM := $(if $(SAN),,$(if $(HAVE_SIMGRID),$(O)/lib/refrain-simgrid))

# A recorder instrumented by a sanitizer cannot be preloaded into a program that is not; sanitized
# builds test its modules (mk/test.mk).
RECORDERS := $(if $(SAN),,$(patsubst %,$(O)/lib/librefrain-%.so,$(filter-out smpi,$(RECORD_FLAVOURS))) \
             $(patsubst %,$(O)/lib/librefrain-%.a,$(filter smpi,$(FLAVOURS))))

MPI_PROGRAMS := $(if $(SAN),,$(foreach p,$(PROGRAMS),$(PROGRAM_FLAVOURS:%=$(O)/lib/refrain-$(p)-%)))

# ---- everything ----

all: $(O)/summary

$(O)/summary: $(TOOL) $(LIB) $(SHARED_LIB) $(REGION_LIB) $(RECORDERS) $(MPI_PROGRAMS) $(SIMGRID_PROGRAM) $(O)/config.mk
	@echo "Built $(TOOL)."
	@printf '%s\n' '$(SUMMARY)' | tr '|' '\n' | sed '/^ *$$/d; s/^ */  /' | tee $@

help:
	@sed -n 's/^# \{0,1\}//;2,/^$$/p' Makefile
	@echo 'Targets:   tests bench bench-overhead study sampling-study clusters-table clusters-long replay-table apps-table check-systems systems-table check-layers check-format format lint fuzz damage deps clean distclean'
	@echo 'Variables: O=dir  CC=clang  DEBUG=1  SAN=address,undefined  V=1  NO_INSTALL=1  ALL=1  FUZZ=1'
	@echo '           MPICC_MPICH=  MPICC_OPENMPI=  (compiler wrappers in unusual places)'

deps:
	@tools/install-deps.sh build mpi run

clean:
	rm -rf $(O)/obj $(O)/gen $(O)/view $(O)/lib $(O)/test $(O)/fuzz $(TOOL) $(LIB) $(REGION_LIB) $(O)/summary

distclean:
	rm -rf $(O) $(O)-san $(O)-tsan

include mk/view.mk mk/test.mk mk/apps.mk mk/systems.mk mk/install.mk mk/package.mk mk/demo.mk

-include $(wildcard $(O)/obj/*/*.d $(O)/obj/*/*/*.d $(O)/test/*.d)
