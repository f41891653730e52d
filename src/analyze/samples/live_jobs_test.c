/* Jobs and rows from what processes show: processes of the test's own, and files that are damaged.
 */
#define _GNU_SOURCE /* mkdtemp, fork, mkfifo, truncate */
#include "refrain/live.h"

#include "reduce/samples/live_segment.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "support/live_place.h"

enum { ROWS = 16, USED = 3, SAMPLES = 10 };

static struct rfn_live_segment segment;

/* Rows 0 to USED - 1: messages of ranks 0, 1, ... to rank 9, the first without samples. */
static void fill(struct rfn_sample_table *table)
{
    for (int i = 0; i < USED; i++) {
        const struct rfn_sample_key key = {
            .source = i, .dest = 9, .send = 5, .receive = i ? 6 : RFN_SAMPLE_NO_SITE};
        struct rfn_sample_row *row = rfn_sample_table_row(table, &key);
        row->messages = 100 * (uint64_t)i;
        for (int k = 0; i && k < SAMPLES; k++) {
            const struct rfn_sample_values values = {
                .latency_ns = 1000 * i, .bytes = 8, .weight = 2, .clean = true};
            rfn_sample_row_sample(row, &values, true);
        }
    }
    rfn_sample_counts_row(segment.counts, 0, 9, 4)->messages = 77;
    rfn_sample_counts_row(segment.counts, 0, 9, 5)->samples = 7;
    table->dropped[RFN_SAMPLE_NO_ROOM] = 4;
}

static uint64_t run; /* of the job that is shown */

static void show_job(const char *archive, uint32_t rank, uint32_t ranks)
{
    const struct rfn_live_owner owner = {
        .archive = archive, .program = "prog", .rank = rank, .ranks = ranks, .run = run};
    assert_int_equal(rfn_live_segment_create(&segment, &owner, ROWS, NULL), 0);
    fill(segment.table);
    __atomic_store_n(&segment.header->messages, 1000 + rank, __ATOMIC_RELAXED);
    __atomic_store_n(&segment.header->bytes, 8000, __ATOMIC_RELAXED);
    __atomic_store_n(&segment.header->sampled, 20, __ATOMIC_RELAXED);
    rfn_live_text_write(&segment.header->in_use, "random:0.5");
}

static void show_a(int rank)
{
    show_job("a.rfn", (uint32_t)rank, 2);
    tell_ready();
}

/* Ranks 0 and 1 of two runs. */
static void show_of_run(int number)
{
    run = UINT64_C(0x9000000000000001) - (uint64_t)(number / 2);
    show_a(number % 2);
}

static void show_single(int unused)
{
    (void)unused;
    show_job("a.rfn", 0, 1);
    tell_ready();
}

static void show_b(int rank)
{
    show_job("b.rfn", (uint32_t)rank, 8);
    tell_ready();
}

static struct rfn_live_list listed(size_t n)
{
    struct rfn_live_list list;
    assert_int_equal(rfn_live_list(&list), 0);
    if (list.n_unreadable)
        fail_msg("%s", list.why.text);
    assert_int_equal(list.n, n);
    return list;
}

/* Two jobs, in order of name and rank, and what each process shows. */
static void test_list(void **state)
{
    (void)state;
    struct rfn_live_list list = listed(0);
    rfn_live_list_release(&list);
    const pid_t b = start_process(show_b, 3), a1 = start_process(show_a, 1),
                a0 = start_process(show_a, 0);
    list = listed(3);
    const pid_t wanted[] = {a0, a1, b};
    for (size_t i = 0; i < 3; i++) {
        const struct rfn_live_process *process = &list.processes[i];
        assert_int_equal(process->pid, wanted[i]);
        assert_int_equal(process->parent, getpid());
        assert_int_equal(process->job_number, i / 2);
        assert_string_equal(process->job, i < 2 ? "a" : "b");
        assert_string_equal(process->program, "prog");
        assert_int_equal(process->rank, i < 2 ? i : 3);
        assert_int_equal(process->messages, 1000 + process->rank);
        assert_int_equal(process->bytes, 8000);
        assert_int_equal(process->sampled, 20);
        assert_string_equal(process->strategy, "random:0.5");
        assert_false(process->ended);
    }
    rfn_live_list_release(&list);
    end_process(a1);
    list = listed(2); /* and the file is gone */
    rfn_live_list_release(&list);
    end_process(a0);
    end_process(b);
    list = listed(0);
    assert_int_equal(rmdir(live_folder), 0);
}

static void start_second_job(int unused)
{
    (void)unused;
    start_process(show_a, 0);
    start_process(show_a, 1);
    tell_ready();
}

/* Ends all that are listed, children or not, and waits until none is left. */
static void end_processes(struct rfn_live_list *list)
{
    while (list->n > 0) {
        for (size_t i = 0; i < list->n; i++)
            kill((pid_t)list->processes[i].pid, SIGKILL);
        rfn_live_list_release(list);
        assert_int_equal(rfn_live_list(list), 0);
    }
    rfn_live_list_release(list);
}

/* Jobs of one name are told apart by who started them, or each is a single process. */
static void test_same_name(void **state)
{
    (void)state;
    start_process(show_a, 0);
    start_process(show_a, 1);
    const pid_t launcher = start_process(start_second_job, 0);
    struct rfn_live_list list = listed(4);
    for (size_t i = 0; i < 4; i++) {
        const struct rfn_live_process *process = &list.processes[i];
        assert_int_equal(process->rank, i % 2);
        assert_int_equal(process->job_number, i / 2);
        assert_int_equal(process->parent, list.processes[i - i % 2].parent);
    }
    assert_int_not_equal(list.processes[0].parent, list.processes[2].parent);
    end_processes(&list);
    end_process(launcher);
    while (wait(NULL) > 0)
        continue;
    start_process(show_single, 0);
    start_process(show_single, 0);
    list = listed(2);
    assert_int_not_equal(list.processes[0].job_number, list.processes[1].job_number);
    end_processes(&list);
    while (wait(NULL) > 0)
        continue;
}

/* Jobs of one name and one launcher are told apart by their runs. */
static void test_runs(void **state)
{
    (void)state;
    pid_t pids[4];
    for (int i = 0; i < 4; i++)
        pids[i] = start_process(show_of_run, i);
    struct rfn_live_list list = listed(4);
    for (size_t i = 0; i < 4; i++) {
        const struct rfn_live_process *process = &list.processes[i];
        assert_int_equal(process->rank, i % 2);
        assert_int_equal(process->job_number, i / 2);
        assert_true(process->run == UINT64_C(0x9000000000000000) + i / 2);
        assert_int_equal(process->pid, pids[(i + 2) % 4]);
    }
    rfn_live_list_release(&list);
    for (int i = 0; i < 4; i++)
        end_process(pids[i]);
}

static void test_rows(void **state)
{
    (void)state;
    const pid_t process = start_process(show_a, 0);
    struct rfn_live_list list = listed(1);
    struct rfn_live_rows rows;
    assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, NULL), 0);
    assert_int_equal(rows.n, USED);
    assert_int_equal(rows.dropped[RFN_SAMPLE_NO_ROOM], 4);
    assert_int_equal(rows.n_counts, 2);
    assert_int_equal(rows.counts[0].messages, 77);
    assert_true(rows.counts[1].dest == 9 && rows.counts[1].size_class == 5);
    assert_int_equal(rows.counts[1].samples, 7);
    for (int i = 0; i < USED; i++) {
        const struct rfn_sample_row *row = &rows.rows[i];
        assert_int_equal(row->key.source, i);
        assert_int_equal(row->key.dest, 9);
        assert_int_equal(row->messages, 100 * i);
        assert_int_equal(row->n, i ? SAMPLES : 0);
        assert_true(row->weight == (i ? 2 * SAMPLES : 0));
        assert_true(row->buckets[rfn_sample_bucket(1000 * i)] == (i ? 2 * SAMPLES : 0));
    }
    rfn_live_rows_release(&rows);
    end_process(process);
    assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, NULL), 0); /* not yet removed */
    rfn_live_rows_release(&rows);
    rfn_live_list_release(&list);
    list = listed(0);
    rfn_live_list_release(&list);
}

/* Counts a message after the other, to 40 ranks in turn: there is room for 16 rows, which move
 * every few milliseconds. */
static void count_for_ever(int unused)
{
    (void)unused;
    show_job("a.rfn", 0, 1);
    segment.header->messages = 300; /* of the rows that are there */
    tell_ready();
    for (int i = 0;; i = (i + 1) % 40) {
        const struct rfn_sample_key key = {.source = 100 + i, .dest = 9, .send = 5};
        rfn_sample_table_row(segment.table, &key)->messages++;
        __atomic_fetch_add(&segment.header->messages, 1, __ATOMIC_SEQ_CST);
        usleep(20);
    }
}

static uint64_t messages_now(void)
{
    struct rfn_live_list list = listed(1);
    const uint64_t messages = list.processes[0].messages;
    rfn_live_list_release(&list);
    return messages;
}

/* Rows that move while they are copied are not counted twice, nor left out. */
static void test_moving_rows(void **state)
{
    (void)state;
    const pid_t process = start_process(count_for_ever, 0);
    struct rfn_live_list list = listed(1);
    for (int i = 0; i < 2000; i++) {
        struct rfn_live_rows rows;
        const uint64_t before = messages_now();
        uint64_t sum = 0;
        assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, NULL), 0);
        const uint64_t after = messages_now();
        for (size_t k = 0; k < rows.n; k++)
            sum += rows.rows[k].messages;
        rfn_live_rows_release(&rows);
        assert_in_range(sum, before, after + 1); /* the row is first */
    }
    assert_true(messages_now() > 300);
    end_process(process);
    rfn_live_list_release(&list);
}

/* The process sees the wish, once; of two the last one. */
static void test_wish(void **state)
{
    (void)state;
    char text[RFN_SAMPLE_TEXT];
    uint32_t seen = 0;
    struct rfn_diag diag = {.text = ""};
    struct rfn_sample_strategy strategy = {.kind = RFN_SAMPLE_RANDOM, .rate = 0.25};
    show_job("a.rfn", 0, 2);
    struct rfn_live_list list = listed(1);
    assert_false(rfn_live_text_read(&segment.header->wish, &seen, text));
    assert_int_equal(rfn_live_wish(&list.processes[0], &strategy, &diag), 0);
    assert_true(rfn_live_text_read(&segment.header->wish, &seen, text));
    assert_string_equal(text, "random:0.25");
    strategy.kind = RFN_SAMPLE_OFF;
    segment.header->wish.generation++; /* somebody was killed while it wrote */
    assert_int_equal(rfn_live_wish(&list.processes[0], &strategy, &diag), 0);
    assert_true(rfn_live_text_read(&segment.header->wish, &seen, text));
    assert_string_equal(text, "off");
    segment.header->ended = 1;
    assert_int_equal(rfn_live_wish(&list.processes[0], &strategy, &diag), RFN_E_NOTFOUND);
    rfn_live_segment_remove(&segment);
    assert_int_equal(rfn_live_wish(&list.processes[0], &strategy, &diag), RFN_E_NOTFOUND);
    show_job("a.rfn", 0, 2); /* the same number, at another time */
    assert_int_equal(rfn_live_wish(&list.processes[0], &strategy, &diag), RFN_E_NOTFOUND);
    assert_int_equal(segment.header->wish.generation, 0);
    rfn_live_segment_remove(&segment);
    rfn_live_list_release(&list);
}

/* ---- damage ---- */

/* The only file there is cannot be read, for this reason, and stays: its process lives. */
static void expect_unreadable(const char *reason)
{
    struct rfn_live_list list;
    assert_int_equal(rfn_live_list(&list), 0);
    assert_int_equal(list.n, 0);
    assert_int_equal(list.n_unreadable, 1);
    if (!strstr(list.why.text, reason))
        fail_msg("'%s' is not in '%s'", reason, list.why.text);
    rfn_live_list_release(&list);
}

/* A header with each of its sizes changed. */
static void test_bad_header(void **state)
{
    (void)state;
    show_job("a.rfn", 0, 2);
    struct rfn_live_header *header = segment.header, whole = *header;
    header->magic++;
    expect_unreadable("no file of a job");
    *header = whole;
    header->version++;
    expect_unreadable("another version");
    *header = whole;
    header->header_bytes += 8;
    expect_unreadable("another version");
    *header = whole;
    header->row_bytes -= 8;
    expect_unreadable("another version");
    *header = whole;
    header->capacity = UINT32_MAX;
    expect_unreadable("damaged");
    *header = whole;
    header->table_bytes += 1 << 20;
    expect_unreadable("damaged");
    *header = whole;
    header->capacity *= 2; /* of a file that is half as long */
    header->table_bytes = rfn_sample_table_bytes(header->capacity);
    header->pairs = RFN_LIVE_PAIRS * header->capacity;
    header->counts_bytes = rfn_sample_counts_bytes(header->pairs);
    expect_unreadable("cut short");
    *header = whole;
    memset(header->job, 'x', sizeof header->job); /* names without an end */
    memset(header->host, 'x', sizeof header->host);
    struct rfn_live_list list = listed(1);
    assert_int_equal(strlen(list.processes[0].job), RFN_LIVE_NAME - 1);
    rfn_live_list_release(&list);
    header->magic = 0; /* it is being made */
    list = listed(0);
    rfn_live_list_release(&list);
    rfn_live_segment_remove(&segment);
}

/* A file of each length is an error, also when it shrinks after it was listed. */
static void test_cut_short(void **state)
{
    (void)state;
    show_job("a.rfn", 0, 2);
    char file[RFN_LIVE_FILE];
    const size_t head = sizeof(struct rfn_live_header), row = sizeof(struct rfn_sample_row);
    const size_t lengths[] = {segment.bytes - 1,
                              head + sizeof(struct rfn_sample_table) + row,
                              head + 3,
                              head,
                              head - 1,
                              8,
                              1};
    struct rfn_live_list list = listed(1);
    struct rfn_live_rows rows;
    struct rfn_diag diag;
    strcpy(file, segment.file);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_int_equal(truncate(file, (off_t)lengths[i]), 0);
        expect_unreadable("cut short");
        assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, &diag), RFN_E_CORRUPT);
        rfn_live_rows_release(&rows);
    }
    assert_int_equal(truncate(file, 0), 0);
    assert_int_equal(unlink(file), 0);
    rfn_live_list_release(&list);
    memset(&segment, 0, sizeof segment); /* nothing is to touch it any more */
}

/* More rows than there are, and rows with numbers that no recorder writes, are left out. */
static void test_bad_rows(void **state)
{
    (void)state;
    show_job("a.rfn", 0, 2);
    struct rfn_live_list list = listed(1);
    struct rfn_live_rows rows;
    struct rfn_sample_row *row = rfn_sample_table_rows(segment.table);
    segment.table->n_rows = UINT32_MAX;
    assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, NULL), 0);
    assert_int_equal(rows.n, ROWS);
    rfn_live_rows_release(&rows);
    segment.table->n_rows = USED;
    row[0].key.source = -7;
    row[1].buckets[5] = NAN;
    row[2].mean_ns = INFINITY;
    assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, NULL), 0);
    assert_int_equal(rows.n, 0);
    rfn_live_rows_release(&rows);
    row[1].buckets[5] = 0;
    assert_int_equal(rfn_live_rows_read(&list.processes[0], &rows, NULL), 0);
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.rows[0].key.source, 1);
    rfn_live_rows_release(&rows);
    rfn_live_list_release(&list);
    rfn_live_segment_remove(&segment);
}

/* What is no file, or not the user's alone, is not opened, and stays. */
static void test_no_files(void **state)
{
    (void)state;
    char path[128];
    show_job("a.rfn", 0, 2);
    assert_int_equal(chmod(segment.file, 0640), 0);
    expect_unreadable("alone");
    assert_int_equal(chmod(segment.file, 0600), 0);
    struct rfn_live_segment kept = segment;
    snprintf(path, sizeof path, "%s/b.0.%d", live_folder, (int)getpid());
    const char *const wanted[] = {"alone", "cannot open", "alone"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(i == 0   ? mkfifo(path, 0600)
                         : i == 1 ? symlink(kept.file, path)
                                  : mkdir(path, 0700),
                         0);
        struct rfn_live_list list;
        assert_int_equal(rfn_live_list(&list), 0);
        assert_int_equal(list.n, 1);
        assert_int_equal(list.n_unreadable, 1);
        assert_non_null(strstr(list.why.text, wanted[i]));
        rfn_live_list_release(&list);
        assert_int_equal(remove(path), 0);
    }
    rfn_live_segment_remove(&segment);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_live_place, remove_live_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_list),        IN_PLACE(test_same_name), IN_PLACE(test_rows),
        IN_PLACE(test_moving_rows), IN_PLACE(test_wish),      IN_PLACE(test_bad_header),
        IN_PLACE(test_cut_short),   IN_PLACE(test_bad_rows),  IN_PLACE(test_no_files),
        IN_PLACE(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
