# The page that `refrain view` writes: the library's reader compiled to WebAssembly, and the sources
# of src/view/page bundled into one file, which becomes a part of the tool. Without these programs
# (deps/packages) the tool has no page, and `refrain view` names the packages.

PAGE_C := $(O)/gen/view/page.gen.c

# What of the library a page needs: the linker leaves out what nothing calls.
WASM_SRC := $(filter-out src/archive/temp_file.c src/archive/cursor/verify.c src/base/part_file.c \
              src/base/large_stack.c src/base/quiet_thread.c src/base/system.c, \
              $(call sources,base archive archive/read archive/cursor) \
              $(filter-out src/reduce/samples/%,$(call sources,reduce)) $(wildcard src/analyze/match/*.c)) \
              src/analyze/waits/wait_names.c src/event/calls.c src/event/kind.c src/event/recording.c $(call sources,analyze/timeline) \
              $(wildcard src/view/wasm/*.c)
WASM_SRC := $(sort $(filter-out %_test.c %_fuzz.c src/archive/write/% src/archive/merge/%,$(WASM_SRC)))
WASM_OBJ := $(WASM_SRC:src/%.c=$(O)/view/obj/%.o)
WASM     := $(O)/view/reader.wasm
# -isystem of a folder with xxhash.h alone: the system's headers are another machine's.
WASM_FLAGS := --target=wasm32-wasi --sysroot=/usr -isystem /usr/include/wasm32-wasi -std=c11 \
              -Wall -Wextra $(if $(WERROR),-Werror) -O2 -DNDEBUG -ffunction-sections -MMD -MP -Isrc/view/wasm -Isrc -Iinclude -I$(O)/view/include

$(O)/view/include/xxhash.h: $(O)/config.mk
	@mkdir -p $(@D)
	$(q)cp $(XXHASH_H) $@

$(O)/view/obj/%.o: src/%.c $(O)/flags $(O)/view/include/xxhash.h
	@mkdir -p $(@D)
	$(call say,WASM,$<)
	$(q)clang $(WASM_FLAGS) -c -o $@ $<

$(WASM): $(WASM_OBJ)
	$(call say,LD,$@)
	$(q)clang --target=wasm32-wasi --sysroot=/usr -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all \
	    -Wl,-z,stack-size=1048576 -o $@ $^

PAGE_SRC := $(wildcard src/view/page/*.js src/view/page/*.css src/view/page/*.html)

$(O)/view/%.min.js: src/view/page/%.js $(filter %.js,$(PAGE_SRC))
	@mkdir -p $(@D)
	$(call say,JS,$@)
	$(q)esbuild --log-level=warning --bundle --minify --target=es2020 --charset=ascii --outfile=$@ $<

$(O)/view/%.min.css: src/view/page/%.css
	@mkdir -p $(@D)
	$(q)esbuild --log-level=warning --minify --outfile=$@ $<

$(PAGE_C): src/view/gen_page.py src/view/page/index.html $(if $(HAVE_PAGE),$(WASM) \
    $(O)/view/main.min.js $(O)/view/worker.min.js $(O)/view/style.min.css) $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(q)python3 src/view/gen_page.py $(if $(HAVE_PAGE),--html src/view/page/index.html --css $(O)/view/style.min.css \
	    --main $(O)/view/main.min.js --worker $(O)/view/worker.min.js --reader $(WASM),--missing "$(PAGE_PACKAGES)") --out $@

$(O)/obj/view/page.gen.o: $(PAGE_C) $(O)/flags
	@mkdir -p $(@D)
	$(q)$(CC) $(LIB_FLAGS) -c -o $@ $<

-include $(WASM_OBJ:.o=.d)
