#include "archive/call_letters.h"

#include "base/map.h"
#include "refrain/event.h"

#include <inttypes.h>
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

/* The hash of a path's frames. Inlined functions are frames of their own, equal wherever their
 * place is. */
static uint64_t frames_key(const struct rfn_archive *archive, uint32_t number, bool xor)
{
    struct rfn_path path = rfn_archive_path(archive, number);
    uint64_t hash = 1;
    for (uint32_t i = 0; i < path.n_frames; i++) {
        struct rfn_location at = rfn_archive_location(archive, path.frames[i]);
        const char *module = at.module ? at.module : "";
        const uint64_t words[] = {xor? 0 : hash, at.offset, rfn_hash_bytes(module, strlen(module))};
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
                const struct rfn_values *values, uint64_t events, uint64_t *of_symbols,
                struct rfn_path_nodes *loops, uint64_t *signature)
{
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        const struct rfn_symbol_info *symbol = &structure->symbols[i];
        if (rfn_call_counts(letters->archive, symbol))
            of_symbols[i] = rfn_call_letter(letters, symbol->function, symbol->path);
    }
    for (uint32_t i = 0; i < structure->n_loops; i++)
        loops[i] = (struct rfn_path_nodes){structure->loops[i].nodes, structure->loops[i].n};
    const struct rfn_path_source source = {.top = {structure->top.nodes, structure->top.n},
                                           .loops = loops,
                                           .n_loops = structure->n_loops,
                                           .n_symbols = structure->n_symbols,
                                           .letters = of_symbols,
                                           .trips = open_trips,
                                           .context = (void *)(uintptr_t)values,
                                           .events = events};
    return rfn_path_signature(&source, letters->form, signature);
}

int rfn_call_signature(struct rfn_call_letters *letters, const struct rfn_structure *structure,
                       const struct rfn_values *values, uint64_t events, uint64_t *signature)
{
    uint64_t *of_symbols = calloc(structure->n_symbols + (size_t)1, sizeof *of_symbols);
    struct rfn_path_nodes *loops = calloc(structure->n_loops + (size_t)1, sizeof *loops);
    int error = of_symbols && loops
                    ? sign(letters, structure, values, events, of_symbols, loops, signature)
                    : RFN_E_NOMEM;
    free(of_symbols);
    free(loops);
    return error;
}

/* ---- those that STREAMS has ---- */

static uint64_t stored_signature(const struct rfn_archive *archive, uint32_t stream)
{
    return (uint64_t)rfn_stream_word(archive, RFN_WORD_SIGNATURE, stream);
}

uint64_t rfn_join_signatures(uint64_t before, uint64_t next)
{
    const uint64_t words[] = {before, next};
    return rfn_hash_bytes(words, sizeof words);
}

bool rfn_archive_is_signed(const struct rfn_archive *archive)
{
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        if (stored_signature(archive, i) == RFN_UNSIGNED)
            return false;
    }
    return true;
}

int64_t rfn_archive_main_clusters(const struct rfn_archive *archive)
{
    struct rfn_map found = RFN_MAP_INIT;
    int error = 0;
    bool is_signed = rfn_archive_is_signed(archive);
    for (uint32_t i = 0, next; i < archive->n_streams && is_signed && !error; i = next) {
        uint64_t signature = stored_signature(archive, i);
        int64_t rank = rfn_stream_word(archive, RFN_WORD_RANK, i);
        for (next = i + 1; next < archive->n_streams; next++) {
            if (rfn_stream_word(archive, RFN_WORD_RANK, next) != rank)
                break;
            signature = rfn_join_signatures(signature, stored_signature(archive, next));
        }
        error = rfn_map_put(&found, signature, 1);
    }
    int64_t n = error ? error : (int64_t)found.n;
    rfn_map_release(&found);
    return n;
}

/* Stored signatures by those that are right, and the other way round. */
struct checking {
    const struct rfn_archive *archive;
    struct rfn_call_letters letters;
    struct rfn_map sets, stored, right;
    struct rfn_diag *diag;
};

/* Notes that a goes with b; a was there with another: false. */
static int pair(struct rfn_map *map, uint64_t a, uint64_t b, bool *same)
{
    const uint64_t *known = rfn_map_get(map, a);
    *same &= !known || *known == b;
    return known ? 0 : rfn_map_put(map, a, b);
}

static int check_stream(struct checking *checking, uint32_t stream)
{
    const struct rfn_archive *archive = checking->archive;
    struct rfn_stream_parts parts;
    uint64_t signature = 0;
    bool same = true;
    int error = rfn_stream_parts_use(archive, stream, &parts, checking->diag);
    if (!error) {
        error = rfn_call_signature(
            &checking->letters, &parts.structure->u.structure, &parts.values->u.values,
            (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream), &signature);
        if (error == RFN_E_CORRUPT)
            rfn_payload_fail(&parts.values->u.values.payload, error, "trip counts are malformed",
                             checking->diag);
    }
    rfn_stream_parts_done(archive, &parts);
    if (error == RFN_E_RANGE)
        return 0;
    RFN_TRY(error);
    RFN_TRY(pair(&checking->stored, stored_signature(archive, stream), signature, &same));
    RFN_TRY(pair(&checking->right, signature, stored_signature(archive, stream), &same));
    if (same)
        return 0;
    return rfn_fail(checking->diag, RFN_E_CORRUPT, -1,
                    (int)rfn_stream_word(archive, RFN_WORD_RANK, stream),
                    "%s: stream %" PRIu32 ": its signature in STREAMS is not that of its calls",
                    archive->chunks.path, stream);
}

/* Streams that share their values have one signature. */
static int check_all(struct checking *checking)
{
    const struct rfn_archive *archive = checking->archive;
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        uint64_t set = (uint64_t)rfn_stream_word(archive, RFN_WORD_VALUES, i);
        if (stored_signature(archive, i) == RFN_UNSIGNED || rfn_map_get(&checking->sets, set))
            continue;
        RFN_TRY(rfn_map_put(&checking->sets, set, i));
        RFN_TRY(check_stream(checking, i));
    }
    return 0;
}

int rfn_archive_check_signatures(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    struct checking checking = {.archive = archive, .diag = diag};
    int error = rfn_call_letters_init(&checking.letters, archive, RFN_PATHS_ELASTIC);
    if (!error)
        error = check_all(&checking);
    rfn_call_letters_release(&checking.letters);
    rfn_map_release(&checking.sets);
    rfn_map_release(&checking.stored);
    rfn_map_release(&checking.right);
    return error;
}
