#include "archive/stream_signatures.h"

#include "archive/call_letters.h"
#include "base/map.h"

#include <inttypes.h>

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

/* ---- whether they are right ---- */

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

/* More than any recorder takes; what is beyond is not looked at. */
static const struct rfn_path_limits check_limits = {
    .steps = 1 << 22, .letters = 1 << 20, .work = 1 << 22};

static int check_stream(struct checking *checking, uint32_t stream)
{
    const struct rfn_archive *archive = checking->archive;
    struct rfn_stream_parts parts;
    struct rfn_path_limits limits = check_limits;
    uint64_t signature = 0;
    bool same = true;
    int error = rfn_stream_parts_use(archive, stream, &parts, checking->diag);
    if (!error) {
        error = rfn_call_signature(
            &checking->letters, &parts.structure->u.structure, &parts.values->u.values,
            (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream), &limits, &signature);
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
