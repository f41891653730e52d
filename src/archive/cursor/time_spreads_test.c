/* Spreads of archives whose times are known: those that an archive keeps, and those that are
 * computed, against a plain calculation; and payloads that are not what they should be. */
#include "archive/cursor/time_spreads.h"
#include "support/reduced_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive = NULL;
    assert_int_equal(rfn_archive_open_memory(file->data, file->size, &archive, NULL), 0);
    return archive;
}

/* ---- codes ---- */

static void test_codes(void **state)
{
    (void)state;
    static const uint64_t known[][2] = {{0, 0},
                                        {1, 1},
                                        {255, 255},
                                        {256, 256},
                                        {257, 256},
                                        {511, 510},
                                        {1000000, 999424},
                                        {1u << 31, 1u << 31},
                                        {UINT64_MAX, UINT64_C(255) << 56}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(rfn_spread_decode(rfn_spread_code(known[i][0])), known[i][1]);
    for (uint64_t code = 0; code <= RFN_SPREAD_CODE_MAX; code++) {
        assert_int_equal(rfn_spread_code(rfn_spread_decode(code)), code);
        assert_true(code == 0 || rfn_spread_decode(code) > rfn_spread_decode(code - 1));
    }
    assert_int_equal(rfn_spread_code(UINT64_MAX), RFN_SPREAD_CODE_MAX);
}

/* ---- what is known ---- */

struct times {
    uint64_t *values;
    size_t n;
};

/* Some of a symbol's times: those after some other symbols. Each is a site. */
struct selection {
    int symbol;
    bool wanted[R_SYMBOLS + 1]; /* by 1 + the symbol before */
};

static struct selection all_of(int symbol)
{
    struct selection selection = {.symbol = symbol};
    for (int i = 0; i <= R_SYMBOLS; i++)
        selection.wanted[i] = true;
    return selection;
}

/* The selected times of all ranks, before the call or in it. */
static struct times gather(const struct reduced_run *run, const struct selection *selection,
                           bool before)
{
    struct times times = {0};
    for (int i = 0; i < N_RANKS; i++) {
        const struct made_set *set = set_of(run, i);
        times.values = realloc(times.values, (times.n + set->n + 1) * sizeof *times.values);
        assert_non_null(times.values);
        for (size_t e = 0; e < set->n; e++) {
            const struct made_event *event = &set->events[e];
            if (event->symbol != selection->symbol || (before && e == 0) ||
                !selection->wanted[e ? 1 + event[-1].symbol : 0])
                continue;
            times.values[times.n++] = before ? event->enter - event[-1].exit
                                             : event->exit - event->enter;
        }
    }
    return times;
}

/* How many, and in *time how long, before and in the calls. */
static size_t measure(const struct reduced_run *run, const struct selection *selection,
                      uint64_t *time)
{
    size_t n = 0;
    *time = 0;
    for (int before = 0; before < 2; before++) {
        struct times times = gather(run, selection, before);
        n += before ? 0 : times.n;
        for (size_t i = 0; i < times.n; i++)
            *time += times.values[i];
        free(times.values);
    }
    return n;
}

static uint64_t rounded(uint64_t number)
{
    return rfn_spread_decode(rfn_spread_code(number));
}

static void expect_bins(const struct rfn_time_spread *spread, const struct times *times)
{
    uint64_t bins[RFN_SPREAD_BINS] = {0}, last = spread->first_bin + spread->n_bins - 1;
    for (size_t i = 0; i < times->n; i++)
        bins[times->values[i] ? 1 + (int)floor(log2((double)times->values[i])) : 0]++;
    assert_true(last < RFN_SPREAD_BINS && bins[spread->first_bin] && bins[last]);
    for (unsigned b = 0; b < RFN_SPREAD_BINS; b++) {
        bool there = b >= spread->first_bin && b <= last;
        assert_int_equal(there ? spread->bins[b - spread->first_bin] : 0, rounded(bins[b]));
    }
}

static void expect_spread(const struct rfn_time_spread *spread, struct times times)
{
    uint64_t min = UINT64_MAX, max = 0;
    double sum = 0, squares = 0;
    assert_int_equal(spread->n, times.n);
    for (size_t i = 0; i < times.n; i++) {
        min = times.values[i] < min ? times.values[i] : min;
        max = times.values[i] > max ? times.values[i] : max;
        sum += (double)times.values[i];
    }
    double mean = times.n ? sum / (double)times.n : 0;
    for (size_t i = 0; i < times.n; i++)
        squares += ((double)times.values[i] - mean) * ((double)times.values[i] - mean);
    double deviation = times.n ? sqrt(squares / (double)times.n) : 0;
    if (times.n) {
        bool equal = rounded(min) == rounded(max);
        assert_int_equal(spread->min_ns, rounded(min));
        assert_int_equal(spread->max_ns, rounded(max));
        assert_int_equal(spread->mean_ns, equal ? rounded(min) : rounded((uint64_t)mean));
        assert_true(fabs((double)spread->deviation_ns - deviation) <= 1 + deviation / 128 ||
                    (equal && spread->deviation_ns == 0));
        expect_bins(spread, &times);
    }
    free(times.values);
}

static void expect_position(const struct rfn_position_spread *position,
                            const struct reduced_run *run, const struct selection *selection)
{
    assert_int_equal(position->function, sites[selection->symbol][0]);
    assert_int_equal(position->path, sites[selection->symbol][1]);
    assert_int_equal(position->failed_poll, selection->symbol == POLL);
    expect_spread(&position->before, gather(run, selection, true));
    expect_spread(&position->duration, gather(run, selection, false));
}

/* Those after a symbol that has more than a sixteenth, if there are at least two such, and the
 * rest; returns how many positions that are. */
static size_t expect_symbol(const struct rfn_position_spread *positions,
                            const struct reduced_run *run, int symbol)
{
    struct selection rest = all_of(symbol), after[R_SYMBOLS];
    uint64_t time_of_all, time;
    size_t of_all = measure(run, &rest, &time_of_all), n = 0;
    int apart[R_SYMBOLS];
    for (int before = 0; before < R_SYMBOLS; before++) {
        struct selection one = {.symbol = symbol};
        one.wanted[1 + before] = true;
        size_t some = measure(run, &one, &time);
        if (some <= of_all / 16 && time <= time_of_all / 16)
            continue;
        apart[n] = before;
        after[n++] = one;
    }
    for (size_t i = 0; i < n && n > 1; i++) {
        assert_int_equal(positions[i].after, RFN_AFTER_SITE);
        assert_int_equal(positions[i].after_function, sites[apart[i]][0]);
        assert_int_equal(positions[i].after_path, sites[apart[i]][1]);
        expect_position(&positions[i], run, &after[i]);
        rest.wanted[1 + apart[i]] = false;
    }
    n = n > 1 ? n : 0;
    if (measure(run, &rest, &time)) {
        assert_int_equal(positions[n].after, n ? RFN_AFTER_REST : RFN_AFTER_ANY);
        expect_position(&positions[n++], run, &rest);
    }
    return n;
}

/* Returns how many positions are told apart. */
static size_t expect_known(const struct rfn_archive *archive, const struct reduced_run *run)
{
    struct rfn_time_spreads *spreads;
    size_t n, at = 0, apart = 0;
    assert_int_equal(rfn_time_spreads_new(archive, &spreads, NULL), 0);
    assert_int_equal(rfn_time_spreads_kept(spreads), !run->no_spreads);
    assert_int_equal(rfn_time_spreads_clusters(spreads), 1);
    struct rfn_spread_cluster cluster = rfn_time_spreads_cluster(spreads, 0);
    assert_int_equal(cluster.n_streams, N_RANKS);
    assert_int_equal(cluster.counted, N_RANKS);
    for (uint32_t i = 0; i < N_RANKS; i++)
        assert_int_equal(cluster.streams[i], i);
    const struct rfn_position_spread *positions = rfn_time_spreads_positions(spreads, &n);
    for (int s = 0; s < R_SYMBOLS; s++)
        at += expect_symbol(&positions[at], run, s);
    assert_int_equal(at, n);
    for (size_t i = 0; i < n; i++)
        apart += positions[i].after == RFN_AFTER_SITE;
    rfn_time_spreads_free(spreads);
    return apart;
}

/* Kept, and computed from times, which are nanoseconds of the run here. */
static void test_known(void **state)
{
    (void)state;
    size_t apart = 0;
    for (unsigned i = 0; i < 8 * N_SHAPES; i++) {
        struct reduced_run *run = new_run(shapes[i % N_SHAPES], 2 | (i & 13), i);
        run->no_spreads = i & 16;
        struct rfn_buf file = write_reduced(run);
        struct rfn_archive *archive = open_bytes(&file);
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), 0);
        apart += expect_known(archive, run);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
        delete_run(run);
    }
    assert_true(apart > 2);
}

static void test_without_times(void **state)
{
    (void)state;
    struct rfn_time_spreads *spreads;
    struct rfn_buf file = write_archive(SOUND, true, false);
    struct rfn_archive *archive = open_bytes(&file);
    assert_int_equal(rfn_time_spreads_new(archive, &spreads, NULL), RFN_E_UNSUPPORTED);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* ---- what is wrong ---- */

/* Of an archive with this payload; both ways to look at it agree.. */
static int try_payload(struct reduced_run *run, const struct rfn_buf *payload,
                       struct rfn_diag *diag)
{
    struct rfn_time_spreads *spreads;
    struct rfn_diag again = {0};
    run->spreads = payload;
    struct rfn_buf file = write_reduced(run);
    struct rfn_archive *archive = open_bytes(&file);
    *diag = (struct rfn_diag){0};
    int error = rfn_archive_verify_open(archive, NULL, NULL, diag);
    assert_int_equal(rfn_time_spreads_new(archive, &spreads, &again), error);
    if (!error)
        rfn_time_spreads_free(spreads);
    else
        assert_true(error == RFN_E_CORRUPT && diag->file_offset > 0 &&
                    strstr(diag->text, "SPREADS"));
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    return error;
}

static void test_bytes(void **state)
{
    (void)state;
    struct rfn_diag diag = {0};
    for (unsigned shape = 0; shape < N_SHAPES; shape++) {
        struct reduced_run *run = new_run(shapes[shape], 2, shape);
        struct rfn_buf payload = pack_spreads(run);
        size_t size = payload.size, refused = 0;
        for (size_t at = 0; at < 3 * size; at++) {
            uint8_t before = payload.data[at / 3];
            payload.data[at / 3] ^= (uint8_t)(at % 3 == 2 ? 0xff : at % 3 ? 1 : 0x80);
            refused += try_payload(run, &payload, &diag) != 0;
            payload.data[at / 3] = before;
        }
        assert_true(refused > size / 4 && refused < 3 * size);
        for (payload.size = 0; payload.size < size; payload.size++)
            assert_int_equal(try_payload(run, &payload, &diag), RFN_E_CORRUPT);
        rfn_buf_u8(&payload, 0);
        assert_int_equal(try_payload(run, &payload, &diag), RFN_E_CORRUPT);
        rfn_buf_release(&payload);
        delete_run(run);
    }
}

static void test_contradictions(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[8];
        size_t n;
        const char *says; /* NULL: nothing is wrong */
    } wrong[] = {
        {{0}, 1, NULL},
        {{1, 0, 4, 0}, 4, NULL},
        {{1, 0, 4, 1, 0}, 5, NULL},
        {{2, 0, 4, 0, 1, 4, 0}, 7, "twice"},
        {{2, 0, 4, 0, 0, 4, 0}, 7, "stream that is not there"},
        {{1, 4, 4, 0}, 4, "stream that is not there"},
        {{1, 0, 5, 0}, 4, "another number of streams"},
        {{1, 0, 0, 0}, 4, "another number of streams"},
        {{1, 0, 4, 6}, 4, "another number of streams"},
        {{1, 0, 4, 1, 1, 1, 0}, 7, "malformed"},       /* failed polls of failed polls */
        {{1, 0, 4, 1, 2, 0}, 6, "malformed"},          /* firsts, of nothing */
        {{1, 0, 4, 1, 0x0c, 1, 0, 1}, 8, "malformed"}, /* a single one apart */
        {{1, 0, 4, 1, 0x0c, 2, 9, 1}, 8, "malformed"}, /* after a site that is not there */
        {{1, 0, 4, 1, 0x0c, 2, 0, 0}, 8, "malformed"}, /* apart, without events */
        {{1, 0, 4, 1, 0x0c, 2, 0, 2}, 8, "malformed"}, /* with more than all */
        {{1, 0, 4, 1, 0x88, 0x80, 0x80, 1}, 8, "more times"},
    };
    struct reduced_run *run = new_run(shapes[0], 2, 5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rfn_diag diag = {0};
        struct rfn_buf payload = RFN_BUF_INIT;
        rfn_buf_bytes(&payload, wrong[i].bytes, wrong[i].n);
        int error = try_payload(run, &payload, &diag);
        assert_int_equal(error, wrong[i].says ? RFN_E_CORRUPT : 0);
        assert_true(!wrong[i].says || strstr(diag.text, wrong[i].says));
        rfn_buf_release(&payload);
    }
    struct rfn_buf many = RFN_BUF_INIT;
    rfn_buf_bytes(&many, "\1\0\4\1", 4);
    rfn_buf_varint(&many, UINT64_C(1) << 40); /* so many events, each of 1 ns after 1 ns */
    rfn_buf_bytes(&many, "\1\0\1\0", 4);
    struct rfn_diag diag = {0};
    assert_int_equal(try_payload(run, &many, &diag), RFN_E_CORRUPT);
    assert_non_null(strstr(diag.text, "more times than there are events"));
    rfn_buf_release(&many);
    delete_run(run);
}

/* Minor version 4 told nothing apart: a site's head had one bit less. */
static void test_older(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 0, 4, 1, 1 << 2, 1, 0, 3, 0};
    struct rfn_buf payload = RFN_BUF_INIT;
    struct rfn_time_spreads *spreads;
    struct rfn_diag diag = {0};
    size_t n;
    struct reduced_run *run = new_run(shapes[0], 2, 5);
    rfn_buf_bytes(&payload, bytes, sizeof bytes);
    assert_int_equal(try_payload(run, &payload, &diag), RFN_E_CORRUPT);
    run->site_spreads = true;
    assert_int_equal(try_payload(run, &payload, &diag), 0);
    struct rfn_buf file = write_reduced(run);
    struct rfn_archive *archive = open_bytes(&file);
    assert_int_equal(rfn_time_spreads_new(archive, &spreads, NULL), 0);
    const struct rfn_position_spread *position = rfn_time_spreads_positions(spreads, &n);
    assert_int_equal(n, 1);
    assert_int_equal(position->after, RFN_AFTER_ANY);
    assert_int_equal(position->before.n, 1);
    assert_int_equal(position->before.max_ns, 1);
    assert_int_equal(position->duration.mean_ns, 3);
    rfn_time_spreads_free(spreads);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    rfn_buf_release(&payload);
    delete_run(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),          cmocka_unit_test(test_known),
        cmocka_unit_test(test_without_times),  cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_older),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
