#include "archive/stream_signatures.h"

#include "archive/call_letters.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdlib.h>

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

/* ---- whether they are right ---- */

/* Of one stream of each value set. */
struct checking {
    const struct rfn_archive *archive;
    struct rfn_call_letters letters;
    bool *seen;               /* per value set */
    uint64_t *stored, *right; /* signatures, of n streams */
    uint32_t *streams, n;
    struct rfn_diag *diag;
};

/* More than a recorder takes in the end. It may have kept signatures of what takes more: that is
 * not looked at. */
static const struct rfn_path_limits check_limits = {
    .steps = 1 << 22, .letters = 1 << 20, .work = 1 << 22};

/* Signs a stream, and takes it to those that are compared unless that is too much. */
static int sign_stream(struct checking *checking, uint32_t stream)
{
    const struct rfn_archive *archive = checking->archive;
    struct rfn_stream_parts parts;
    struct rfn_path_limits limits = check_limits;
    uint64_t signature = 0;
    int error = rfn_stream_parts_use(archive, stream, &parts, checking->diag);
    if (!error) {
        error = rfn_call_signature(&checking->letters, parts.structure, parts.values,
                                   (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream),
                                   &limits, &signature);
        if (error == RFN_E_CORRUPT)
            rfn_payload_fail(&parts.values->payload, error, "trip counts are malformed",
                             checking->diag);
    }
    rfn_stream_parts_done(archive, &parts);
    if (error == RFN_E_RANGE)
        return 0;
    RFN_TRY(error);
    checking->stored[checking->n] = stored_signature(archive, stream);
    checking->right[checking->n] = signature;
    checking->streams[checking->n++] = stream;
    return 0;
}

/* Streams that share their values have one signature. */
static int sign_all(struct checking *checking)
{
    const struct rfn_archive *archive = checking->archive;
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        uint32_t set = (uint32_t)rfn_stream_word(archive, RFN_WORD_VALUES, i);
        if (stored_signature(archive, i) == RFN_UNSIGNED || checking->seen[set])
            continue;
        checking->seen[set] = true;
        RFN_TRY(sign_stream(checking, i));
    }
    return 0;
}

/* Those that are stored are equal where those that are right are. */
static int compare(const struct checking *checking, uint32_t *first_stored, uint32_t *first_right)
{
    const struct rfn_archive *archive = checking->archive;
    RFN_TRY(rfn_first_equal(checking->stored, checking->n, first_stored));
    RFN_TRY(rfn_first_equal(checking->right, checking->n, first_right));
    for (uint32_t i = 0; i < checking->n; i++) {
        uint32_t stream = checking->streams[i];
        if (first_stored[i] != first_right[i])
            return rfn_fail(checking->diag, RFN_E_CORRUPT, -1,
                            (int)rfn_stream_word(archive, RFN_WORD_RANK, stream),
                            "%s: stream %" PRIu32
                            ": its signature in STREAMS is not that of its calls",
                            archive->chunks.path, stream);
    }
    return 0;
}

static int check(struct checking *checking)
{
    uint32_t *first = malloc(2 * (checking->archive->n_value_sets + (size_t)1) * sizeof *first);
    int error = first ? sign_all(checking) : RFN_E_NOMEM;
    if (!error)
        error = compare(checking, first, first + checking->n);
    free(first);
    return error;
}

int rfn_archive_check_signatures(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    struct checking checking = {.archive = archive, .diag = diag};
    size_t n_sets = archive->n_value_sets + (size_t)1;
    int error = rfn_call_letters_init(&checking.letters, archive, RFN_PATHS_ELASTIC);
    checking.seen = calloc(n_sets, sizeof *checking.seen);
    checking.stored = malloc(n_sets * sizeof *checking.stored);
    checking.right = malloc(n_sets * sizeof *checking.right);
    checking.streams = malloc(n_sets * sizeof *checking.streams);
    if (!checking.seen || !checking.stored || !checking.right || !checking.streams)
        error = RFN_E_NOMEM;
    if (!error)
        error = check(&checking);
    rfn_call_letters_release(&checking.letters);
    free(checking.seen);
    free(checking.stored);
    free(checking.right);
    free(checking.streams);
    return error;
}
