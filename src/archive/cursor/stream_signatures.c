#include "archive/cursor/stream_signatures.h"

#include "base/search.h"
#include "refrain/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int rfn_call_hashes_init(struct rfn_call_hashes *hashes, const struct rfn_archive *archive,
                         enum rfn_path_form form)
{
    *hashes = (struct rfn_call_hashes){.archive = archive, .form = form};
    hashes->of_paths = calloc(archive->dictionary.n_paths + (size_t)1, sizeof *hashes->of_paths);
    return hashes->of_paths ? 0 : RFN_E_NOMEM;
}

void rfn_call_hashes_release(struct rfn_call_hashes *hashes)
{
    free(hashes->of_paths);
}

/* ---- call hashes ---- */

/* The hash of a path's frames. Inlined functions are frames of their own, equal wherever their
 * place is; but not in the exclusive or, in which equal addresses cancel: the stack has one. (The
 * function into which the one before is inlined has the same address and the next number.) A module
 * is what its build-id is, as for the recorder. */
static uint64_t frames_key(const struct rfn_archive *archive, uint32_t number, bool cancels)
{
    const struct rfn_dictionary *dictionary = &archive->dictionary;
    const struct rfn_path path = dictionary->paths[number];
    uint64_t hash = 1;
    for (uint32_t i = 0; i < path.n_frames; i++) {
        uint32_t frame = path.frames[i], before = i ? path.frames[i - 1] : frame;
        const struct rfn_dictionary_location *at = &dictionary->locations[frame],
                                             *inner = &dictionary->locations[before];
        if (cancels && frame == before + 1 && at->is.offset == inner->is.offset &&
            at->module == inner->module)
            continue;
        const uint64_t words[] = {cancels ? 0 : hash, at->is.offset, at->module->key};
        hash = (cancels ? hash : 0) ^ rfn_hash_bytes(words, sizeof words);
    }
    return hash;
}

uint64_t rfn_call_hash(struct rfn_call_hashes *hashes, uint32_t function, uint32_t path)
{
    uint64_t *key = &hashes->of_paths[path];
    const char *name = rfn_archive_function(hashes->archive, function)->name;
    bool cancels = hashes->form == RFN_PATHS_XOR;
    if (!*key)
        *key = frames_key(hashes->archive, path, cancels) | 1;
    const uint64_t words[] = {*key, rfn_hash_bytes(name, strlen(name))};
    return cancels ? words[0] ^ words[1] : rfn_hash_bytes(words, sizeof words);
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

int rfn_call_signature(struct rfn_call_hashes *hashes, const struct rfn_structure *structure,
                       const struct rfn_values *values, uint64_t events,
                       struct rfn_path_limits *limits, uint64_t *signature)
{
    uint64_t *of_symbols = calloc(structure->n_symbols + (size_t)1, sizeof *of_symbols);
    struct rfn_path_nodes *loops = calloc(structure->n_loops + (size_t)1, sizeof *loops);
    const struct rfn_path_source source = {.top = {structure->top.nodes, structure->top.n},
                                           .loops = loops,
                                           .n_loops = structure->n_loops,
                                           .call_hashes = of_symbols,
                                           .n_symbols = structure->n_symbols,
                                           .trips = open_trips,
                                           .context = (void *)(uintptr_t)values,
                                           .events = events,
                                           .limits = limits};
    int error = of_symbols && loops ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < structure->n_symbols && !error; i++) {
        const struct rfn_symbol_info *symbol = &structure->symbols[i];
        if (rfn_call_counts(hashes->archive, symbol))
            of_symbols[i] = rfn_call_hash(hashes, symbol->function, symbol->path);
    }
    for (uint32_t i = 0; i < structure->n_loops && !error; i++)
        loops[i] = (struct rfn_path_nodes){structure->loops[i].nodes, structure->loops[i].n};
    if (!error)
        error = rfn_path_signature(&source, hashes->form, signature);
    free(of_symbols);
    free(loops);
    return error;
}

/* ---- those in STREAMS ---- */

static uint64_t stored_signature(const struct rfn_archive *archive, uint32_t stream)
{
    return (uint64_t)rfn_stream_word(archive, RFN_WORD_SIGNATURE, stream);
}

uint64_t rfn_archive_merge_signatures(uint64_t before, uint64_t next)
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

/* ---- whether they are right ---- */

/* More than a recorder takes in the end. It may have kept signatures of what takes more: that is
 * not looked at. */
static const struct rfn_path_limits check_limits = {
    .steps = 1 << 22, .calls = 1 << 20, .work = 1 << 22};

/* Signs a stream. RFN_E_RANGE: that is too much. */
static int sign_stream(struct rfn_call_hashes *hashes, uint32_t stream, uint64_t *signature,
                       struct rfn_diag *diag)
{
    const struct rfn_archive *archive = hashes->archive;
    struct rfn_stream_parts parts;
    struct rfn_path_limits limits = check_limits;
    int error = rfn_stream_parts_use(archive, stream, &parts, diag);
    if (!error) {
        error = rfn_call_signature(hashes, parts.structure, parts.values,
                                   (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream),
                                   &limits, signature);
        if (error == RFN_E_CORRUPT)
            rfn_payload_fail(&parts.values->payload, error, "trip counts are malformed", diag);
    }
    rfn_stream_parts_done(archive, &parts);
    return error;
}

/* Of one stream of each value set: those that are stored are equal where those that are right are.
 */
int rfn_archive_check_signatures(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    struct rfn_call_hashes hashes;
    size_t n_sets = archive->n_value_sets + (size_t)1;
    uint64_t *stored = calloc(n_sets, 2 * sizeof *stored + 3 * sizeof(uint32_t) + sizeof(bool));
    if (!stored)
        return RFN_E_NOMEM;
    uint64_t *right = stored + n_sets;
    uint32_t *streams = (uint32_t *)(right + n_sets), n = 0;
    uint32_t *first_stored = streams + n_sets, *first_right = first_stored + n_sets;
    bool *seen = (bool *)(first_right + n_sets);
    int error = rfn_call_hashes_init(&hashes, archive, RFN_PATHS_ELASTIC);
    for (uint32_t i = 0; i < archive->n_streams && !error; i++) {
        uint32_t set = (uint32_t)rfn_stream_word(archive, RFN_WORD_VALUES, i);
        if (stored_signature(archive, i) == RFN_UNSIGNED || seen[set])
            continue;
        seen[set] = true;
        error = sign_stream(&hashes, i, &right[n], diag);
        stored[n] = stored_signature(archive, i);
        streams[n] = i;
        n += error == 0;
        error = error == RFN_E_RANGE ? 0 : error;
    }
    if (!error)
        error = rfn_first_equal(stored, n, first_stored);
    if (!error)
        error = rfn_first_equal(right, n, first_right);
    for (uint32_t i = 0; i < n && !error; i++) {
        if (first_stored[i] != first_right[i])
            error = rfn_fail(diag, RFN_E_CORRUPT, -1,
                             (int)rfn_stream_word(archive, RFN_WORD_RANK, streams[i]),
                             "%s: damaged: stream %" PRIu32
                             ": its signature in STREAMS is not that of its calls",
                             archive->chunks.path, streams[i]);
    }
    rfn_call_hashes_release(&hashes);
    free(stored);
    return error;
}
