/* The memory that a process shows: where it is, whose it is, and texts that two processes share. */
#define _GNU_SOURCE /* mkdtemp, fork, setrlimit, mkfifo */
#include "reduce/samples/live_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "support/live_place.h"

enum { ROWS = 16 };

static struct rfn_live_segment made(const char *archive, uint32_t rank, struct rfn_diag *diag)
{
    const struct rfn_live_owner owner = {
        .archive = archive, .program = "prog", .rank = rank, .ranks = 4};
    struct rfn_live_segment segment;
    assert_int_equal(rfn_live_segment_create(&segment, &owner, ROWS, diag), 0);
    return segment;
}

static void test_names(void **state)
{
    (void)state;
    char name[RFN_LIVE_NAME], longest[300];
    rfn_live_job_name("/home/a.b/app.8.rfn", name);
    assert_string_equal(name, "app.8");
    rfn_live_job_name("app.rfn.old", name);
    assert_string_equal(name, "app.rfn.old");
    rfn_live_job_name("rfn", name);
    assert_string_equal(name, "rfn");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    rfn_live_job_name(longest, name);
    assert_int_equal(strlen(name), RFN_LIVE_NAME - 1);
}

/* The file, its mode and its folder's; the table in it works; then it is gone. */
static void test_file(void **state)
{
    (void)state;
    struct rfn_diag diag = {.text = "?"};
    struct stat status;
    char wanted[RFN_LIVE_FILE];
    struct rfn_live_segment segment = made("/x/app.4.rfn", 3, &diag);
    snprintf(wanted, sizeof wanted, "%s/app.4.3.%d", live_folder, (int)getpid());
    assert_string_equal(segment.file, wanted);
    assert_string_equal(diag.text, "");
    assert_int_equal(stat(live_folder, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(stat(segment.file, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_true((uint64_t)status.st_size == sizeof(struct rfn_live_header) +
                                                rfn_sample_counts_bytes(ROWS * RFN_LIVE_PAIRS) +
                                                rfn_sample_table_bytes(ROWS));
    assert_true((uint64_t)status.st_blocks * 512 >= (uint64_t)status.st_size);
    assert_string_equal(segment.header->job, "app.4");
    assert_string_equal(segment.header->program, "prog");
    assert_int_equal(segment.header->pid, getpid());
    assert_int_equal(segment.header->rank, 3);
    assert_int_equal(segment.header->ranks, 4);
    assert_int_equal(segment.table->capacity, ROWS);
    const struct rfn_sample_key key = {.source = 1, .dest = 3, .send = 7, .receive = 8};
    rfn_sample_table_row(segment.table, &key)->messages = 5;
    assert_int_equal(segment.table->n_rows, 1);
    rfn_live_segment_remove(&segment);
    assert_int_equal(stat(wanted, &status), -1);
    assert_null(segment.header);
    rfn_live_segment_remove(&segment);
}

/* A table with many rows has memory for few of them, and takes more when it grows. */
static void test_growth(void **state)
{
    (void)state;
    enum { MANY = 1000, ROW = sizeof(struct rfn_sample_row) };
    const struct rfn_live_owner owner = {.archive = "a.rfn", .program = "prog", .ranks = 1};
    struct rfn_live_segment segment;
    struct stat before, after;
    assert_int_equal(rfn_live_segment_create(&segment, &owner, MANY, NULL), 0);
    assert_int_equal(stat(segment.file, &before), 0);
    assert_in_range(before.st_blocks * 512, RFN_LIVE_FIRST_ROWS * ROW, MANY / 2 * ROW);
    uint32_t rooms = 0;
    for (int32_t i = 0; i < MANY; i++) {
        const struct rfn_sample_key key = {.source = i, .dest = 3, .send = 7, .receive = 8};
        if (segment.table->n_rows == segment.table->room) {
            assert_true(rfn_live_segment_grow(&segment));
            rooms++;
        }
        rfn_sample_table_row(segment.table, &key)->messages = (uint64_t)i;
    }
    assert_int_equal(rooms, 3); /* 256, 512, 1000 */
    assert_int_equal(segment.table->n_rows, MANY);
    assert_int_equal(segment.table->generation, 0);
    assert_false(rfn_live_segment_grow(&segment));
    assert_int_equal(stat(segment.file, &after), 0);
    assert_true(after.st_blocks * 512 >= MANY * ROW && after.st_size == before.st_size);
    for (int32_t i = 0; i < MANY; i++)
        assert_int_equal(rfn_sample_table_rows(segment.table)[i].messages, i);
    rfn_live_segment_remove(&segment);
}

/* When its file is gone it cannot grow: the table gives up rows instead. */
static void test_no_growth(void **state)
{
    (void)state;
    const struct rfn_live_owner owner = {.archive = "a.rfn", .program = "prog", .ranks = 1};
    struct rfn_live_segment segment;
    assert_int_equal(rfn_live_segment_create(&segment, &owner, 1000, NULL), 0);
    assert_int_equal(unlink(segment.file), 0);
    assert_false(rfn_live_segment_grow(&segment));
    assert_true(segment.full);
    for (int32_t i = 0; i < 1000; i++) {
        const struct rfn_sample_key key = {.source = i, .dest = 3, .send = 7, .receive = 8};
        rfn_sample_table_row(segment.table, &key)->messages++;
    }
    assert_in_range(segment.table->n_rows, 1, RFN_LIVE_FIRST_ROWS);
    assert_true(segment.table->generation > 0);
    rfn_live_segment_remove(&segment);
}

/* Without the archive's name; again by the same process, as after exec: the file is a new one. */
static void test_again(void **state)
{
    (void)state;
    struct rfn_live_segment first = made(NULL, 0, NULL), second = made(NULL, 0, NULL);
    assert_string_equal(first.header->job, "prog.4");
    assert_string_equal(first.file, second.file);
    first.header->messages = 1;
    assert_int_equal(second.header->messages, 0);
    rfn_live_segment_remove(&first);
    rfn_live_segment_remove(&second);
}

/* Where no place can be used the memory is the process's own, and it is told why. */
static void expect_private(const char *reason)
{
    struct rfn_diag diag = {.text = ""};
    struct rfn_live_segment segment = made("app.rfn", 0, &diag);
    if (!strstr(diag.text, reason))
        fail_msg("'%s' is not in '%s'", reason, diag.text);
    assert_string_equal(segment.file, "");
    const struct rfn_sample_key key = {.source = 1, .dest = 2};
    rfn_sample_table_row(segment.table, &key)->messages = 5;
    assert_int_equal(segment.table->n_rows, 1);
    rfn_live_segment_remove(&segment);
}

static void test_no_place(void **state)
{
    (void)state;
    struct rlimit most, less;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &most), 0);
    less = most;
    less.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    expect_private("beyond the limit"); /* and no signal */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
}

/* The first place cannot be used, the next one can. */
static void test_next_place(void **state)
{
    (void)state;
    struct rfn_diag diag = {.text = "?"};
    const char *own = getenv("TMPDIR");
    char *saved = own ? strdup(own) : NULL, wanted[RFN_LIVE_FILE];
    rfn_live_first_place = "/nowhere";
    setenv("TMPDIR", live_place, 1);
    struct rfn_live_segment segment = made("app.rfn", 0, &diag);
    snprintf(wanted, sizeof wanted, "%s/app.0.%d", live_folder, (int)getpid());
    assert_string_equal(segment.file, wanted);
    assert_string_equal(diag.text, "");
    rfn_live_segment_remove(&segment);
    if (saved)
        setenv("TMPDIR", saved, 1);
    else
        unsetenv("TMPDIR");
    free(saved);
}

/* A folder that others can enter, or a link in its place, is not used. */
static void test_folder_of_others(void **state)
{
    (void)state;
    struct rfn_diag diag = {.text = ""};
    assert_int_equal(mkdir(live_folder, 0700), 0);
    assert_int_equal(chmod(live_folder, 0750), 0);
    assert_int_equal(rfn_live_open_folder(live_place, true, &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "alone"));
    assert_int_equal(chmod(live_folder, 0700), 0);
    const int fd = rfn_live_open_folder(live_place, true, &diag);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(rmdir(live_folder), 0);
    assert_int_equal(symlink("/tmp", live_folder), 0);
    assert_int_equal(rfn_live_open_folder(live_place, true, &diag), RFN_E_IO);
    assert_int_equal(unlink(live_folder), 0);
    assert_int_equal(rfn_live_open_folder(live_place, false, &diag), RFN_E_NOTFOUND);
}

/* ---- processes that are gone ---- */

static void show(int rank)
{
    made("app.rfn", (uint32_t)rank, NULL);
    tell_ready();
}

static bool is_there(int rank, pid_t process)
{
    char file[RFN_LIVE_FILE];
    struct stat status;
    snprintf(file, sizeof file, "%s/app.%d.%d", live_folder, rank, (int)process);
    return stat(file, &status) == 0;
}

/* The same rank of a later job takes away what a process has left that was killed, and nothing
 * else. */
static void test_killed(void **state)
{
    (void)state;
    const pid_t killed = start_process(show, 0), other = start_process(show, 1);
    const pid_t running = start_process(show, 0);
    end_process(killed);
    end_process(other);
    assert_true(is_there(0, killed) && is_there(1, other) && is_there(0, running));
    struct rfn_live_segment segment = made("app.rfn", 0, NULL);
    assert_false(is_there(0, killed));
    assert_true(is_there(1, other) && is_there(0, running) && is_there(0, getpid()));
    rfn_live_segment_remove(&segment);
    end_process(running);
}

/* Another process has the number of one that is gone: it began at another time. */
static void test_same_number(void **state)
{
    (void)state;
    struct rfn_live_segment segment = made("app.rfn", 0, NULL);
    assert_true(rfn_live_is_near(segment.header));
    assert_false(rfn_live_is_gone(segment.header));
    segment.header->began++;
    assert_true(rfn_live_is_gone(segment.header));
    segment.header->began = 0; /* not known */
    assert_false(rfn_live_is_gone(segment.header));
    segment.header->pid_namespace++; /* a container's */
    assert_false(rfn_live_is_near(segment.header));
    rfn_live_segment_remove(&segment);
}

/* A process that has been forked from the one that samples does not take its file away. */
static void test_forked(void **state)
{
    (void)state;
    int status;
    struct rfn_live_segment segment = made("app.rfn", 0, NULL);
    const pid_t child = fork();
    if (child == 0) {
        rfn_live_segment_remove(&segment);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_there(0, getpid()));
    rfn_live_segment_remove(&segment);
    assert_false(is_there(0, getpid()));
}

/* ---- texts ---- */

static void test_text(void **state)
{
    (void)state;
    struct rfn_live_text text = {0};
    char value[RFN_SAMPLE_TEXT] = "?", longest[100];
    uint32_t seen = 0;
    assert_false(rfn_live_text_read(&text, &seen, value));
    rfn_live_text_write(&text, "random:0.5");
    assert_true(rfn_live_text_read(&text, &seen, value));
    assert_string_equal(value, "random:0.5");
    assert_false(rfn_live_text_read(&text, &seen, value));
    rfn_live_text_write(&text, "off");
    rfn_live_text_write(&text, "adaptive");
    assert_true(rfn_live_text_read(&text, &seen, value));
    assert_string_equal(value, "adaptive");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    rfn_live_text_write(&text, longest);
    assert_true(rfn_live_text_read(&text, &seen, value));
    assert_int_equal(strlen(value), RFN_SAMPLE_TEXT - 1);
    memset(text.words, 'y', sizeof text.words); /* without an end */
    text.generation += 2;
    assert_true(rfn_live_text_read(&text, &seen, value));
    assert_int_equal(strlen(value), RFN_SAMPLE_TEXT - 1);
}

/* A writer was killed between two words: there is no text until the next one is whole. */
static void test_torn_text(void **state)
{
    (void)state;
    struct rfn_live_text text = {0};
    char value[RFN_SAMPLE_TEXT] = "?";
    uint32_t seen = 0;
    rfn_live_text_write(&text, "adaptive:10");
    text.generation++;
    memcpy(text.words, "random", 6);
    assert_false(rfn_live_text_read(&text, &seen, value));
    assert_string_equal(value, "?");
    rfn_live_text_write(&text, "off");
    assert_true(rfn_live_text_read(&text, &seen, value));
    assert_string_equal(value, "off");
    assert_int_equal(text.generation % 2, 0);
}

static struct rfn_live_text *shared;

/* 63 times one letter, another one each time, for ever. */
static void write_texts(int unused)
{
    (void)unused;
    char value[RFN_SAMPLE_TEXT] = "";
    tell_ready();
    for (unsigned i = 0;; i++) {
        memset(value, 'a' + (int)(i % 26), sizeof value - 1);
        rfn_live_text_write(shared, value);
    }
}

static void test_two_processes(void **state)
{
    (void)state;
    char value[RFN_SAMPLE_TEXT], whole[RFN_SAMPLE_TEXT] = "";
    uint32_t seen = 0, before = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    const pid_t writer = start_process(write_texts, 0);
    /* On one core, a text comes with each change of process. */
    for (int found = 0, tries = 0; found < 200 || tries < 1000000; tries++) {
        if (!rfn_live_text_read(shared, &seen, value))
            continue;
        memset(whole, value[0], sizeof whole - 1);
        assert_string_equal(value, whole);
        assert_true(seen - before >= 2 && seen - before < UINT32_MAX / 2);
        before = seen;
        found++;
    }
    end_process(writer);
    munmap(shared, sizeof *shared);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_live_place, remove_live_place)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        IN_PLACE(test_file),
        IN_PLACE(test_again),
        IN_PLACE(test_growth),
        IN_PLACE(test_no_growth),
        IN_PLACE(test_no_place),
        IN_PLACE(test_next_place),
        IN_PLACE(test_folder_of_others),
        IN_PLACE(test_killed),
        IN_PLACE(test_same_number),
        IN_PLACE(test_forked),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_torn_text),
        cmocka_unit_test(test_two_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
