/* The section of samples, made up: what is counted, estimated, dropped, and what is not known. */
#include "cli/report/report.h"

#include "cli/text/json.h"
#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROWS = 8 };

static struct rfn_sample_row rows[ROWS];
static struct rfn_sample sample;
static struct rfn_samples samples;
static struct rfn_profile_rank ranks[8];
static struct rfn_profile profile;
static struct rfn_report report;
static struct rfn_text out;

static uint64_t sent_at, got_at, other_at;

/* `each` samples of each of these latencies, of weight w. */
static void got(struct rfn_sample_key key, double weight, const double *latencies, size_t n,
                uint64_t each)
{
    struct rfn_sample_row *row = &rows[samples.n_rows++];
    *row = (struct rfn_sample_row){
        .key = key, .min_ns = latencies[0], .max_ns = latencies[n - 1], .clean_min_ns = 1500};
    for (size_t i = 0; i < n; i++) {
        row->mean_ns += latencies[i] / (double)n;
        row->buckets[rfn_sample_bucket(latencies[i])] += weight * (double)each;
        row->n += each;
    }
    for (size_t i = 0; i < n; i++)
        row->moment2 += weight * (double)each * (latencies[i] - row->mean_ns) *
                        (latencies[i] - row->mean_ns);
    row->weight = weight * (double)row->n;
    row->weight2 = weight * weight * (double)row->n;
    row->sampled_bytes = row->weight * 8;
    row->waited_ns = row->weight * 500;
    row->lay_ns = row->weight * 2000;
    row->clean = row->n / 4;
}

static void sent(struct rfn_sample_key key, uint64_t messages)
{
    struct rfn_sample_row *row = &rows[samples.n_rows++];
    *row = (struct rfn_sample_row){.key = key, .messages = messages, .bytes = 8 * messages};
    row->key.receive = RFN_SAMPLE_NO_SITE;
}

static int setup(void **state)
{
    (void)state;
    const double fast[] = {2000, 4000}, slow[] = {1e6};
    sent_at = rfn_sample_site(SEND, EXCHANGE_88);
    got_at = rfn_sample_site(RECV, EXCHANGE_80);
    other_at = rfn_sample_site(RECV, RESIDUAL_12);
    samples = (struct rfn_samples){.known = true,
                                   .analysis = RFN_SAMPLE_FREQ,
                                   .strategy = "random:0.1",
                                   .messages = 1250,
                                   .bytes = 10000,
                                   .sampled = 125,
                                   .rows = rows};
    const struct rfn_sample_key key = {0, 1, sent_at, got_at, 4};
    sent(key, 1000);
    got(key, 10, fast, 2, 50);
    sent((struct rfn_sample_key){2, 3, sent_at, got_at, 4}, 250);
    got((struct rfn_sample_key){2, 3, sent_at, got_at, 4}, 10, slow, 1, 15);
    got((struct rfn_sample_key){2, 3, sent_at, other_at, 4}, 10, slow, 1, 10);
    profile = (struct rfn_profile){
        .n_ranks = 8, .times = true, .end_ns = 2000000000, .ranks = ranks};
    report = (struct rfn_report){.file = "fake.rfn",
                                 .archive = &fake,
                                 .run = &fake.run,
                                 .profile = &profile,
                                 .samples = &samples,
                                 .top = 15,
                                 .width = 140};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_text_release(&out);
    return 0;
}

/* The words, whatever is between them. */
static void expect(const char *words)
{
    struct rfn_text squeezed = {0};
    const char *page = rfn_text_terminated(&out);
    for (; *page; page++) {
        const bool space = *page == ' ' || *page == '\n';
        if (!space)
            rfn_text_char(&squeezed, *page);
        else if (squeezed.n && squeezed.data[squeezed.n - 1] != ' ')
            rfn_text_char(&squeezed, ' ');
    }
    if (!strstr(rfn_text_terminated(&squeezed), words))
        fail_msg("no '%s' in\n%s", words, rfn_text_terminated(&out));
    rfn_text_release(&squeezed);
}

static void expect_not(const char *words)
{
    if (strstr(rfn_text_terminated(&out), words))
        fail_msg("'%s' in\n%s", words, rfn_text_terminated(&out));
}

static void test_page(void **state)
{
    (void)state;
    rfn_report_samples(&out, &report);
    expect("Measured: 125 of 1,250 messages (10.0 %, 9.77 KiB), by random:0.1. On average");
    expect("a message lay 2.00 us until its receive was posted, and its receiver had waited 500 ns "
           "in MPI when the send began.");
    expect("24.0 % of the measured messages are clean"); /* 25, 3 and 2 */
    expect("the fastest, 1.50 us, shows");
    expect("8 - 15 B 1,250 9.77 KiB 125 202 us");  /* of all: (1000 * 3 + 250 * 1000) / 1250 */
    expect("0 1 1,000 7.81 KiB 100 3.00 us [2.8"); /* +- 1.98 * 1005 / 10 * sqrt(0.9) */
    expect(", 3.19]");
    expect("2 3 250 1.95 KiB 25 1.00 ms ");
    expect_not("~1,000");
    /* 150 of 250 were received here. */
    expect("2 3 8 - 15 B ~150 ~1.17 KiB 15");
    expect("2 3 8 - 15 B ~100 ~800 B 10");
    expect("from MPI_Send < exchange (halo.c:88) < step (solver.c:51)");
    expect("to MPI_Recv < exchange (halo.c:80)");
}

/* With less than 368 samples nobody knows how far up the 99th percentile may be. */
static void test_too_few(void **state)
{
    (void)state;
    rfn_report_samples(&out, &report);
    expect(", ?]");
    expect("?: too few were measured to say");
}

/* Without a histogram nothing is said of quantiles. */
static void test_stat(void **state)
{
    (void)state;
    samples.analysis = RFN_SAMPLE_STAT;
    rfn_report_samples(&out, &report);
    expect("Pairs by mean from to messages bytes measured mean 2 3 250");
    expect_not("median");
}

static void test_dropped(void **state)
{
    (void)state;
    samples.dropped[RFN_SAMPLE_ONE_SIDED] = 1200;
    samples.dropped[RFN_SAMPLE_FOREIGN] = 3;
    samples.changed = true;
    samples.where = (char[]){"size=8"};
    rfn_report_samples(&out, &report);
    expect("by random:0.1, which was changed while the program ran. Only messages of size=8 are "
           "counted. 1,203 more were chosen and not measured: 1,200 known at one end only, 3 to or "
           "from another job or clock.");
}

/* All were measured: nothing is a guess. */
static void test_truth(void **state)
{
    (void)state;
    report.all_samples = &samples;
    rfn_report_samples(&out, &report);
    expect("Of 6 95 % intervals of categories (mean, median, 99th percentile) 6 contain what all "
           "messages have: 100.0 %.");
    expect("0 1 1,000 7.81 KiB 100 3.00 us");
    expect("1,000 7.81 KiB all 3.00 us");
}

static void test_some(void **state)
{
    (void)state;
    struct rfn_rank_range range = {2, 2};
    const struct rfn_rank_filter ranks = {.ranges = &range, .n = 1};
    report.ranks = &ranks;
    rfn_report_samples(&out, &report);
    expect("of a send to the end of its receive of rank 2");
    expect("2 3 250");
    expect_not("1,000");
}

static void test_call_path(void **state)
{
    (void)state;
    report.call_path = "residual";
    rfn_report_samples(&out, &report);
    expect("~100 ~800 B 10"); /* by weights alone: senders do not know the place */
    expect_not("halo.c:80");
}

/* ---- without a trace ---- */

static void test_alone(void **state)
{
    (void)state;
    samples.alone = true;
    rfn_report_text(&out, &report);
    expect(
        "fake on 8 ranks ran for 2.00 s. This archive has a sample of its messages, and no other "
        "events:");
    expect("Command ./fake");
    expect("Measured: 125 of 1,250");
    expect_not("efficiency");
    expect_not("Wait");
}

static void test_json(void **state)
{
    (void)state;
    samples.alone = true;
    samples.dropped[RFN_SAMPLE_NO_ROOM] = 4;
    json_t *value = rfn_report_json(&report);
    const json_t *sampling = json_object_get(value, "sampling");
    assert_null(json_object_get(value, "efficiency"));
    assert_non_null(json_object_get(value, "command"));
    assert_int_equal(json_integer_value(json_object_get(sampling, "sampled")), 125);
    assert_int_equal(json_integer_value(json_object_get(sampling, "dropped")), 4);
    assert_int_equal(json_array_size(json_object_get(sampling, "categories")), 3);
    assert_int_equal(json_array_size(json_object_get(sampling, "pairs")), 2);
    const json_t *pair = json_array_get(json_object_get(sampling, "pairs"), 1);
    assert_int_equal(json_integer_value(json_object_get(pair, "source")), 0);
    assert_float_equal(json_real_value(json_object_get(pair, "mean_ns")), 3000, 1e-6);
    assert_true(json_is_null(json_object_get(pair, "p99_high_ns")));
    assert_null(json_object_get(sampling, "samples"));
    json_decref(value);
}

static void test_csv(void **state)
{
    (void)state;
    sample = (struct rfn_sample){.source = 0,
                                 .dest = 1,
                                 .send = sent_at,
                                 .receive = got_at,
                                 .bytes = 8,
                                 .channel = 0xabc,
                                 .position = 7,
                                 .weight = 10,
                                 .sent_ns = 100,
                                 .posted_ns = 90,
                                 .entered_ns = 95,
                                 .received_ns = 350};
    samples.analysis = RFN_SAMPLE_WRITE;
    samples.samples = &sample;
    samples.n_samples = 1;
    rfn_report_csv(&out, &report, "sampling_samples");
    assert_string_equal(
        rfn_text_terminated(&out),
        "source,destination,collective,send_path,receive_path,bytes,channel,position,weight,"
        "latency_ns,sent_ns,posted_ns,entered_ns,received_ns\r\n"
        "0,1,false,MPI_Send < exchange (halo.c:88) < step (solver.c:51) < main (solver.c:20),"
        "MPI_Recv < exchange (halo.c:80) < step (solver.c:51) < main (solver.c:20),8,"
        "0000000000000abc,7,10.0,250.0,100,90,95,350\r\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    rfn_json_init();
    const struct CMUnitTest tests[] = {
        TEST(test_page),  TEST(test_stat), TEST(test_too_few),   TEST(test_dropped),
        TEST(test_truth), TEST(test_some), TEST(test_call_path), TEST(test_alone),
        TEST(test_json),  TEST(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
