# Tests. A module's unit test is x_test.c beside x.c, a cmocka program of its own; it becomes
# $(O)/test/x_test without a line here. Those in src/record are linked with the recorder's modules:
# with the first flavour there is, unless they call MPI and so are built and run for each.

# Tests in src/record that are MPI programs, and on how many ranks they run, as NAME=N,N...
RECORD_MPI_TESTS := params_test=1,4

RECORD_MPI_NAMES := $(foreach t,$(RECORD_MPI_TESTS),$(firstword $(subst =, ,$(t))))
UNIT_SRC         := $(call files,$(LIB_FOLDERS) cli $(PROGRAMS),*_test.c)
UNIT_TESTS       := $(foreach s,$(UNIT_SRC),$(O)/test/$(basename $(notdir $(s))))
REAL_FLAVOURS    := $(filter-out smpi,$(FLAVOURS))
RECORD_TEST_SRC  := $(call files,record,*_test.c)
RECORD_ALONE     := $(filter-out $(RECORD_MPI_NAMES),$(basename $(notdir $(RECORD_TEST_SRC))))
RECORD_WITH_MPI  := $(filter $(RECORD_MPI_NAMES),$(basename $(notdir $(RECORD_TEST_SRC))))
RECORD_TESTS     := $(RECORD_ALONE:%=$(O)/test/%) \
                    $(foreach f,$(REAL_FLAVOURS),$(RECORD_WITH_MPI:%=$(O)/test/%.$(f)))

.PHONY: unit-tests list-tests list-unit-tests list-fuzzers damage damage-program check check-layers check-format format lint fuzz bench bench-overhead study sampling-study clusters-table clusters-long replay-table

unit-tests: $(UNIT_TESTS)
tests: $(UNIT_TESTS) $(RECORD_TESTS)

# For tools/check.py, so that it runs what there is a source for and nothing else.
list-unit-tests:
	@printf '%s\n' $(abspath $(UNIT_TESTS))
list-tests:
	@printf '%s\n' $(abspath $(UNIT_TESTS) $(RECORD_TESTS))
list-fuzzers:
	@printf '%s\n' $(abspath $(FUZZERS))

# In tests named x_nomem_test allocations go through functions of the test, which fail some of them.
NOMEM_FLAGS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=aligned_alloc

# Tests of the tool's modules are linked with those of them that they need, of all but the commands;
# tests of MPI programs with the modules of theirs that do not call MPI.
CLI_TEST_LIB := $(O)/obj/cli/modules.a

$(CLI_TEST_LIB): $(filter-out %/main.o $(O)/obj/cli/cmd_%.o,$(CLI_OBJ))
	$(call say,AR,$@)
	$(q)rm -f $@ && $(AR) rcsD $@ $^

# Tests are compiled in half the time so, and run hardly longer: the library is what it is.
TEST_OPTIMIZE := $(if $(DEBUG),,-O1)
# What tests share lies in tests/support and is included as "support/x.h".
TEST_INCLUDES := -Itests

define unit_test_rule
$(O)/test/$(basename $(notdir $(1))): $(1) $(if $(filter src/cli/%,$(1)),$(CLI_TEST_LIB)) \
    $(foreach p,$(PROGRAMS),$(if $(filter src/$(p)/%,$(1)),$($(p)_PLAIN_OBJ))) $(LIB)
	@mkdir -p $$(@D)
	$$(call say,TEST,$$@)
	$$(q)$$(CC) $(if $(filter src/cli/%,$(1)),$$(CLI_FLAGS),$$(LIB_FLAGS)) $$(TEST_INCLUDES) $$(TEST_OPTIMIZE) -MF $$@.d -MT $$@ \
	    $$(LDFLAGS) $(if $(filter %_nomem_test.c,$(1)),$$(NOMEM_FLAGS)) -o $$@ \
	    $(1) $$(filter %.o,$$^) $$(filter %/modules.a,$$^) $$(LIB) -lcmocka $$(LIBS) $$(CONVERT_LIBS) -lm -lpthread
endef
$(foreach s,$(UNIT_SRC),$(eval $(call unit_test_rule,$(s))))

# The recorder without its wrappers: a test that calls MPI is not itself recorded.
define record_test_rules
PARTS_$(1) := $$(filter-out %/wrappers.gen.o %/fortran.gen.o %/manual_wrappers.o %/spawn.o \
              %/dlsym.o, \
              $$(SRC_OBJ_$(1)) $$(GEN_OBJ_$(1)))
$(O)/test/librecord-$(1).a: $$(PARTS_$(1))
	@mkdir -p $$(@D)
	$$(q)rm -f $$@ && $$(AR) rcsD $$@ $$^

endef
$(foreach f,$(REAL_FLAVOURS),$(eval $(call record_test_rules,$(f))))

define record_test_rule
$(O)/test/$(basename $(notdir $(2))).$(1): $(2) $(O)/test/librecord-$(1).a $$(LIB)
	$$(call say,TEST,$$@)
	$$(q)OMPI_CC="$$(CC)" MPICH_CC="$$(CC)" $$(MPICC_$(1)) $$(FLAGS_$(1)) $$(TEST_INCLUDES) \
	    -fvisibility=default -MF $$@.d -MT $$@ $$(LDFLAGS) -o $$@ $$< $(O)/test/librecord-$(1).a $$(LIB) \
	    -lcmocka $$(LIBS) $$(UNWIND_LIBS) -lpthread -ldl
endef
$(foreach f,$(REAL_FLAVOURS),$(foreach s,$(RECORD_TEST_SRC),$(eval $(call record_test_rule,$(f),$(s)))))

FIRST_FLAVOUR := $(firstword $(REAL_FLAVOURS))
$(RECORD_ALONE:%=$(O)/test/%): %: %.$(FIRST_FLAVOUR)
	@cp $< $@

# ---- fuzzing: x_fuzz.c beside x.c becomes a libFuzzer program ----

# FUZZ_CC=afl-clang-fast makes programs for afl-fuzz of them (doc/reliability.md).
FUZZ_CC    := clang

FUZZ_SRC   := $(filter-out $(if $(HAVE_OTF2),,src/convert/otf2/%),$(call files,$(LIB_FOLDERS) cli,*_fuzz.c))
FUZZERS    := $(foreach s,$(FUZZ_SRC),$(O)/fuzz/$(basename $(notdir $(s))))
# A sanitizer's report tells functions and lines.
FUZZ_FLAGS  = -std=c11 -O1 -g1 -DRFN_FUZZING -fsanitize=fuzzer-no-link -fsanitize=address,undefined \
              -fno-sanitize-recover=all -MMD -MP -Isrc -Iinclude $(CORE_INCLUDES) $(OTF2_INCLUDES) \
              -DRFN_VERSION='"$(VERSION)"' \
              -DRFN_SOUND_ARCHIVES='"$(CURDIR)/tests/damage/archives"' \
              $(if $(HAVE_ZLIB),-DRFN_HAVE_ZLIB) $(if $(HAVE_EXPAT),-DRFN_HAVE_EXPAT)
FUZZ_OBJ   := $(LIB_SRC:src/%.c=$(O)/fuzz/obj/%.o) $(O)/obj/view/page.gen.o
# Of the tool's modules what a fuzzer needs, as of its tests.
FUZZ_CLI   := $(O)/fuzz/obj/cli/modules.a

$(FUZZ_CLI): $(patsubst src/%.c,$(O)/fuzz/obj/%.o,$(filter-out src/cli/main.c src/cli/cmd_%,$(CLI_SRC)))
	$(call say,AR,$@)
	$(q)rm -f $@ && $(AR) rcsD $@ $^

fuzz: $(FUZZERS)

$(O)/fuzz/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)
	$(q)$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<

define fuzz_rule
$(O)/fuzz/$(basename $(notdir $(1))): $(1) $$(FUZZ_OBJ) $(if $(filter src/cli/%,$(1)),$$(FUZZ_CLI))
	$$(call say,FUZZ,$$@)
	$$(q)$$(FUZZ_CC) $$(subst fuzzer-no-link,fuzzer,$$(FUZZ_FLAGS)) $$(TEST_INCLUDES) -MF $$@.d -MT $$@ -o $$@ \
	    $(1) $$(filter %/modules.a,$$^) $$(filter %.o,$$^) $$(LIBS) $$(CONVERT_LIBS)
endef
$(foreach s,$(FUZZ_SRC),$(eval $(call fuzz_rule,$(s))))
-include $(wildcard $(O)/fuzz/obj/*/*.d $(O)/fuzz/obj/*/*/*.d $(O)/fuzz/*.d)

# ---- damaged files ----

# With sanitizers: make damage builds and runs it in the folder of such a build.
DAMAGE_SRC := $(wildcard tests/damage/*.c)
N    := 20000
SEED := 1

$(O)/damage: $(DAMAGE_SRC) $(wildcard tests/damage/*.h) $(LIB)
	$(call say,TEST,$@)
	$(q)$(CC) $(filter-out -MMD -MP,$(LIB_FLAGS)) $(TEST_INCLUDES) $(LDFLAGS) -o $@ $(DAMAGE_SRC) \
	    $(LIB) $(LIBS) $(CONVERT_LIBS) -lm -lpthread

damage-program: $(O)/damage

damage:
	@$(MAKE) --no-print-directory O=$(O)-san SAN=address,undefined damage-program
	@$(O)-san/damage -n $(N) -s $(SEED) -j $$(nproc) tests/damage

# ---- checks ----

C_FILES := $(wildcard src/*/*.[ch] src/*/*/*.[ch] src/*/*.cpp include/refrain/*.h tests/*/*.[ch] tests/programs/*/*.[ch] bench/*.c examples/*.c)

# The programs are built and run by tools/check.py, which also counts. ALL=1: also the tests that take
# long, and the fuzzers. FUZZ=1: also the fuzzers.
# APPS=ci, or names: real applications, too (mk/apps.mk), of which each is run in one pair.
check:
	@tools/install-deps.sh build mpi run test $(if $(APPS),apps)
	+@O=$(O) CC=$(CC) MAKE="$(MAKE)" python3 tools/check.py --build $(O) $(if $(filter-out 0,$(ALL)),--all) \
	    $(if $(filter-out 0,$(FUZZ)),--fuzz) \
	    $(APPS:%=--app %) $(RECORD_MPI_TESTS:%=--ranks %)

check-layers:
	@python3 tools/check-layers.py --build $(O)

check-format:
	@clang-format --dry-run -Werror $(C_FILES) || { echo "Run 'make format'."; exit 1; }

format:
	@clang-format -i $(C_FILES)

# Exceptions are commented where they are: NOLINT for clang-tidy, cppcheck-suppress for cppcheck.
lint:
	@cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 \
	    --enable=warning,performance,portability -Isrc -Iinclude $(LIB_SRC) $(CLI_SRC)
	@printf '%s\n' $(LIB_SRC) $(CLI_SRC) | xargs -P "$$(nproc)" -I FILE clang-tidy --quiet FILE -- \
	    -std=c11 -Isrc -Iinclude -DRFN_VERSION='"$(VERSION)"'

# Programs of bench/ time a part of Refrain alone, except for MPI programs, which run.py compiles.
BENCH_MPI := $(patsubst %,bench/%.c,adi alone call_times calls exchange objects varying wavefront)
BENCH_SRC := $(filter-out $(BENCH_MPI),$(wildcard bench/*.c))
BENCHES   := $(BENCH_SRC:bench/%.c=$(O)/bench/%)

$(O)/bench/%: bench/%.c $(O)/test/librecord-$(FIRST_FLAVOUR).a $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(q)$(CC) $(RECORD_FLAGS) -fvisibility=default -MF $@.d -MT $@ $(LDFLAGS) -o $@ $< \
	    $(O)/test/librecord-$(FIRST_FLAVOUR).a $(LIB) $(LIBS) $(UNWIND_LIBS) -lm -lpthread -ldl
# The tables of the recorder, without an MPI that runs; also for tests/test_flat.py.
tests: $(if $(FIRST_FLAVOUR),$(O)/bench/flat)
$(O)/bench/flat: bench/flat.c $(O)/test/librecord-$(FIRST_FLAVOUR).a $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(q)OMPI_CC="$(CC)" MPICH_CC="$(CC)" $(MPICC_$(FIRST_FLAVOUR)) $(FLAGS_$(FIRST_FLAVOUR)) \
	    -fvisibility=default -MF $@.d -MT $@ $(LDFLAGS) -o $@ $< \
	    $(O)/test/librecord-$(FIRST_FLAVOUR).a $(LIB) $(LIBS) $(UNWIND_LIBS) -lm -lpthread -ldl
-include $(wildcard $(O)/bench/*.d)

bench: all $(BENCHES)
	@python3 bench/run.py --build $(O)

# What recording costs while the program runs, and of that writing: doc/overhead.md.
bench-overhead: all
	@python3 bench/overhead.py --build $(O)

# Clusters beside those of the paper: a section of doc/clustering.md.
clusters-table: all
	@python3 tools/clusters_table.py --build $(O)

# What long runs on 1024 ranks move when MPI ends; 40 minutes.
clusters-long: all
	@python3 tools/clusters_table.py --build $(O) --long

# How exact replays of clustered archives are under Open MPI; 7 minutes of a machine with nothing else to do.
replay-table: all
	@python3 tools/replay_table.py --build $(O)

# All similarity methods over all thresholds: doc/study.md and what is in doc/study.
study: all
	@python3 bench/study.py --build $(O)

# What samples of messages tell and what they cost: tables of doc/sampling.md. The last part times calls, and wants
# a machine with nothing else to do.
sampling-study: all
	@python3 bench/sampling_study.py --build $(O)
