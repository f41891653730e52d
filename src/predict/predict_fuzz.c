/* Opens bytes as an archive, and predicts it: times, sizes and messages that no recorder would have
 * written must reach neither a crash nor an overflow.
 *
 * Built with -DRFN_FUZZING like archive/cursor/archive_fuzz.c, which tells what that changes. It
 * starts from the archives in tests/fuzz. */
#include "archive/read/reader.h"
#include "predict/equal_delays.h"

#include <stdlib.h>

/* A few bytes can claim any number of iterations, or of ranks. */
enum { EVENTS = 1 << 12, RANKS = 1 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t events_of(const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_diag diag;
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    size_t n = 0;
    if (rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return 0;
    while (n <= EVENTS && rfn_cursor_next(cursor, &record, &diag) > 0)
        n++;
    rfn_cursor_close(cursor);
    return n;
}

static bool is_small(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    size_t n = 0;
    for (uint32_t i = 0; i < run->streams && n <= EVENTS; i++)
        n += events_of(archive, i);
    return n <= EVENTS && run->ranks <= RANKS;
}

/* Without an assumption it is the recorded run. */
static void predict(const struct rfn_archive *archive, const struct rfn_network *network)
{
    static const struct rfn_assumption assumptions[] = {
        {.what = RFN_ASSUME_COMPUTE, .factor = 0.5},
        {.what = RFN_ASSUME_CALL, .factor = 2},
        {.what = RFN_ASSUME_WAIT, .factor = 0},
        {.what = RFN_ASSUME_LATE, .factor = 0},
        {.what = RFN_ASSUME_TRANSFER, .factor = 3, .most_bytes = INT64_MAX},
        {.what = RFN_ASSUME_IDEAL},
        {.what = RFN_ASSUME_L, .factor = 10},
        {.what = RFN_ASSUME_O, .factor = 0},
        {.what = RFN_ASSUME_G, .factor = 10},
        {.what = RFN_ASSUME_S, .factor = 0}};
    enum { LANES = 1 + sizeof assumptions / sizeof *assumptions };
    static const int64_t points_ns[] = {0, 1000, 1000000};
    struct rfn_lane lanes[LANES] = {{NULL, 0}};
    struct rfn_diag diag = {.file_offset = -1};
    struct rfn_prediction prediction;
    for (size_t i = 1; i < LANES; i++)
        lanes[i] = (struct rfn_lane){&assumptions[i - 1], 1};
    const struct rfn_predict_options options = {
        .network = network, .lanes = lanes, .n = LANES, .points_ns = points_ns, .n_points = 3};
    if (rfn_predict(archive, &options, &prediction, &diag) < 0)
        return;
    if (prediction.predicted_ns[0] != prediction.recorded_ns)
        abort();
    rfn_prediction_release(&prediction);
}

static void rank_events(const struct rfn_archive *archive, const struct rfn_network *network)
{
    const struct rfn_lane lane = {NULL, 0};
    const struct rfn_predict_options options = {.network = network, .lanes = &lane, .n = 1};
    struct rfn_diag diag = {.file_offset = -1};
    struct rfn_prediction prediction;
    struct rfn_event_gains gains;
    if (rfn_predict_events(archive, &options, 4, &gains, &prediction, &diag) < 0)
        return;
    rfn_event_gains_release(&gains);
    rfn_prediction_release(&prediction);
}

static void find_equal_delays(const struct rfn_archive *archive, const struct rfn_network *network)
{
    struct rfn_aggregation aggregation = {
        .any = true, .terms = 2, .least_ns = 1000, .least_bytes = 1000, .network = *network};
    struct rfn_diag diag = {.file_offset = -1};
    struct rfn_call_groups groups;
    if (rfn_call_groups_init(&groups, archive) == 0 &&
        rfn_call_groups_read(&groups, archive, &diag) == 0)
        (void)rfn_equal_delays_find(archive, &groups, &aggregation, NULL, NULL, &diag);
    rfn_call_groups_release(&groups);
    rfn_aggregation_release(&aggregation);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_network network;
    struct rfn_diag diag = {.file_offset = -1};
    uint64_t messages;
    if (rfn_archive_open_memory(bytes, size, &archive, &diag) < 0)
        return 0;
    if (rfn_archive_run(archive)->times && is_small(archive) &&
        rfn_network_estimate(archive, &network, &messages, &diag) == 0) {
        predict(archive, &network);
        rank_events(archive, &network);
        if (rfn_archive_complete(archive, NULL))
            find_equal_delays(archive, &network);
    }
    rfn_archive_close(archive);
    return 0;
}
