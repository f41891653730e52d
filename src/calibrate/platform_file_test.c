/* The platform that is written is as the measurements are: of known networks, with noise. */
#include "calibrate/platform_file.h"
#include "calibrate/sizes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DETACHED = 65536, TRIES = 5 };

/* From send to receive, of which the calls take their shares. */
struct network {
    double (*ns)(double bytes);
    double send_share, receive_share; /* up to DETACHED */
    double noise;                     /* measurements take up to so much longer */
};

static struct cal_samples halves[CAL_MOST_SIZES], sends[CAL_MOST_SIZES], isends[CAL_MOST_SIZES],
    receives[CAL_MOST_SIZES], late_receives[CAL_MOST_SIZES];
static struct cal_messages messages;
static struct cal_network_model model;
static struct cal_misfit misfits[CAL_MOST_SIZES];

/* 0 to 1, another one for each i. */
static double share(size_t i)
{
    const double x = sin((double)(i + 1) * 12.9898) * 43758.5453;
    return x - floor(x);
}

static void measure_size(const struct network *known, size_t i, int64_t bytes)
{
    const bool detached = bytes <= DETACHED;
    const double ns = known->ns((double)bytes);
    struct cal_samples *all[] = {&halves[i], &isends[i], &sends[i], &receives[i],
                                 &late_receives[i]};
    const double of[] = {1, 0.1, known->send_share, known->receive_share, known->receive_share};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = (struct cal_samples){.bytes = bytes};
        for (size_t try = 0; try < TRIES && (detached || k < 2); try++)
            cal_samples_add(all[k],
                            ns * of[k] * (1 + known->noise * share((i * 8 + k) * TRIES + try)));
    }
}

static void measure(const struct network *known)
{
    int64_t bytes[CAL_MOST_SIZES];
    uint64_t random = 1;
    const size_t n = cal_sizes(bytes, DETACHED, &random);
    for (size_t i = 0; i < n; i++)
        measure_size(known, i, bytes[i]);
    messages = (struct cal_messages){.halves = halves,
                                     .sends = sends,
                                     .isends = isends,
                                     .receives = receives,
                                     .late_receives = late_receives,
                                     .n_sizes = n,
                                     .detached_bytes = DETACHED,
                                     .exchange_ns = {INFINITY, INFINITY}};
}

static size_t fit(void)
{
    cal_network_model_fit(&model, &messages);
    return cal_platform_misfits(&model, &messages, misfits);
}

/* The numbers behind the sizes of a factor: how many, and the least and the largest. */
static size_t factors(const char *name, double *least, double *largest)
{
    static char text[1 << 16];
    const struct cal_cluster cluster = {.hosts = 2, .cores = 1, .speed = 1e9};
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(cal_platform_write(&model, &cluster, out), 0);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = 0;
    fclose(out);
    char *at = strstr(text, name);
    assert_non_null(at);
    at = strstr(at, "value=\"") + strlen("value=\"");
    size_t n = 0;
    *least = INFINITY;
    *largest = 0;
    for (char *end = at; *end != '"'; at = end + 1, n++) {
        strtod(at, &end);
        const double value = strtod(end + 1, &end);
        *least = fmin(*least, value);
        *largest = fmax(*largest, value);
    }
    return n;
}

/* All sizes that were measured, and those between them, are as known, to so much. */
static void expect_known(const struct network *known, double off)
{
    for (double bytes = 1; bytes <= (double)CAL_MOST_BYTES; bytes = floor(bytes * 1.07) + 1) {
        const double written = cal_platform_ns(&model, (int64_t)bytes), ns = known->ns(bytes);
        if (!(written > ns * (1 - off) && written < ns * (1 + off)))
            fail_msg("%g bytes: %g ns, not %g", bytes, written, ns);
    }
}

static void expect_sane(void)
{
    double least, largest;
    assert_in_range(factors("lat-factor", &least, &largest), 1, CAL_MOST_PIECES);
    if (!(largest < 1000))
        fail_msg("a latency factor of %g", largest);
    assert_in_range(factors("bw-factor", &least, &largest), 1, CAL_MOST_PIECES);
    if (!(least > 0.01 && largest <= 1 + 1e-9))
        fail_msg("bandwidth factors from %g to %g", least, largest);
}

/* Each octave has a way of its own: a step up, then slower and slower growth. */
static double steps_ns(double bytes)
{
    const int octave = (int)(log2(bytes) / 2.4);
    return 2000 * pow(1.4, octave) + bytes * (bytes > DETACHED ? 0.25 : 0.1) +
           (bytes > DETACHED ? 40000 : 0);
}

/* The ways of sending each for itself: more pieces than the platform has. */
static size_t all_pieces(void)
{
    struct cal_point points[CAL_MOST_SIZES];
    struct cal_piece pieces[CAL_MOST_PIECES];
    size_t n = 0, found = 0;
    for (size_t i = 0; i <= messages.n_sizes; i++) {
        if (i == messages.n_sizes || halves[i].bytes == DETACHED + 1) {
            found += cal_pieces_fit(points, n, pieces);
            n = 0;
        }
        if (i < messages.n_sizes)
            points[n++] = (struct cal_point){halves[i].bytes, cal_samples_shortest(&halves[i])};
    }
    return found;
}

/* The last piece is there: 16 MiB take as long as they do. */
static void test_many_pieces(void **state)
{
    (void)state;
    const struct network known = {steps_ns, 0.1, 0.1, 0.04};
    measure(&known);
    assert_true(all_pieces() > CAL_MOST_PIECES);
    assert_int_equal(fit(), 0);
    const double ns = cal_platform_ns(&model, CAL_MOST_BYTES);
    if (!(ns > 0.9 * steps_ns((double)CAL_MOST_BYTES) &&
          ns < 1.1 * steps_ns((double)CAL_MOST_BYTES)))
        fail_msg("16 MiB: %g ns", ns);
    expect_sane();
}

static double plain_ns(double bytes)
{
    return 1500 + bytes * (bytes > DETACHED ? 0.3 : 0.15) + (bytes > DETACHED ? 9000 : 0);
}

static void test_noise(void **state)
{
    (void)state;
    for (double noise = 0; noise < 0.2; noise += 0.03) {
        const struct network known = {plain_ns, 0.2, 0.2, noise};
        measure(&known);
        assert_int_equal(fit(), 0);
        expect_known(&known, 0.2);
        expect_sane();
    }
}

/* Small messages are faster than links on which large ones have their speed. */
static double cached_ns(double bytes)
{
    return 300 + bytes * (bytes > DETACHED ? 0.4 : 0.04) + (bytes > DETACHED ? 2000 : 0);
}

static void test_faster_small_messages(void **state)
{
    (void)state;
    const struct network known = {cached_ns, 0.3, 0.3, 0.03};
    measure(&known);
    assert_int_equal(fit(), 0);
    expect_known(&known, 0.2);
    expect_sane();
}

/* Send and receive copy at the same time: together they are longer than the message takes. */
static void test_calls_at_once(void **state)
{
    (void)state;
    const struct network known = {plain_ns, 0.8, 0.9, 0.02};
    measure(&known);
    assert_int_equal(fit(), 0);
    expect_known(&known, 0.2);
    expect_sane();
}

/* A size of which each measurement was disturbed is told, the worst one first. */
static void test_disturbed_size(void **state)
{
    (void)state;
    const struct network known = {plain_ns, 0.2, 0.2, 0.02};
    measure(&known);
    for (size_t k = 0; k < TRIES; k++) {
        halves[40].ns[k] *= 2;
        halves[60].ns[k] *= 3;
    }
    assert_int_equal(fit(), 2);
    assert_int_equal(misfits[0].size, 60);
    assert_int_equal(misfits[1].size, 40);
    expect_known(&known, 0.2);
    measure_size(&known, 40, halves[40].bytes);
    measure_size(&known, 60, halves[60].bytes);
    assert_int_equal(fit(), 0);
}

/* Every other size takes three times as long: no platform is like that. */
static void test_contradiction(void **state)
{
    (void)state;
    const struct network known = {plain_ns, 0.2, 0.2, 0.02};
    measure(&known);
    for (size_t i = 0; i < messages.n_sizes; i += 2) {
        for (size_t k = 0; k < TRIES; k++)
            halves[i].ns[k] *= 3;
    }
    assert_true(fit() > messages.n_sizes / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_pieces),           cmocka_unit_test(test_noise),
        cmocka_unit_test(test_faster_small_messages), cmocka_unit_test(test_calls_at_once),
        cmocka_unit_test(test_disturbed_size),        cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
