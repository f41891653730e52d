#include "archive/call_letters.h"

#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

int rfn_call_letters_init(struct rfn_call_letters *letters, const struct rfn_archive *archive,
                          enum rfn_path_form form)
{
    *letters = (struct rfn_call_letters){.archive = archive, .form = form};
    letters->of_paths = calloc(archive->dictionary.n_paths + (size_t)1, sizeof *letters->of_paths);
    return letters->of_paths ? 0 : RFN_E_NOMEM;
}

void rfn_call_letters_release(struct rfn_call_letters *letters)
{
    free(letters->of_paths);
}

/* ---- letters ---- */

/* Whether a frame is that of a function into which the one before is inlined: at the same address,
 * with the next number. */
static bool is_around(const struct rfn_dictionary *dictionary, uint32_t frame, uint32_t before)
{
    return frame == before + 1 &&
           dictionary->locations[frame].offset == dictionary->locations[before].offset &&
           dictionary->location_modules[frame] == dictionary->location_modules[before];
}

/* The hash of a path's frames. Inlined functions are frames of their own, equal wherever their
 * place is; but not in the exclusive or, in which equal addresses cancel: the stack has one. A
 * module is what its build-id is, as for the recorder. */
static uint64_t frames_key(const struct rfn_archive *archive, uint32_t number, bool xor)
{
    const struct rfn_dictionary *dictionary = &archive->dictionary;
    struct rfn_path path = rfn_archive_path(archive, number);
    uint64_t hash = 1;
    for (uint32_t i = 0; i < path.n_frames; i++) {
        uint32_t frame = path.frames[i];
        if (xor&&i > 0 && is_around(dictionary, frame, path.frames[i - 1]))
            continue;
        uint64_t module = dictionary->modules[dictionary->location_modules[frame]].key;
        const uint64_t words[] = {xor? 0 : hash, dictionary->locations[frame].offset, module};
        hash = (xor? hash : 0) ^ rfn_hash_bytes(words, sizeof words);
    }
    return hash;
}

uint64_t rfn_call_letter(struct rfn_call_letters *letters, uint32_t function, uint32_t path)
{
    uint64_t *key = &letters->of_paths[path];
    const char *name = rfn_archive_function(letters->archive, function)->name;
    bool xor = letters->form == RFN_PATHS_XOR;
    if (!*key)
        *key = frames_key(letters->archive, path, xor) | 1;
    const uint64_t words[] = {*key, rfn_hash_bytes(name, strlen(name))};
    return xor? words[0] ^ words[1] : rfn_hash_bytes(words, sizeof words);
}

bool rfn_call_counts(const struct rfn_archive *archive, const struct rfn_symbol_info *symbol)
{
    return !symbol->failed_poll &&
           rfn_class_is_mpi(archive->dictionary.functions[symbol->function].class_);
}

/* ---- signatures ---- */

static int open_trips(void *context, uint32_t loop, struct rfn_column_cursor *cursor)
{
    const struct rfn_values *values = context;
    return rfn_payload_column(&values->payload, values->columns[loop], values->columns[loop + 1],
                              cursor);
}

static int sign(struct rfn_call_letters *letters, const struct rfn_structure *structure,
                struct rfn_path_source *source, uint64_t *of_symbols, struct rfn_path_nodes *loops,
                uint64_t *signature)
{
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        const struct rfn_symbol_info *symbol = &structure->symbols[i];
        if (rfn_call_counts(letters->archive, symbol))
            of_symbols[i] = rfn_call_letter(letters, symbol->function, symbol->path);
    }
    for (uint32_t i = 0; i < structure->n_loops; i++)
        loops[i] = (struct rfn_path_nodes){structure->loops[i].nodes, structure->loops[i].n};
    source->loops = loops;
    source->letters = of_symbols;
    return rfn_path_signature(source, letters->form, signature);
}

int rfn_call_signature(struct rfn_call_letters *letters, const struct rfn_structure *structure,
                       const struct rfn_values *values, uint64_t events,
                       struct rfn_path_limits *limits, uint64_t *signature)
{
    struct rfn_path_source source = {.top = {structure->top.nodes, structure->top.n},
                                     .n_loops = structure->n_loops,
                                     .n_symbols = structure->n_symbols,
                                     .trips = open_trips,
                                     .context = (void *)(uintptr_t)values,
                                     .events = events,
                                     .limits = limits};
    uint64_t *of_symbols = calloc(structure->n_symbols + (size_t)1, sizeof *of_symbols);
    struct rfn_path_nodes *loops = calloc(structure->n_loops + (size_t)1, sizeof *loops);
    int error = of_symbols && loops
                    ? sign(letters, structure, &source, of_symbols, loops, signature)
                    : RFN_E_NOMEM;
    free(of_symbols);
    free(loops);
    return error;
}
