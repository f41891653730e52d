/* cmd_dump.c - refrain dump: every event as a line of text.
 *
 * Millions of lines are the usual case, and most of them differ from an earlier one in index and
 * times only. So the rest of a line, from the function's name to the call path, is kept per symbol
 * and used again as long as the words that it was made of are the same. Completion calls show what
 * their requests turned out to be, so theirs is made anew each time. Call paths are made once.
 */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/args/rank_filter.h"
#include "cli/text/aggregation_text.h"
#include "cli/text/pager.h"
#include "cli/text/parameters.h"
#include "cli/text/print_text.h"
#include "cli/text/run_text.h"
#include "refrain/archive.h"
#include "refrain/completion.h"
#include "refrain/explain.h"
#include "refrain/volume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLUSH_AT = 1 << 18 };

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    struct rfn_rank_filter ranks;   /* none: all */
    uint64_t limit;
    uint64_t from_event;
    bool from_given, to_given;
    int64_t from_ns, to_ns;
};

/* What a line says of a symbol behind its times. */
struct rest {
    bool valid, varies;
    uint64_t polls;
    int64_t *words; /* inputs and outcomes that it was made of */
    struct rfn_text text;
};

struct dump {
    const struct options *options;
    struct rfn_archive *archive;
    struct rfn_volumes *volumes;
    struct rfn_tracker *tracker;
    bool times, volume;
    bool counted;       /* the current stream has volumes */
    struct rest *rests; /* by symbol, of the current stream */
    size_t n_rests;
    struct rfn_text *paths; /* by path; empty until needed */
    struct rfn_text place;  /* "\tRANK\tTHREAD\t" */
    struct rfn_text scratch, out;
    const struct rfn_cursor *cursor;
    uint32_t rank, thread;
    uint64_t left;
    bool closed; /* nobody reads on */
};

/* ---- the rest of a line ---- */

static void append_rest(struct dump *dump, const struct rfn_record *record,
                        const struct rfn_volume *volume, const struct rfn_request_effects *effects,
                        struct rfn_text *text)
{
    struct rfn_parameters parameters = {.archive = dump->archive,
                                        .volumes = dump->volumes,
                                        .cursor = dump->cursor,
                                        .record = record,
                                        .volume = record->failed_poll ? NULL : volume,
                                        .effects = effects};
    struct rfn_text *path = &dump->paths[record->path];
    rfn_text_string(text, rfn_archive_function(dump->archive, record->function)->name);
    rfn_text_char(text, '\t');
    rfn_parameters_append(text, &parameters);
    rfn_text_char(text, '\t');
    if (!path->n) {
        rfn_call_path_full(path, dump->archive, record->path);
        rfn_text_char(path, '\n');
    }
    rfn_text_bytes(text, path->data, path->n);
}

static int rests_grow(struct dump *dump, size_t n)
{
    size_t capacity = dump->n_rests * 2 > n ? dump->n_rests * 2 : n;
    struct rest *rests = realloc(dump->rests, capacity * sizeof *rests);
    if (!rests)
        return RFN_E_NOMEM;
    memset(rests + dump->n_rests, 0, (capacity - dump->n_rests) * sizeof *rests);
    dump->rests = rests;
    dump->n_rests = capacity;
    return 0;
}

static bool same(const struct rest *rest, const struct rfn_record *record,
                 const struct rfn_function_info *function)
{
    size_t n_in = function->n_in, n_out = function->n_out;
    return rest->polls == record->polls &&
           (!n_in || memcmp(rest->words, record->in, n_in * sizeof *record->in) == 0) &&
           (!n_out || memcmp(rest->words + n_in, record->out, n_out * sizeof *record->out) == 0);
}

/* Remembers the words that the rest is made of. */
static int remember(struct rest *rest, const struct rfn_record *record,
                    const struct rfn_function_info *function)
{
    size_t n_in = function->n_in, n_out = function->n_out;
    if (!rest->words)
        rest->words = malloc(2 * RFN_PARAMS_MAX * sizeof *rest->words);
    if (!rest->words || n_in > RFN_PARAMS_MAX || n_out > RFN_PARAMS_MAX)
        return RFN_E_NOMEM;
    if (n_in)
        memcpy(rest->words, record->in, n_in * sizeof *record->in);
    if (n_out)
        memcpy(rest->words + n_in, record->out, n_out * sizeof *record->out);
    rest->valid = true;
    rest->varies = record->varying || n_out || record->failed_poll;
    rest->polls = record->polls;
    rest->text.n = 0;
    return 0;
}

/* The rest of an event's line from the cache, made anew if its words are others. */
static int cached_rest(struct dump *dump, const struct rfn_record *record,
                       const struct rfn_text **text)
{
    static const struct rfn_request_effects none;
    if (record->symbol >= dump->n_rests)
        RFN_TRY(rests_grow(dump, (size_t)record->symbol + 1));
    struct rest *rest = &dump->rests[record->symbol];
    *text = &rest->text;
    if (rest->valid && !rest->varies)
        return 0;
    const struct rfn_function_info *function = rfn_archive_function(dump->archive,
                                                                    record->function);
    if (rest->valid && same(rest, record, function))
        return 0;
    RFN_TRY(remember(rest, record, function));
    struct rfn_volume volume = rfn_volume_of(dump->volumes, dump->cursor, dump->rank, record);
    append_rest(dump, record, &volume, &none, &rest->text);
    return rest->text.failed ? RFN_E_NOMEM : 0;
}

/* The rest for a call that uses requests. Those that only make one do not show it. */
static int request_rest(struct dump *dump, const struct rfn_record *record,
                        const struct rfn_text **text)
{
    struct rfn_request_effects effects;
    const struct rfn_function_info *function = rfn_archive_function(dump->archive,
                                                                    record->function);
    struct rfn_volume volume = rfn_volume_of(dump->volumes, dump->cursor, dump->rank, record);
    RFN_TRY(rfn_tracker_event(dump->tracker, dump->thread, dump->cursor, record, &volume, false,
                              &effects));
    if (function->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT))
        return cached_rest(dump, record, text);
    dump->scratch.n = 0;
    append_rest(dump, record, &volume, &effects, &dump->scratch);
    *text = &dump->scratch;
    return dump->scratch.failed ? RFN_E_NOMEM : 0;
}

/* ---- lines ---- */

static int flush(struct dump *dump)
{
    rfn_pager_start(&dump->out);
    if (rfn_text_write(&dump->out) == 0)
        return 0;
    dump->closed = true;
    if (errno != EPIPE)
        rfn_command_error("cannot write to standard output: %s", strerror(errno));
    return errno == EPIPE ? 0 : RFN_E_IO;
}

static int print_event(struct dump *dump, const struct rfn_record *record)
{
    const struct rfn_text *rest;
    struct rfn_text *out = &dump->out;
    if (!record->failed_poll && rfn_tracker_concerns(dump->tracker, record->function))
        RFN_TRY(request_rest(dump, record, &rest));
    else
        RFN_TRY(cached_rest(dump, record, &rest));
    rfn_text_unsigned(out, record->index);
    rfn_text_bytes(out, dump->place.data, dump->place.n);
    if (dump->times) {
        rfn_text_signed(out, record->enter_ns);
        rfn_text_char(out, '\t');
        rfn_text_signed(out, record->exit_ns);
        rfn_text_char(out, '\t');
    } else {
        rfn_text_string(out, "-\t-\t");
    }
    if (dump->counted) {
        rfn_text_signed(out, record->volume_gap);
        rfn_text_char(out, '\t');
        rfn_text_signed(out, record->volume_inside);
        rfn_text_char(out, '\t');
    } else if (dump->volume) {
        rfn_text_string(out, "-\t-\t");
    }
    rfn_text_bytes(out, rest->data, rest->n);
    if (out->failed)
        return RFN_E_NOMEM;
    return out->n >= FLUSH_AT ? flush(dump) : 0;
}

static int print_events(struct dump *dump, struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_record *record;
    int got = 0;
    dump->cursor = cursor;
    if (dump->options->from_event)
        RFN_TRY(rfn_cursor_seek(cursor, dump->options->from_event, diag));
    if (dump->options->from_given)
        RFN_TRY(rfn_cursor_seek_time(cursor, dump->options->from_ns, diag));
    while (dump->left && !dump->closed && (got = rfn_cursor_next(cursor, &record, diag)) > 0) {
        if (dump->options->to_given && record->enter_ns > dump->options->to_ns)
            break;
        RFN_TRY(print_event(dump, record));
        dump->left--;
    }
    return got < 0 ? got : 0;
}

static int print_stream(struct dump *dump, uint32_t stream, struct rfn_diag *diag)
{
    struct rfn_stream_info info = rfn_archive_stream(dump->archive, stream);
    struct rfn_cursor *cursor;
    dump->rank = info.rank;
    dump->thread = info.thread;
    dump->counted = info.volume;
    dump->place.n = 0;
    rfn_text_format(&dump->place, "\t%u\t%u\t", info.rank, info.thread);
    if (dump->place.failed)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < dump->n_rests; i++)
        dump->rests[i].valid = false;
    rfn_tracker_reset(dump->tracker);
    RFN_TRY(rfn_cursor_open(dump->archive, stream, &cursor, diag));
    int error = print_events(dump, cursor, diag);
    rfn_cursor_close(cursor);
    return error;
}

/* All streams asked for; one that is damaged is told, and the others follow. Returns the exit
 * status. */
static int print_streams(struct dump *dump)
{
    const struct rfn_rank_filter *ranks = &dump->options->ranks;
    uint32_t n = rfn_archive_run(dump->archive)->streams;
    int status = RFN_EXIT_OK;
    for (uint32_t i = 0; i < n && dump->left && !dump->closed; i++) {
        struct rfn_diag diag = {.file_offset = -1, .rank = -1};
        if (ranks->n && !rfn_rank_filter_has(ranks, rfn_archive_stream(dump->archive, i).rank))
            continue;
        int error = print_stream(dump, i, &diag);
        if (error >= 0)
            continue;
        if (dump->closed || flush(dump) < 0)
            return RFN_EXIT_FAILURE;
        status = rfn_command_fail(dump->options->given.file, error, &diag);
        if (error == RFN_E_NOMEM)
            break;
    }
    if (!dump->closed && flush(dump) < 0)
        return RFN_EXIT_FAILURE;
    return status;
}

/* ---- the verb ---- */

static void dump_release(struct dump *dump)
{
    for (size_t i = 0; i < dump->n_rests; i++) {
        free(dump->rests[i].words);
        rfn_text_release(&dump->rests[i].text);
    }
    free(dump->rests);
    for (uint32_t i = 0; dump->paths && i < rfn_archive_paths(dump->archive); i++)
        rfn_text_release(&dump->paths[i]);
    free(dump->paths);
    rfn_text_release(&dump->place);
    rfn_text_release(&dump->scratch);
    rfn_text_release(&dump->out);
    rfn_tracker_free(dump->tracker);
    rfn_volumes_free(dump->volumes);
}

/* What `append` says of the run, on standard error. */
static void tell(const struct dump *dump, void (*append)(struct rfn_text *, const struct rfn_run *))
{
    struct rfn_text text = {0};
    append(&text, rfn_archive_run(dump->archive));
    rfn_command_error("%s: %s", dump->options->given.file, rfn_text_terminated(&text));
    rfn_text_release(&text);
}

static void tell_if_any(const struct dump *dump,
                        void (*append)(struct rfn_text *, const struct rfn_archive *))
{
    struct rfn_text text = {0};
    append(&text, dump->archive);
    if (text.n)
        rfn_command_error("%s: %s", dump->options->given.file, rfn_text_terminated(&text));
    rfn_text_release(&text);
}

static int dump_all(struct dump *dump)
{
    const char *file = dump->options->given.file;
    const struct rfn_run *run = rfn_archive_run(dump->archive);
    int status = rfn_command_check_ranks(dump->archive, file, &dump->options->ranks);
    if (!run->times && (dump->options->from_given || dump->options->to_given)) {
        rfn_command_error("%s: its events have no times; choose them with --from-event", file);
        return RFN_EXIT_USAGE;
    }
    if (status)
        return status;
    dump->volumes = rfn_volumes_new(dump->archive);
    dump->tracker = rfn_tracker_new(dump->archive);
    dump->paths = calloc((size_t)rfn_archive_paths(dump->archive) + 1, sizeof *dump->paths);
    if (!dump->volumes || !dump->tracker || !dump->paths)
        return rfn_command_fail(file, RFN_E_NOMEM, NULL);
    if (run->predicted)
        tell(dump, rfn_predicted_append);
    if (run->reduced)
        tell(dump, rfn_reduction_append);
    if (run->forced)
        tell(dump, rfn_forced_append);
    tell_if_any(dump, rfn_aggregation_append);
    int incomplete = rfn_command_tell_missing(dump->archive, file, NULL, RFN_EXIT_OK);
    dump->times = run->times;
    dump->volume = run->volume != NULL;
    rfn_text_string(&dump->out, "index\trank\tthread\tenter_ns\texit_ns\t");
    if (dump->volume)
        rfn_text_string(&dump->out, "volume_gap\tvolume_inside\t");
    rfn_text_string(&dump->out, "function\tparameters\tcall_path\n");
    status = print_streams(dump);
    return status == RFN_EXIT_OK ? incomplete : status;
}

static const struct argp_option options[] = {
    {"rank", 'r', "LIST", 0, "Only events of these ranks of MPI_COMM_WORLD: 3, or 0-3,7", 0},
    {"limit", 'n', "N", 0, "At most N events", 0},
    {"from-event", 'e', "N", 0, "Of each thread, begin with event N (the first is 0)", 0},
    {"from", 'f', "TIME", 0,
     "Of each thread, begin with the first event that ends at TIME or later: 1.5s, 20ms, 7us or "
     "nanoseconds since the start of the run",
     0},
    {"to", 't', "TIME", 0, "End before the first event that begins after TIME", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case 'r':
        rfn_rank_argument(state, arg, &given->ranks);
        return 0;
    case 'n':
        given->limit = rfn_number_argument(state, arg, "number of events");
        return 0;
    case 'e':
        given->from_event = rfn_number_argument(state, arg, "number of an event");
        return 0;
    case 'f':
        given->from_ns = rfn_time_argument(state, arg, "from");
        given->from_given = true;
        return 0;
    case 't':
        given->to_ns = rfn_time_argument(state, arg, "to");
        given->to_given = true;
        return 0;
    case ARGP_KEY_END:
        if (given->from_given && given->from_event)
            argp_error(state, "either --from or --from-event");
        return rfn_file_argument_parse(key, arg, state);
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {.limit = UINT64_MAX};
    rfn_command_parse(command, parse, argc, argv, &given);
    struct dump dump = {.options = &given, .left = given.limit};
    int status = rfn_command_open(given.given.file, &dump.archive);
    if (!status) {
        fflush(stdout);
        status = dump_all(&dump);
        dump_release(&dump);
        rfn_archive_close(dump.archive);
    }
    rfn_rank_filter_release(&given.ranks);
    return status;
}

const struct rfn_command rfn_cmd_dump = {
    .name = "dump",
    .summary = "Prints the events of an archive, one per line",
    .usage = "FILE",
    .about =
        "Columns are separated by tabs; the first line names them. Events are in order of rank, "
        "thread and time. man refrain-dump tells how values are written.",
    .options = options,
    .run = run,
};
