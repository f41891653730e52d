/* ti_text.c - time-independent text as a source of actions: one file per rank, or one for all. */
#define _POSIX_C_SOURCE 200809L /* strdup, strndup */

#include "base/grow.h"
#include "base/hash.h"
#include "convert/actions_source.h"
#include "convert/text/ti_shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines that may wait in memory. */
static const size_t WAITING_MAX = (size_t)128 << 20;

struct text_rank {
    struct rfn_text_stream *stream; /* NULL: the file is shared, or not yet open */
    char *path;                     /* its own file */
    struct rfn_ti_parser parser;
};

struct text {
    struct rfn_actions actions;
    char *path;
    struct rfn_ti_shared *shared; /* NULL: each rank has a file */
    struct text_rank *ranks;
    size_t ranks_capacity;
    struct rfn_ti_evidence evidence; /* path NULL: the dialect was given, or is all the same */
};

/* ---- reading ---- */

/* A line that only the other dialect has: why the text is read in this one. */
static void tell_mixture(const struct text *text, const struct rfn_ti_parser *parser,
                         const char *line, size_t length, char *said, size_t size)
{
    const bool thesis = parser->dialect == RFN_TEXT_THESIS;
    said[0] = '\0';
    if (text->evidence.path &&
        rfn_ti_line_dialect(line, length) == (thesis ? RFN_TI_SIMGRID : RFN_TI_THESIS))
        snprintf(said, size,
                 "; the text is in %s dialect, as %.200s:%" PRIu64 " shows, and this line is not "
                 "(--from=%s reads all of it in the other one)",
                 thesis ? "the thesis'" : "SimGrid's", text->evidence.path, text->evidence.line,
                 thesis ? "simgrid" : "thesis");
}

static int bad_line(const struct text *text, uint32_t rank, uint64_t number, const char *line,
                    size_t length)
{
    const struct text_rank *of = &text->ranks[rank];
    char mixture[400];
    tell_mixture(text, &of->parser, line, length, mixture, sizeof mixture);
    return rfn_fail(text->actions.diag, RFN_E_CORRUPT, -1, (int)rank, "%s:%" PRIu64 ": %s%s",
                    of->path ? of->path : text->path, number, of->parser.fault, mixture);
}

static int next_line(struct text *text, uint32_t rank, const char **line, size_t *length,
                     uint64_t *number)
{
    struct text_rank *of = &text->ranks[rank];
    if (text->shared)
        return rfn_ti_shared_line(text->shared, rank, line, length, number, text->actions.diag);
    if (!of->stream && !of->path)
        return 0;
    if (!of->stream)
        RFN_TRY(rfn_text_stream_open(of->path, &of->stream, text->actions.diag));
    int got = rfn_text_stream_line(of->stream, line, length, text->actions.diag);
    *number = rfn_text_stream_number(of->stream);
    return got;
}

static int next(struct rfn_actions *actions, uint32_t rank, struct rfn_action *action)
{
    struct text *text = (struct text *)actions;
    const char *line;
    size_t length;
    uint64_t number;
    for (;;) {
        int got = next_line(text, rank, &line, &length, &number);
        if (got <= 0)
            return got;
        got = rfn_ti_parse(&text->ranks[rank].parser, line, length, action);
        if (got == RFN_E_CORRUPT)
            return bad_line(text, rank, number, line, length);
        if (got == RFN_E_NOMEM)
            return rfn_fail(actions->diag, got, -1, (int)rank, "out of memory");
        action->event = number;
        if (got)
            return 1;
    }
}

static bool has(const struct rfn_actions *actions, uint32_t rank)
{
    const struct text *text = (const struct text *)actions;
    return text->shared || text->ranks[rank].path;
}

static void release(struct rfn_actions *actions)
{
    struct text *text = (struct text *)actions;
    for (uint32_t rank = 0; text->ranks && rank < actions->n_ranks; rank++) {
        rfn_text_stream_close(text->ranks[rank].stream);
        rfn_ti_parser_release(&text->ranks[rank].parser);
        free(text->ranks[rank].path);
    }
    rfn_ti_shared_close(text->shared);
    free(text->ranks);
    free(text->path);
    free(text);
}

/* ---- opening ---- */

static bool is_blank_line(const char *line, size_t length)
{
    while (length && (*line == ' ' || *line == '\t' || *line == '\r')) {
        line++;
        length--;
    }
    return length == 0 || *line == '#';
}

/* Trims the line; NULL: out of memory. */
static char *copy_name(const char *line, size_t length)
{
    while (length && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    while (length &&
           (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
        length--;
    return strndup(line, length);
}

/* A file that a list names: from where the program runs, as smpirun takes it, else from where the
 * list lies. */
static char *find_file(const char *list, const char *line, size_t length)
{
    char *name = copy_name(line, length);
    const char *slash = strrchr(list, '/');
    if (!name || !slash || name[0] == '/' || access(name, F_OK) == 0)
        return name;
    const size_t folder = (size_t)(slash - list) + 1, size = folder + strlen(name) + 1;
    char *beside = malloc(size);
    if (beside) {
        memcpy(beside, list, folder);
        memcpy(beside + folder, name, size - folder);
    }
    if (beside && access(beside, F_OK) == 0) {
        free(name);
        return beside;
    }
    free(beside);
    return name;
}

static int add_rank(struct text *text, char *path)
{
    const uint32_t rank = text->actions.n_ranks;
    if (!path || RFN_GROW_ZEROED(text->ranks, text->ranks_capacity, (size_t)rank + 1) < 0) {
        free(path);
        return RFN_E_NOMEM;
    }
    text->ranks[rank].path = path;
    text->actions.n_ranks++;
    return 0;
}

/* The first line that is not blank, and each that follows, names a file. */
static int read_list(struct text *text, struct rfn_text_stream *stream, const char *line,
                     size_t length)
{
    int got = 1;
    while (got > 0) {
        if (!is_blank_line(line, length))
            RFN_TRY(add_rank(text, find_file(text->path, line, length)));
        RFN_TRY(got = rfn_text_stream_line(stream, &line, &length, text->actions.diag));
    }
    return 0;
}

static int share(struct text *text, const char *path)
{
    RFN_TRY(
        rfn_ti_shared_open(path, WAITING_MAX, &text->evidence, &text->shared, text->actions.diag));
    text->actions.n_ranks = rfn_ti_shared_ranks(text->shared);
    return 0;
}

/* A list with one file: that of all ranks. */
static int share_listed(struct text *text)
{
    char *path = text->ranks[0].path;
    free(text->ranks);
    text->ranks = NULL;
    text->ranks_capacity = 0;
    text->actions.n_ranks = 0;
    free(text->path);
    text->path = path;
    return share(text, path);
}

/* The first line that is not blank: 1; 0: there is none. */
static int first_line(struct rfn_text_stream *stream, const char **line, size_t *length,
                      struct rfn_diag *diag)
{
    int got;
    do
        RFN_TRY(got = rfn_text_stream_line(stream, line, length, diag));
    while (got && is_blank_line(*line, *length));
    return got;
}

static int look(struct text *text, struct rfn_text_stream *stream)
{
    const char *line;
    size_t length;
    const int got = first_line(stream, &line, &length, text->actions.diag);
    RFN_TRY(got);
    if (!got)
        return rfn_fail(text->actions.diag, RFN_E_CORRUPT, -1, -1,
                        "%s is empty: it has neither actions nor names of files", text->path);
    if (rfn_ti_is_action(line, length))
        return share(text, text->path);
    RFN_TRY(read_list(text, stream, line, length));
    return text->actions.n_ranks == 1 ? share_listed(text) : 0;
}

/* Files that are not there are told before anything is simulated. */
static int check_files(const struct text *text)
{
    for (uint32_t rank = 0; !text->shared && rank < text->actions.n_ranks; rank++) {
        if (access(text->ranks[rank].path, R_OK) < 0)
            return rfn_fail(text->actions.diag, RFN_E_IO, -1, (int)rank,
                            "%s is no time-independent text, nor a list of such files: its line "
                            "for rank %u, \"%.200s\", names no file that can be read",
                            text->path, rank, text->ranks[rank].path);
    }
    return 0;
}

/* A shared file has been looked through already. */
static int find_dialect(struct text *text, enum rfn_text_dialect *dialect)
{
    for (uint32_t rank = 0; !text->shared && rank < text->actions.n_ranks; rank++) {
        const char *path = text->ranks[rank].path;
        if (path)
            RFN_TRY(rfn_ti_evidence_file(&text->evidence, path, text->actions.diag));
    }
    return rfn_ti_evidence_decide(&text->evidence, dialect, text->actions.diag);
}

static int make_parsers(struct text *text)
{
    const uint32_t n = text->actions.n_ranks;
    enum rfn_text_dialect dialect;
    RFN_TRY(RFN_GROW_ZEROED(text->ranks, text->ranks_capacity, n));
    RFN_TRY(find_dialect(text, &dialect));
    for (uint32_t rank = 0; rank < n; rank++) {
        struct rfn_ti_parser *parser = &text->ranks[rank].parser;
        parser->rank = rank;
        parser->n_ranks = n;
        parser->dialect = dialect;
        parser->strict = text->evidence.path != NULL;
    }
    return 0;
}

static int fill(struct text *text)
{
    struct rfn_text_stream *stream = NULL;
    int error = rfn_text_stream_open(text->path, &stream, text->actions.diag);
    if (!error)
        error = look(text, stream);
    rfn_text_stream_close(stream);
    if (!error)
        error = check_files(text);
    if (!error)
        error = make_parsers(text);
    return error;
}

/* NULL: out of memory. */
static struct text *new_text(enum rfn_text_dialect from, struct rfn_diag *diag)
{
    struct text *text = calloc(1, sizeof *text);
    if (text)
        text->evidence.dialect = from;
    if (text)
        text->actions = (struct rfn_actions){
            .unit = RFN_ACTION_FLOPS, .diag = diag, .next = next, .has = has, .free = release};
    return text;
}

/* Gives it to the caller, or frees it. */
static int hand_over(struct text *text, int error, struct rfn_actions **actions,
                     struct rfn_diag *diag)
{
    *actions = error < 0 ? NULL : &text->actions;
    if (error < 0 && text)
        release(&text->actions);
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "out of memory") : error;
}

int rfn_actions_of_text(const char *path, enum rfn_text_dialect from, struct rfn_actions **actions,
                        struct rfn_diag *diag)
{
    struct text *text = new_text(from, diag);
    if (text)
        text->path = strdup(path);
    return hand_over(text, text && text->path ? fill(text) : RFN_E_NOMEM, actions, diag);
}

static int take_files(struct text *text, const char *const *paths, uint32_t n_ranks)
{
    RFN_TRY(RFN_GROW_ZEROED(text->ranks, text->ranks_capacity, n_ranks));
    text->actions.n_ranks = n_ranks;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        if (paths[rank] && !(text->ranks[rank].path = strdup(paths[rank])))
            return RFN_E_NOMEM;
    }
    return make_parsers(text);
}

int rfn_actions_of_files(const char *const *paths, uint32_t n_ranks, enum rfn_text_dialect from,
                         struct rfn_actions **actions, struct rfn_diag *diag)
{
    struct text *text = new_text(from, diag);
    return hand_over(text, text ? take_files(text, paths, n_ranks) : RFN_E_NOMEM, actions, diag);
}

int rfn_text_recognize(const char *const *paths, uint32_t n_ranks, enum rfn_text_dialect *dialect,
                       bool *unclear, struct rfn_diag *diag)
{
    struct rfn_ti_evidence evidence = {0};
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        if (paths[rank])
            RFN_TRY(rfn_ti_evidence_file(&evidence, paths[rank], diag));
    }
    *dialect = evidence.dialect;
    enum rfn_text_dialect read_as;
    *unclear = rfn_ti_evidence_decide(&evidence, &read_as, diag) < 0;
    return 0;
}

/* ---- a file alone ---- */

int rfn_text_rank(const char *path, int64_t *rank, struct rfn_diag *diag)
{
    struct rfn_text_stream *stream;
    const char *line;
    size_t length;
    *rank = -1;
    RFN_TRY(rfn_text_stream_open(path, &stream, diag));
    const int got = first_line(stream, &line, &length, diag);
    if (got > 0 && rfn_ti_is_action(line, length))
        *rank = rfn_ti_line_rank(line, length);
    rfn_text_stream_close(stream);
    return got < 0 ? got : 0;
}

int rfn_text_hash(const char *path, uint64_t *hash, struct rfn_diag *diag)
{
    struct rfn_text_stream *stream;
    const char *line;
    size_t length;
    int got;
    *hash = 0;
    RFN_TRY(rfn_text_stream_open(path, &stream, diag));
    while ((got = rfn_text_stream_line(stream, &line, &length, diag)) > 0)
        *hash = rfn_hash_mix(*hash, rfn_hash_bytes(line, length));
    rfn_text_stream_close(stream);
    return got;
}
