/* Archives that are written event by event: what readers say of them. The copy of an archive says
 * what the archive says; a random program comes back as it was written.
 *
 * With two arguments this program copies one archive to another: tests/test_writer.py does so with
 * recorded ones. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, symlink */

#include "support/archive_model.h"
#include "support/copy_archive.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96], other_path[96];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/refrain-writer-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.rfn", folder);
    snprintf(other_path, sizeof other_path, "%s/b.rfn", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(other_path);
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

static struct rfn_archive *opened(const char *file)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {0};
    if (rfn_archive_open(file, &archive, &diag) < 0)
        fail_msg("%s", diag.text);
    return archive;
}

/* ---- the same archive again ---- */

static void compare_words(const struct rfn_cursor *a, const struct rfn_cursor *b,
                          const struct rfn_param_info *params, const int64_t *in_a,
                          const int64_t *in_b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const uint8_t kind = params[i].kind & (uint8_t)~RFN_KIND_LIST;
        size_t size_a, size_b;
        if (!is_list(params[i].kind) || in_a[i] <= 0) {
            assert_int_equal(in_a[i], in_b[i]);
            continue;
        }
        const int64_t *list_a = rfn_cursor_list(a, in_a[i], &size_a, kind);
        const int64_t *list_b = rfn_cursor_list(b, in_b[i], &size_b, kind);
        assert_int_equal(size_a, size_b);
        if (size_a > 0)
            assert_memory_equal(list_a, list_b, size_a * sizeof *list_a);
    }
}

static void compare_streams(const struct rfn_archive *a, const struct rfn_archive *b,
                            uint32_t stream)
{
    const struct rfn_stream_info info_a = rfn_archive_stream(a, stream);
    const struct rfn_stream_info info_b = rfn_archive_stream(b, stream);
    struct rfn_cursor *cursor_a, *cursor_b;
    const struct rfn_record *x, *y;
    int more;
    assert_int_equal(info_a.rank, info_b.rank);
    assert_int_equal(info_a.thread, info_b.thread);
    assert_string_equal(info_a.host, info_b.host);
    assert_int_equal(info_a.events, info_b.events);
    assert_int_equal(info_a.calls, info_b.calls);
    assert_int_equal(info_a.region_events, info_b.region_events);
    assert_int_equal(info_a.volume, info_b.volume);
    assert_int_equal(rfn_cursor_open(a, stream, &cursor_a, NULL), 0);
    assert_int_equal(rfn_cursor_open(b, stream, &cursor_b, NULL), 0);
    while ((more = rfn_cursor_next(cursor_a, &x, NULL)) > 0) {
        assert_int_equal(rfn_cursor_next(cursor_b, &y, NULL), 1);
        const struct rfn_function_info *function = rfn_archive_function(a, x->function);
        assert_int_equal(x->function, y->function);
        assert_int_equal(x->path, y->path);
        assert_int_equal(x->error, y->error);
        assert_int_equal(x->failed_poll, y->failed_poll);
        assert_int_equal(x->polls, y->polls);
        assert_int_equal(x->enter_ns, y->enter_ns);
        assert_int_equal(x->exit_ns, y->exit_ns);
        assert_int_equal(x->inside_ns, y->inside_ns);
        assert_int_equal(x->volume_gap, y->volume_gap);
        assert_int_equal(x->volume_inside, y->volume_inside);
        compare_words(cursor_a, cursor_b, function->params, x->in, y->in, function->n_in);
        compare_words(cursor_a, cursor_b, function->params + function->n_in, x->out, y->out,
                      function->n_out);
    }
    assert_int_equal(more, 0);
    assert_int_equal(rfn_cursor_next(cursor_b, &y, NULL), 0);
    rfn_cursor_close(cursor_a);
    rfn_cursor_close(cursor_b);
}

static void compare_paths(const struct rfn_archive *a, const struct rfn_archive *b)
{
    assert_int_equal(rfn_archive_paths(a), rfn_archive_paths(b));
    for (uint32_t i = 0; i < rfn_archive_paths(a); i++) {
        const struct rfn_path path_a = rfn_archive_path(a, i), path_b = rfn_archive_path(b, i);
        assert_int_equal(path_a.n_frames, path_b.n_frames);
        for (uint32_t k = 0; k < path_a.n_frames; k++) {
            const struct rfn_location x = rfn_archive_location(a, path_a.frames[k]);
            const struct rfn_location y = rfn_archive_location(b, path_b.frames[k]);
            assert_string_equal(x.function ? x.function : "", y.function ? y.function : "");
            assert_string_equal(x.file ? x.file : "", y.file ? y.file : "");
            assert_string_equal(x.module, y.module);
            assert_int_equal(x.line, y.line);
            assert_int_equal(x.offset, y.offset);
        }
    }
}

static void compare_comms(const struct rfn_archive *a, const struct rfn_archive *b)
{
    assert_int_equal(rfn_archive_comms(a), rfn_archive_comms(b));
    for (uint32_t i = 0; i < rfn_archive_comms(a); i++) {
        assert_int_equal(rfn_archive_comm(a, i)->kind, rfn_archive_comm(b, i)->kind);
        assert_int_equal(rfn_archive_comm(a, i)->size, rfn_archive_comm(b, i)->size);
        assert_int_equal(rfn_archive_comm(a, i)->remote_size, rfn_archive_comm(b, i)->remote_size);
        for (uint32_t rank = 0; rank < N_RANKS; rank++) {
            assert_int_equal(rfn_comm_rank_of(a, i, rank), rfn_comm_rank_of(b, i, rank));
            for (int remote = 0; remote < 2; remote++)
                assert_int_equal(rfn_comm_world_rank(a, i, remote, rank),
                                 rfn_comm_world_rank(b, i, remote, rank));
        }
    }
}

/* written: by a writer, so that the copy has the same groups. */
static void compare_archives(const struct rfn_archive *a, const struct rfn_archive *b, bool written)
{
    assert_true(rfn_archive_complete(b, NULL));
    assert_string_equal(rfn_archive_run(a)->command, rfn_archive_run(b)->command);
    assert_int_equal(rfn_archive_run(a)->start_realtime_ns, rfn_archive_run(b)->start_realtime_ns);
    if (written)
        assert_int_equal(rfn_archive_groups(a), rfn_archive_groups(b));
    assert_int_equal(rfn_archive_run(a)->streams, rfn_archive_run(b)->streams);
    for (uint32_t i = 0; i < rfn_archive_datatypes(a); i++) {
        assert_string_equal(rfn_archive_datatype(a, i)->name, rfn_archive_datatype(b, i)->name);
        assert_int_equal(rfn_archive_datatype(a, i)->extent, rfn_archive_datatype(b, i)->extent);
    }
    for (uint32_t i = 0; i < rfn_archive_regions(a); i++)
        assert_string_equal(rfn_archive_region(a, i), rfn_archive_region(b, i));
    compare_paths(a, b);
    compare_comms(a, b);
    for (uint32_t i = 0; i < rfn_archive_run(a)->streams; i++)
        compare_streams(a, b, i);
}

/* Volumes, polls, lists, all kinds of communicators and datatypes, with and without times. */
static void test_copy(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        model_around = true; /* no two equal polls in a row, which would be one */
        model_steady = k & 4;
        struct rfn_buf bytes = write_archive(SOUND, k & 1, k & 2);
        struct rfn_archive *archive;
        struct rfn_diag diag = {0};
        assert_int_equal(rfn_archive_open_memory(bytes.data, bytes.size, &archive, NULL), 0);
        if (copy_archive(archive, path, &diag) < 0)
            fail_msg("%s", diag.text);
        assert_int_equal(rfn_archive_verify(path, NULL, NULL, NULL), 0);
        struct rfn_archive *copy = opened(path);
        compare_archives(archive, copy, false);
        rfn_archive_close(copy);
        rfn_archive_close(archive);
        rfn_buf_release(&bytes);
    }
}

/* ---- random programs ---- */

enum { RANDOM_RANKS = 4, RANDOM_EVENTS = 3000, RANDOM_FUNCTIONS = 4, RANDOM_PATHS = 3 };

static const struct rfn_param_info random_params[] = {{"count", RFN_KIND_COUNT, 0},
                                                      {"datatype", RFN_KIND_TYPE, 0},
                                                      {"dest", RFN_KIND_RANK, 0},
                                                      {"words", RFN_KIND_LIST | RFN_KIND_INT, 0},
                                                      {"comm", RFN_KIND_COMM, 0},
                                                      {"region", RFN_KIND_REGION, 0},
                                                      {"bytes", RFN_KIND_BYTES, RFN_PARAM_OUT}};

struct random_event {
    struct rfn_record record;
    int64_t in[6], out[1], list[3];
};

static struct random_event written[RANDOM_RANKS][RANDOM_EVENTS];

static uint64_t dice(uint64_t *state, uint64_t sides)
{
    return noise(state) % sides;
}

/* Numbers are those that define_all gives. Wild: nearly every event differs from all others. */
static void throw_event(struct random_event *event, const struct random_event *before, bool wild,
                        uint64_t *state)
{
    const bool polls = dice(state, 5) == 0;
    const int64_t enter = (before ? before->record.exit_ns : 0) + (int64_t)dice(state, 1000);
    *event = (struct random_event){
        .record = {.enter_ns = enter,
                   .exit_ns = enter + (int64_t)dice(state, 500),
                   .function = polls ? RANDOM_FUNCTIONS - 1
                                     : (uint32_t)dice(state, RANDOM_FUNCTIONS - 1),
                   .path = (uint32_t)dice(state, RANDOM_PATHS),
                   .error = dice(state, 30) == 0,
                   .failed_poll = polls,
                   .polls = polls ? 1 + dice(state, 1000) : 1},
        .in = {(int64_t)dice(state, wild ? 100000 : 2), (int64_t)dice(state, 3) - 1,
               (int64_t)dice(state, 4) - 2, (int64_t)dice(state, 3), (int64_t)dice(state, 5) - 1,
               (int64_t)dice(state, 2)},
        .out = {(int64_t)dice(state, 3)},
        .list = {(int64_t)dice(state, wild ? 1000 : 2), -1, 7}};
    struct rfn_record *record = &event->record;
    record->inside_ns = record->exit_ns - record->enter_ns;
    if (polls)
        record->inside_ns -= (int64_t)dice(state, (uint64_t)record->inside_ns + 1);
    record->volume_gap = (int64_t)dice(state, 9);
    record->volume_inside = (int64_t)dice(state, 9);
    /* Equal polls in a row would be one event. */
    if (polls && before && before->record.failed_poll)
        record->path = (before->record.path + 1) % RANDOM_PATHS;
}

static void define_all(struct rfn_writer *writer)
{
    static const struct rfn_location frames[] = {{"send", "a.c", 3, NULL, 0},
                                                 {"main", "a.c", 9, "/bin/a", 64}};
    static const struct rfn_datatype_info types[] = {{"MPI_INT", 4, 4, 4}, {"pair", 8, 16, 8}};
    const int64_t members[] = {3, 1, -1, -1}, others[] = {0, 2};
    char name[] = "MPI_0";
    for (int i = 0; i < RANDOM_FUNCTIONS; i++, name[4]++) {
        const struct rfn_function_info function = {
            .name = name,
            .class_ = RFN_CLASS_OTHER,
            .flags = i == RANDOM_FUNCTIONS - 1 ? RFN_FUNCTION_POLL : 0,
            .n_in = 6,
            .n_out = 1,
            .params = random_params};
        assert_int_equal(rfn_writer_function(writer, &function), i);
        assert_int_equal(rfn_writer_function(writer, &function), i);
    }
    for (size_t n = 0; n < RANDOM_PATHS; n++)
        assert_int_equal(rfn_writer_path(writer, frames, n), n);
    for (int i = 0; i < 2; i++)
        assert_int_equal(rfn_writer_datatype(writer, &types[i]), i);
    assert_int_equal(rfn_writer_comm(writer, RFN_COMM_WORLD, NULL, 0, NULL, 0), 0);
    assert_int_equal(rfn_writer_comm(writer, RFN_COMM_SELF, NULL, 0, NULL, 0), 1);
    assert_int_equal(rfn_writer_comm(writer, RFN_COMM_INTRA, members, 4, NULL, 0), 2);
    assert_int_equal(rfn_writer_comm(writer, RFN_COMM_INTER, members, 2, others, 2), 3);
    assert_int_equal(rfn_writer_region(writer, "setup"), 0);
    assert_int_equal(rfn_writer_region(writer, "solve"), 1);
    assert_int_equal(rfn_writer_host(writer, "north", 4), 0);
}

static const struct rfn_run random_run = {.command = "./random",
                                          .ranks = RANDOM_RANKS,
                                          .times = true,
                                          .volume = "cpu",
                                          .volume_unit = "ns"};

static struct rfn_writer *new_writer(const struct rfn_run *run, struct rfn_diag *diag)
{
    struct rfn_writer *writer;
    assert_int_equal(rfn_writer_new(path, true, run, &writer, diag), 0);
    define_all(writer);
    return writer;
}

static void give_event(struct rfn_writer *writer, uint32_t stream, struct random_event *event)
{
    struct rfn_record record = event->record;
    int64_t in[6];
    memcpy(in, event->in, sizeof in);
    in[3] = rfn_writer_list(writer, stream, RFN_KIND_INT, event->list, (size_t)event->in[3]);
    assert_true(in[3] >= 0);
    record.in = in;
    record.out = event->out;
    assert_int_equal(rfn_writer_event(writer, stream, &record), 0);
}

static void expect_event(const struct rfn_cursor *cursor, const struct rfn_record *found,
                         const struct random_event *event)
{
    const struct rfn_record *record = &event->record;
    size_t n;
    assert_int_equal(found->enter_ns, record->enter_ns);
    assert_int_equal(found->exit_ns, record->exit_ns);
    assert_int_equal(found->inside_ns, record->inside_ns);
    assert_int_equal(found->polls, record->polls);
    assert_int_equal(found->function, record->function);
    assert_int_equal(found->path, record->path);
    assert_int_equal(found->error, record->error);
    assert_int_equal(found->failed_poll, record->failed_poll);
    assert_int_equal(found->volume_gap, record->volume_gap);
    assert_int_equal(found->volume_inside, record->volume_inside);
    for (int i = 0; i < 6; i++) {
        if (i != 3)
            assert_int_equal(found->in[i], event->in[i]);
    }
    const int64_t *list = rfn_cursor_list(cursor, found->in[3], &n, RFN_KIND_INT);
    assert_int_equal(n, event->in[3]);
    if (n > 0)
        assert_memory_equal(list, event->list, n * sizeof *list);
    assert_int_equal(found->out[0], event->out[0]);
}

/* Repeats stretches of what came before, or nothing; streams take turns. */
static void write_random(uint64_t seed, bool wild)
{
    uint64_t state = seed, n = 1 + dice(&state, RANDOM_EVENTS);
    struct rfn_diag diag = {0};
    struct rfn_writer *writer = new_writer(&random_run, &diag);
    for (uint32_t rank = RANDOM_RANKS; rank-- > 0;) /* in any order */
        assert_int_equal(rfn_writer_stream(writer, rank, 0, 0, true), RANDOM_RANKS - 1 - rank);
    for (size_t i = 0; i < n; i++) {
        uint64_t same = 0;
        for (uint32_t rank = 0; rank < RANDOM_RANKS; rank++) {
            struct random_event *event = &written[rank][i];
            uint64_t own = rank == 0 || dice(&state, 50) == 0 ? state : same;
            same = rank == 0 ? own : same;
            throw_event(event, i ? event - 1 : NULL, wild, &own);
            state += rank == 0 ? own % 3 : 0; /* mostly not new */
            give_event(writer, RANDOM_RANKS - 1 - rank, event);
        }
    }
    if (rfn_writer_close(writer, NULL) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, diag.text);
    assert_int_equal(rfn_archive_verify(path, NULL, NULL, NULL), 0);
    struct rfn_archive *archive = opened(path);
    for (uint32_t rank = 0; rank < RANDOM_RANKS; rank++) {
        struct rfn_cursor *cursor;
        const struct rfn_record *record;
        assert_int_equal(rfn_archive_stream(archive, rank).rank, rank);
        assert_int_equal(rfn_cursor_open(archive, rank, &cursor, NULL), 0);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 1);
            expect_event(cursor, record, &written[rank][i]);
        }
        assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 0);
        rfn_cursor_close(cursor);
    }
    assert_int_equal(copy_archive(archive, other_path, NULL), 0);
    struct rfn_archive *copy = opened(other_path);
    compare_archives(archive, copy, true);
    rfn_archive_close(copy);
    rfn_archive_close(archive);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        write_random(seed, seed % 2);
}

/* ---- what is stored once ---- */

/* Ranks do the same on communicators of their own, with more different counts on one of them than
 * a signature may have: they are one group still. */
static void test_groups(void **state)
{
    (void)state;
    struct rfn_writer *writer = new_writer(&random_run, NULL);
    for (uint32_t rank = 0; rank < RANDOM_RANKS; rank++) {
        int64_t members[] = {rank};
        struct random_event event = {.in = {0, 0, 0, 0, 4 + rank, 0}};
        assert_int_equal(rfn_writer_comm(writer, RFN_COMM_INTRA, members, 1, NULL, 0), 4 + rank);
        assert_int_equal(rfn_writer_stream(writer, rank, 0, 0, false), rank);
        for (int i = 0; i < 1000; i++) {
            event.in[0] = rank == 2 ? i : 5;
            event.record.enter_ns = event.record.exit_ns = 10 * i;
            give_event(writer, rank, &event);
        }
    }
    assert_int_equal(rfn_writer_close(writer, NULL), 0);
    struct rfn_archive *archive = opened(path);
    assert_int_equal(rfn_archive_groups(archive), 1);
    for (uint32_t rank = 0; rank < RANDOM_RANKS; rank++) {
        struct rfn_cursor *cursor;
        const struct rfn_record *record;
        assert_int_equal(rfn_cursor_open(archive, rank, &cursor, NULL), 0);
        assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 1);
        assert_int_equal(record->in[4], 4 + rank);
        assert_int_equal(rfn_comm_rank_of(archive, 4 + rank, rank), 0);
        assert_true(rfn_archive_stream(archive, rank).signature != 0);
        assert_int_equal(rfn_archive_stream(archive, rank).signature,
                         rfn_archive_stream(archive, 0).signature);
        rfn_cursor_close(cursor);
    }
    rfn_archive_close(archive);
}

/* Polls that come one by one are one event, unless every poll is to be one. */
static void test_polls(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct rfn_run run = random_run;
        run.all_polls = all;
        struct rfn_writer *writer = new_writer(&run, NULL);
        assert_int_equal(rfn_writer_stream(writer, 0, 0, 0, false), 0);
        for (int i = 0; i < 3; i++) {
            struct random_event event = {.record = {.function = RANDOM_FUNCTIONS - 1,
                                                    .enter_ns = 10 * i,
                                                    .exit_ns = 10 * i + 4,
                                                    .inside_ns = 4,
                                                    .polls = 1,
                                                    .failed_poll = true}};
            give_event(writer, 0, &event);
        }
        assert_int_equal(rfn_writer_close(writer, NULL), 0);
        struct rfn_archive *archive = opened(path);
        struct rfn_cursor *cursor;
        const struct rfn_record *record;
        assert_int_equal(rfn_archive_stream(archive, 0).events, all ? 3 : 1);
        assert_int_equal(rfn_archive_stream(archive, 0).calls, 3);
        assert_int_equal(rfn_cursor_open(archive, 0, &cursor, NULL), 0);
        assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 1);
        assert_int_equal(record->polls, all ? 1 : 3);
        assert_int_equal(record->inside_ns, all ? 4 : 12);
        rfn_cursor_close(cursor);
        rfn_archive_close(archive);
    }
}

/* Ranks call a function that has a parameter for every other one: they are alike all the same. */
static void test_one_name(void **state)
{
    static const struct rfn_param_info param = {"bytes", RFN_KIND_BYTES, 0};
    (void)state;
    struct rfn_writer *writer = new_writer(&random_run, NULL);
    for (uint32_t rank = 0; rank < RANDOM_RANKS; rank++) {
        const struct rfn_function_info function = {
            .name = "MPI_Some", .n_in = rank % 2, .params = &param};
        const int64_t number = rfn_writer_function(writer, &function), word = 1;
        const struct rfn_record record = {.function = (uint32_t)number, .in = &word, .polls = 1};
        assert_int_equal(number, RANDOM_FUNCTIONS + rank % 2);
        assert_int_equal(rfn_writer_stream(writer, rank, 0, 0, false), rank);
        assert_int_equal(rfn_writer_event(writer, rank, &record), 0);
    }
    assert_int_equal(rfn_writer_close(writer, NULL), 0);
    assert_int_equal(rfn_archive_verify(path, NULL, NULL, NULL), 0);
    struct rfn_archive *archive = opened(path);
    assert_int_equal(rfn_archive_groups(archive), 2);
    assert_int_equal(rfn_archive_stream(archive, 0).signature,
                     rfn_archive_stream(archive, 1).signature);
    rfn_archive_close(archive);
}

/* ---- errors ---- */

static void test_wrong_events(void **state)
{
    (void)state;
    int64_t in[6] = {0}, out[1] = {0};
    struct rfn_diag diag = {0};
    struct rfn_writer *writer = new_writer(&random_run, &diag);
    const struct rfn_record good = {.enter_ns = 10, .exit_ns = 20, .in = in, .out = out};
    assert_int_equal(rfn_writer_stream(writer, 3, 1, 0, true), 0);
    assert_int_equal(rfn_writer_event(writer, 0, &good), 0);
    static const struct {
        int64_t enter, exit;
        uint32_t function, path;
        int64_t in[6];
        const char *text;
    } wrong[] = {
        {19, 20, 0, 0, {0}, "rank 3, thread 1: an event begins before the one before it has ended"},
        {21,
         20,
         0,
         0,
         {0},
         "rank 3, thread 1: an event ends before it begins, or had more time "
         "inside"},
        {20,
         20,
         4,
         0,
         {0},
         "rank 3, thread 1: the function or call path of an event is not "
         "defined"},
        {20,
         20,
         0,
         3,
         {0},
         "rank 3, thread 1: the function or call path of an event is not "
         "defined"},
        {20,
         20,
         0,
         0,
         {0, 2},
         "rank 3, thread 1: a datatype, communicator or region is not "
         "defined"},
        {20, 20, 0, 0, {0, 0, 0, 1}, "rank 3, thread 1: a list is not defined"},
        {20,
         20,
         0,
         0,
         {0, 0, 0, 0, 4},
         "rank 3, thread 1: a datatype, communicator or region is "
         "not defined"},
        {20,
         20,
         0,
         0,
         {0, 0, 0, 0, 0, -1},
         "rank 3, thread 1: a datatype, communicator or region "
         "is not defined"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct rfn_record record = {.enter_ns = wrong[i].enter,
                                          .exit_ns = wrong[i].exit,
                                          .function = wrong[i].function,
                                          .path = wrong[i].path,
                                          .in = wrong[i].in,
                                          .out = out};
        assert_int_equal(rfn_writer_event(writer, 0, &record), RFN_E_RANGE);
        assert_string_equal(diag.text, wrong[i].text);
    }
    assert_int_equal(rfn_writer_stream(writer, 3, 1, 0, true), RFN_E_RANGE);
    assert_int_equal(rfn_writer_stream(writer, 4, 0, 0, true), RFN_E_RANGE);
    assert_int_equal(rfn_writer_stream(writer, 0, 0, 1, true), RFN_E_RANGE);
    assert_int_equal(rfn_writer_comm(writer, RFN_COMM_INTRA, &(int64_t){4}, 1, NULL, 0),
                     RFN_E_RANGE);
    /* Nothing of all that was taken. */
    assert_int_equal(rfn_writer_close(writer, NULL), 0);
    struct rfn_archive *archive = opened(path);
    assert_int_equal(rfn_archive_run(archive)->streams, 1);
    assert_int_equal(rfn_archive_stream(archive, 0).events, 1);
    assert_int_equal(rfn_archive_comms(archive), 4);
    rfn_archive_close(archive);
}

/* Nothing but an empty run is an archive, too. */
static void test_no_streams(void **state)
{
    (void)state;
    uint64_t bytes;
    struct stat status;
    assert_int_equal(rfn_writer_close(new_writer(&random_run, NULL), &bytes), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(bytes, status.st_size);
    struct rfn_archive *archive = opened(path);
    assert_int_equal(rfn_archive_run(archive)->streams, 0);
    rfn_archive_close(archive);
}

static void test_files(void **state)
{
    (void)state;
    struct rfn_writer *writer;
    struct rfn_diag diag = {0};
    struct stat status;
    assert_int_equal(rfn_writer_close(new_writer(&random_run, NULL), NULL), 0);
    assert_int_equal(rfn_writer_new(path, false, &random_run, &writer, &diag), RFN_E_EXISTS);
    assert_non_null(strstr(diag.text, "a.rfn exists already"));
    /* A link is replaced, and what it leads to stays. */
    assert_int_equal(rename(path, other_path), 0);
    assert_int_equal(stat(other_path, &status), 0);
    assert_int_equal(symlink(other_path, path), 0);
    const struct stat before = status;
    assert_int_equal(rfn_writer_new(path, false, &random_run, &writer, NULL), RFN_E_EXISTS);
    assert_int_equal(rfn_writer_close(new_writer(&random_run, NULL), NULL), 0);
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(stat(other_path, &status), 0);
    assert_int_equal(status.st_ino, before.st_ino);
    assert_memory_equal(&status.st_mtim, &before.st_mtim, sizeof status.st_mtim);
    struct rfn_run early = random_run;
    early.start_realtime_ns = -1;
    assert_int_equal(rfn_writer_new(path, true, &early, &writer, &diag), RFN_E_RANGE);
    assert_non_null(strstr(diag.text, "before 1970"));
    /* A full disk, and a folder that is not there. */
    diag = (struct rfn_diag){0};
    assert_int_equal(rfn_writer_new("/dev/full", true, &random_run, &writer, &diag), 0);
    assert_int_equal(rfn_writer_close(writer, NULL), RFN_E_IO);
    assert_string_equal(diag.text, "cannot write /dev/full: No space left on device");
    diag = (struct rfn_diag){0};
    assert_int_equal(rfn_writer_new("/nowhere/a.rfn", true, &random_run, &writer, &diag), 0);
    assert_int_equal(rfn_writer_close(writer, NULL), RFN_E_IO);
    assert_string_equal(diag.text, "cannot create /nowhere/a.rfn: No such file or directory");
    rfn_writer_cancel(new_writer(&random_run, NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),       cmocka_unit_test(test_random),
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_polls),
        cmocka_unit_test(test_one_name),   cmocka_unit_test(test_wrong_events),
        cmocka_unit_test(test_no_streams), cmocka_unit_test(test_files)};
    if (argc < 3)
        return cmocka_run_group_tests(tests, make_folder, remove_folder);
    struct rfn_archive *archive;
    struct rfn_diag diag = {0};
    if (rfn_archive_open(argv[1], &archive, &diag) == 0 &&
        copy_archive(archive, argv[2], &diag) == 0) {
        rfn_archive_close(archive);
        return 0;
    }
    fprintf(stderr, "%s\n", diag.text);
    return 1;
}
