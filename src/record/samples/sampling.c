/* sampling.c - begins and ends to sample, shows the job to those who watch it, and takes their
 * wishes. */
#include "record/core/clock_sync.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/run_identity.h"
#include "record/samples/samples_internal.h"
#include "reduce/samples/live_segment.h"

#include <stdlib.h>
#include <string.h>

/* A row per 8 KiB of --memory; the memory of a row is there when it is used. */
enum { ROW_BYTES = 8 << 10, FEWEST_ROWS = 128, MOST_ROWS = 1 << 15 };

struct rec_sampling rec_sampling;

static struct rfn_live_segment live; /* has the tables */
static uint32_t wish_seen;

/* ---- the tables ---- */

uint32_t rec_sampling_rows(void)
{
    const size_t rows = rec_options.memory_bytes / ROW_BYTES;
    return rows < FEWEST_ROWS ? FEWEST_ROWS : rows > MOST_ROWS ? MOST_ROWS : (uint32_t)rows;
}

/* Of a process that nobody watches. */
static bool make_own_tables(void)
{
    const uint32_t rows = rec_sampling_rows(), pairs = RFN_LIVE_PAIRS * rows;
    void *table = calloc(1, rfn_sample_table_bytes(rows));
    void *counts = calloc(1, rfn_sample_counts_bytes(pairs));
    rec_sampling.table = table ? rfn_sample_table_init(table, rows) : NULL;
    rec_sampling.counts = counts ? rfn_sample_counts_init(counts, pairs) : NULL;
    return table && counts;
}

static void release_own_tables(void)
{
    free(rec_sampling.table);
    free(rec_sampling.counts);
}

#ifdef RFN_FLAVOUR_SMPI /* simulated time is nothing to watch */
static bool make_tables(void)
{
    return make_own_tables();
}

static void release_tables(void)
{
    release_own_tables();
}
#else
static bool make_tables(void)
{
    if (!rec_sampling.told) /* nothing to watch */
        return make_own_tables();
    const struct rfn_live_owner owner = {.archive = rec_options.output,
                                         .program = rec_options.program,
                                         .rank = rec_sampling.rank,
                                         .ranks = (uint32_t)rec_job_size(),
                                         .run = rec_run_identity()};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_live_segment_create(&live, &owner, rec_sampling_rows(), &diag) < 0)
        return false;
    if (diag.text[0] && rec_job_is_first() && !rec_options.quiet)
        rec_message("the job cannot be watched: %s", diag.text);
    rec_sampling.table = live.table;
    rec_sampling.counts = live.counts;
    return true;
}

static void release_tables(void)
{
    if (rec_sampling.told)
        rfn_live_segment_remove(&live);
    else
        release_own_tables();
}
#endif

struct rfn_sample_row *rec_sampling_row(const struct rfn_sample_key *key)
{
    if (__builtin_expect(rec_sampling.table->n_rows == rec_sampling.table->room, 0) && live.table &&
        !live.full)
        rfn_live_segment_grow(&live);
    return rfn_sample_table_row(rec_sampling.table, key);
}

/* ---- who watches, and steers ---- */

static void show_strategy(void)
{
    char text[RFN_SAMPLE_TEXT];
    rfn_sample_strategy_text(&rec_sampling.strategy, text);
    if (live.header)
        rfn_live_text_write(&live.header->in_use, text);
}

static int change_strategy(const char *text)
{
    struct rfn_sample_strategy strategy = rec_sampling.strategy;
    RFN_TRY(rfn_sample_strategy_parse(text, &strategy, NULL));
    rec_sampling.strategy = strategy;
    rec_sampling.changed = true;
    rec_calls_strategy();
    show_strategy();
    return 0;
}

int rec_sample_wish(const char *text)
{
    if (!rec_sampling_is_on())
        return 0;
    rec_sampling_lock();
    const int error = change_strategy(text);
    rec_sampling_unlock();
    return error < 0 ? -1 : 1;
}

void rec_sampling_show(void)
{
    char wish[RFN_SAMPLE_TEXT];
    if (!live.header)
        return;
    __atomic_store_n(&live.header->messages, rec_sampling.messages, __ATOMIC_RELAXED);
    __atomic_store_n(&live.header->bytes, rec_sampling.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&live.header->sampled, rec_sampling.sampled, __ATOMIC_RELAXED);
    if (rfn_live_text_read(&live.header->wish, &wish_seen, wish))
        change_strategy(wish);
}

/* ---- start and end ---- */

static enum rfn_sample_analysis own_analysis(void)
{
    const char *text = rec_options_text(RFN_RECORD_SAMPLE_ANALYSIS);
    return strcmp(text, "stat") == 0    ? RFN_SAMPLE_STAT
           : strcmp(text, "write") == 0 ? RFN_SAMPLE_WRITE
                                        : RFN_SAMPLE_FREQ;
}

/* Ranks whose clocks can be compared have one number. */
static uint64_t own_clock(void)
{
#ifdef RFN_FLAVOUR_SMPI /* simulated time is the same everywhere */
    return 0;
#else
    return rec_clock_sync_host();
#endif
}

/* All ranks sample, or none. */
static bool begin(void)
{
    const char *problem = NULL;
    if (rec_job_is_limited())
        problem = "some ranks are not recorded";
    else if (rec_exchange_open(&rec_sampling.exchange, true) < 0)
        problem = "MPI has no communicator left for the recorder";
    else if (!rec_all_say(rec_sampling.exchange.comm,
                          rec_calls_start() && make_tables() && rec_announcements_start()) ||
             rec_far_start(&rec_sampling.exchange) < 0)
        problem = "a rank is out of memory";
    if (problem && rec_job_is_first())
        rec_message("no messages are sampled: %s", problem);
    return !problem;
}

void rec_sampling_start(void)
{
    const char *text = rec_options.texts[RFN_RECORD_SAMPLE];
    if ((!text && !rec_follower) || rec_sampling.on || rec_state != REC_RECORDING)
        return;
    rec_sampling.told = text;
    rec_sampling.strategy.seed = strtoull(rec_options_text(RFN_RECORD_SAMPLE_SEED), NULL, 10);
    rfn_sample_strategy_parse(text ? text : "off", &rec_sampling.strategy, NULL);
    if (text)
        rfn_sample_where_parse(rec_options_text(RFN_RECORD_SAMPLE_WHERE), &rec_conditions, NULL);
    rec_sampling.analysis = own_analysis();
    rec_sampling.rank = (uint32_t)rec_job_rank();
    rec_sampling.quantum_ns = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    rec_sampling.host = own_clock();
    rec_sampling.on = begin();
    show_strategy();
    if (rec_sampling.on)
        rec_calls_listen();
}

bool rec_sampling_is_on(void)
{
    return rec_sampling.on && rec_sampling.told;
}

bool rec_messages_are_followed(void)
{
    return rec_sampling.on;
}

static void stop(void)
{
    __atomic_store_n(&rec_listen_requests, NULL, __ATOMIC_RELAXED);
    rec_sampling_show();
    if (live.header)
        __atomic_store_n(&live.header->ended, 1, __ATOMIC_RELAXED);
}

int rec_sampling_end(void)
{
    stop();
    const int error = rec_announcements_end();
    if (!error)
        rec_ends_settle();
    rec_exchange_close(&rec_sampling.exchange);
    return error;
}

void rec_sampling_end_alone(void)
{
    if (!rec_sampling.on)
        return;
    stop();
    rec_announcements_end_alone();
    rec_ends_settle();
}

struct rec_sampled rec_sampled(void)
{
    return (struct rec_sampled){.table = rec_sampling.table,
                                .counts = rec_sampling.counts,
                                .messages = rec_sampling.messages,
                                .bytes = rec_sampling.bytes,
                                .sampled = rec_sampling.sampled,
                                .not_kept = rec_sampling.not_kept,
                                .changed = rec_sampling.changed,
                                .analysis = rec_sampling.analysis};
}

void rec_sampling_release(void)
{
    rec_calls_release();
    rec_announcements_release();
    rec_ends_release();
    rec_receives_release();
    rec_far_release();
    rec_conditions_release();
    release_tables();
    live = (struct rfn_live_segment){0};
    rec_sampling = (struct rec_sampling){0};
}
