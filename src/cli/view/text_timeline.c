#include "cli/view/text_timeline.h"

#include "refrain/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_LABEL = 12, MOST_LABEL = 22, LEAST_COLUMNS = 20 };

/* What a character stands for: kinds of rfn_timeline_kind, then these. */
enum { WAITING = RFN_TIMELINE_KIND_COUNT, UNKNOWN, MARKS };

static const struct {
    char letter;
    int color; /* of the 256 that terminals have: of Okabe and Ito's */
    const char *words;
} marks[MARKS] = {
    [RFN_TIMELINE_COMPUTING] = {'.', 250, "computing"},
    [RFN_TIMELINE_MESSAGES] = {'m', 32, "messages"},
    [RFN_TIMELINE_COLLECTIVES] = {'c', 178, "collective calls"},
    [RFN_TIMELINE_ONE_SIDED] = {'1', 175, "one-sided"},
    [RFN_TIMELINE_FILES] = {'f', 36, "files"},
    [RFN_TIMELINE_OTHER] = {'o', 244, "other MPI calls"},
    [WAITING] = {'w', 166, "waiting"},
    [UNKNOWN] = {' ', 0, "nothing recorded"},
};

struct drawing {
    const struct rfn_text_timeline *of;
    struct rfn_timeline_window window;
    struct rfn_timeline_bin *bins; /* rows * window.n */
    uint32_t *ranks, n_ranks;      /* that are shown */
    uint32_t *row_of;              /* by stream; n_rows: not shown */
    uint32_t n_rows, per_row;
    size_t label; /* the width of the labels */
    int unread;   /* the first error of reading */
    bool used[MARKS];
};

static uint32_t streams(const struct drawing *drawing)
{
    return rfn_archive_run(drawing->of->archive)->streams;
}

/* ---- rows and bins ---- */

static void append_ranks(struct rfn_text *label, const struct drawing *drawing, uint32_t row)
{
    const uint32_t first = row * drawing->per_row, left = drawing->n_ranks - first;
    const uint32_t n = left < drawing->per_row ? left : drawing->per_row;
    rfn_text_string(label, n > 1 ? "" : "rank ");
    rfn_text_ranks(label, drawing->ranks + first, n);
}

/* As wide as the longest label, within bounds. */
static void choose_label(struct drawing *drawing)
{
    drawing->label = LEAST_LABEL;
    for (uint32_t row = 0; row < drawing->n_rows; row++) {
        struct rfn_text label = {0};
        append_ranks(&label, drawing, row);
        if (label.n + 1 > drawing->label)
            drawing->label = label.n < MOST_LABEL ? label.n + 1 : MOST_LABEL;
        rfn_text_release(&label);
    }
}

/* Ranks in rows: one each, or as many as are needed. */
static int choose_rows(struct drawing *drawing)
{
    const struct rfn_text_timeline *of = drawing->of;
    const uint32_t all = rfn_archive_run(of->archive)->ranks;
    drawing->ranks = malloc(((size_t)all + 1) * sizeof *drawing->ranks);
    drawing->row_of = malloc(((size_t)streams(drawing) + 1) * sizeof *drawing->row_of);
    if (!drawing->ranks || !drawing->row_of)
        return RFN_E_NOMEM;
    for (uint32_t rank = 0; rank < all; rank++) {
        if (rfn_rank_filter_has(of->ranks, rank))
            drawing->ranks[drawing->n_ranks++] = rank;
    }
    const uint32_t rows = of->rows ? (uint32_t)of->rows : 1;
    drawing->per_row = (drawing->n_ranks + rows - 1) / rows;
    drawing->per_row += !drawing->per_row;
    drawing->n_rows = (drawing->n_ranks + drawing->per_row - 1) / drawing->per_row;
    uint32_t at = 0; /* streams are in order of ranks */
    for (uint32_t i = 0; i < streams(drawing); i++) {
        const uint32_t rank = rfn_archive_stream(of->archive, i).rank;
        while (at < drawing->n_ranks && drawing->ranks[at] < rank)
            at++;
        const bool shown = at < drawing->n_ranks && drawing->ranks[at] == rank;
        drawing->row_of[i] = shown ? at / drawing->per_row : drawing->n_rows;
    }
    choose_label(drawing);
    return 0;
}

static int choose_window(struct drawing *drawing, struct rfn_diag *diag)
{
    const struct rfn_text_timeline *of = drawing->of;
    int64_t first, last;
    RFN_TRY(rfn_timeline_ends(of->archive, &first, &last));
    struct rfn_timeline_window *window = &drawing->window;
    window->from_ns = of->from_ns > first ? of->from_ns : first;
    window->to_ns = of->to_ns < last ? of->to_ns : last;
    if (window->from_ns >= window->to_ns)
        return rfn_fail(diag, RFN_E_RANGE, -1, -1,
                        "nothing is in the window: the run lasts from %s to %s",
                        rfn_time_text(first).text, rfn_time_text(last).text);
    const size_t n = of->width > drawing->label + LEAST_COLUMNS ? of->width - drawing->label
                                                                : LEAST_COLUMNS;
    window->n = (uint32_t)n;
    drawing->bins = calloc((size_t)drawing->n_rows * n + 1, sizeof *drawing->bins);
    return drawing->bins ? 0 : RFN_E_NOMEM;
}

static struct rfn_timeline_bin *row_bins(const struct drawing *drawing, uint32_t row)
{
    return &drawing->bins[(size_t)row * drawing->window.n];
}

/* RFN_E_NOMEM; other errors of reading are kept, the first one. */
static int add_streams(struct drawing *drawing, struct rfn_diag *diag)
{
    for (uint32_t i = 0; i < streams(drawing); i++) {
        struct rfn_timeline *timeline;
        if (drawing->row_of[i] == drawing->n_rows)
            continue;
        struct rfn_diag *why = drawing->unread ? NULL : diag;
        int error = rfn_timeline_open(drawing->of->archive, i, &timeline, why);
        if (!error) {
            error = rfn_timeline_add(timeline, &drawing->window,
                                     row_bins(drawing, drawing->row_of[i]), why);
            rfn_timeline_close(timeline);
        }
        if (error == RFN_E_NOMEM)
            return error;
        drawing->unread = drawing->unread ? drawing->unread : error;
    }
    return 0;
}

static int add_wait(void *context, const struct rfn_wait_seen *wait)
{
    struct drawing *drawing = context;
    const uint32_t row = drawing->row_of[wait->stream];
    if (row < drawing->n_rows)
        rfn_timeline_select(&drawing->window, row_bins(drawing, row), wait->from_ns, wait->to_ns);
    return 0;
}

static int add_waits(struct drawing *drawing, void (*progress)(void *context, double share),
                     void *context, struct rfn_diag *diag)
{
    const struct rfn_wait_watch watch = {drawing, add_wait};
    const struct rfn_waits_options how = {.watch = &watch};
    struct rfn_waits *waits;
    RFN_TRY(rfn_waits_new(drawing->of->archive, &how, progress, context, &waits, diag));
    rfn_waits_free(waits);
    return 0;
}

/* ---- characters ---- */

/* What takes most of a bin; *share: of it. Waiting is a part of calls. */
static unsigned mark_of(const struct drawing *drawing, const struct rfn_timeline_bin *bin,
                        double *share)
{
    const double width = (double)(drawing->window.to_ns - drawing->window.from_ns) /
                         drawing->window.n;
    double known = 0, mpi = 0;
    unsigned most = RFN_TIMELINE_COMPUTING + 1;
    for (unsigned kind = 0; kind < RFN_TIMELINE_KIND_COUNT; kind++) {
        known += bin->ns[kind];
        mpi += kind == RFN_TIMELINE_COMPUTING ? 0 : bin->ns[kind];
        if (kind > RFN_TIMELINE_COMPUTING && bin->ns[kind] > bin->ns[most])
            most = kind;
    }
    *share = known > 0 ? mpi / known : 0;
    if (known < width / 2)
        return UNKNOWN;
    if (mpi <= bin->ns[RFN_TIMELINE_COMPUTING] && !drawing->of->colors)
        return RFN_TIMELINE_COMPUTING;
    if (*share < 1 / 16.0)
        return RFN_TIMELINE_COMPUTING;
    return bin->selected_ns > mpi / 2 ? WAITING : most;
}

/* A block as high as the share, in eighths. */
static void append_block(struct rfn_text *out, unsigned mark, double share)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    const unsigned eighths = mark == RFN_TIMELINE_COMPUTING ? 1 : (unsigned)(share * 8 + 0.5);
    rfn_text_format(out, "\033[38;5;%dm", marks[mark].color);
    rfn_text_string(out, mark == UNKNOWN ? " " : blocks[eighths > 8 ? 8 : eighths ? eighths : 1]);
}

static void append_row(struct rfn_text *out, struct drawing *drawing, uint32_t row)
{
    struct rfn_text label = {0};
    append_ranks(&label, drawing, row);
    if (label.n >= drawing->label) {
        rfn_text_bytes(out, label.data, drawing->label - 3);
        rfn_text_string(out, ".. ");
    } else {
        rfn_text_bytes(out, label.data, label.n);
        rfn_text_spaces(out, drawing->label - label.n);
    }
    rfn_text_release(&label);
    for (uint32_t i = 0; i < drawing->window.n; i++) {
        double share;
        const unsigned mark = mark_of(drawing, &row_bins(drawing, row)[i], &share);
        drawing->used[mark] = true;
        if (drawing->of->colors)
            append_block(out, mark, share);
        else
            rfn_text_char(out, marks[mark].letter);
    }
    rfn_text_string(out, drawing->of->colors ? "\033[m\n" : "\n");
}

/* Times at every fifth of the width, each where its column is: the first since the run began, the
 * others since that one. */
static void append_axis(struct rfn_text *out, const struct drawing *drawing)
{
    enum { FIFTHS = 5 };
    const int64_t length = drawing->window.to_ns - drawing->window.from_ns;
    size_t at = 0;
    rfn_text_spaces(out, drawing->label);
    for (unsigned i = 0; i < FIFTHS; i++) {
        const size_t column = (size_t)drawing->window.n * i / FIFTHS;
        const struct rfn_quantity time = rfn_time_text(i ? length / FIFTHS * i
                                                         : drawing->window.from_ns);
        if (column < at)
            continue;
        rfn_text_spaces(out, column - at);
        rfn_text_string(out, i ? "|+" : "|");
        rfn_text_string(out, time.text);
        at = column + (i ? 2 : 1) + strlen(time.text) + 1;
        rfn_text_char(out, ' ');
    }
    rfn_text_char(out, '\n');
}

static void append_legend(struct rfn_text *out, const struct drawing *drawing)
{
    rfn_text_spaces(out, drawing->label);
    for (unsigned mark = 0, n = 0; mark < MARKS; mark++) {
        if (!drawing->used[mark] || mark == UNKNOWN)
            continue;
        rfn_text_string(out, n++ ? "  " : "");
        if (drawing->of->colors)
            rfn_text_format(out, "\033[38;5;%dm\u2588\033[m %s", marks[mark].color,
                            marks[mark].words);
        else
            rfn_text_format(out, "%c %s", marks[mark].letter, marks[mark].words);
    }
    rfn_text_format(
        out, "; a column is %s\n",
        rfn_time_text((drawing->window.to_ns - drawing->window.from_ns) / drawing->window.n).text);
}

int rfn_text_timeline(struct rfn_text *out, const struct rfn_text_timeline *of,
                      void (*progress)(void *context, double share), void *context, int *unread,
                      struct rfn_diag *diag)
{
    struct drawing drawing = {.of = of};
    int error = choose_rows(&drawing);
    if (!error)
        error = choose_window(&drawing, diag);
    if (!error)
        error = add_streams(&drawing, diag);
    if (!error)
        error = add_waits(&drawing, progress, context, diag);
    if (!error) {
        append_axis(out, &drawing);
        for (uint32_t row = 0; row < drawing.n_rows; row++)
            append_row(out, &drawing, row);
        append_legend(out, &drawing);
    }
    *unread = drawing.unread;
    free(drawing.bins);
    free(drawing.ranks);
    free(drawing.row_of);
    return error;
}
