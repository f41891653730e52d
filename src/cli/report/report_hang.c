#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "cli/report/report_hang.h"

#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/text/wrap.h"
#include "refrain/event.h"
#include "refrain/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 12, SHOWN_FINDINGS = 5, SHOWN_CYCLE = 6 };

static const char *const fault_words[] = {
    [RFN_HANG_DISAGREE] = "collective_calls_disagree",
    [RFN_HANG_OTHER_ORDER] = "collective_calls_in_other_order",
    [RFN_HANG_OTHER_TAG] = "other_tag",
    [RFN_HANG_OTHER_COMM] = "other_communicator",
    [RFN_HANG_OTHER_SOURCE] = "other_source",
    [RFN_HANG_NOT_SENT] = "not_sent",
    [RFN_HANG_NOT_RECEIVED] = "not_received",
    [RFN_HANG_CYCLE] = "cycle",
    [RFN_HANG_WAITED_FOR] = "waited_for"};
static const char *const kind_words[] = {
    [RFN_OPEN_CALL] = "call", [RFN_OPEN_POLLS] = "polls", [RFN_OPEN_OUTSIDE] = "outside"};
static const char *const what_words[] = {
    [RFN_HANG_SEND] = "send", [RFN_HANG_RECEIVE] = "receive", [RFN_HANG_COLLECTIVE] = "collective",
    [RFN_HANG_LOCK] = "lock", [RFN_HANG_POST] = "post",       [RFN_HANG_COMPLETE] = "complete",
    [RFN_HANG_END] = "end"};

/* ---- words ---- */

static const char *name_of(const struct rfn_hang_page *page, uint32_t function)
{
    return rfn_archive_function(page->archive, function)->name;
}

/* "MPI_Recv, main() [a.c:12]" */
static void append_call(struct rfn_text *text, const struct rfn_hang_page *page, uint32_t function,
                        uint32_t path)
{
    struct rfn_text place = {0};
    const char *name = name_of(page, function);
    rfn_call_site_place(&place, page->archive, (struct rfn_call_site){function, path});
    rfn_text_string(text, name);
    if (strcmp(rfn_text_terminated(&place), name) != 0)
        rfn_text_format(text, ", %s", rfn_text_terminated(&place));
    rfn_text_release(&place);
}

static void append_comm(struct rfn_text *text, const struct rfn_hang_page *page, int64_t comm)
{
    if (comm < 0) {
        rfn_text_string(text, "no communicator");
        return;
    }
    const enum rfn_comm_kind kind = rfn_archive_comm(page->archive, (uint32_t)comm)->kind;
    if (kind == RFN_COMM_WORLD)
        rfn_text_string(text, "MPI_COMM_WORLD");
    else if (kind == RFN_COMM_SELF)
        rfn_text_string(text, "MPI_COMM_SELF");
    else
        rfn_text_format(text, "comm#%" PRId64, comm);
}

/* "MPI_COMM_WORLD", "a file of MPI_COMM_WORLD": where a call of this function counts. */
static void append_place(struct rfn_text *text, const struct rfn_hang_page *page, uint32_t function,
                         int64_t place)
{
    if (place > UINT32_MAX)
        rfn_text_string(text, strncmp(name_of(page, function), "MPI_Win", 7) == 0 ? "a window of "
                                                                                  : "a file of ");
    append_comm(text, page, rfn_hang_place_comm(place));
}

/* "rank 3", "ranks 0-2,4" */
static void append_ranks(struct rfn_text *text, const uint32_t *ranks, size_t n)
{
    rfn_text_string(text, n == 1 ? "rank " : "ranks ");
    rfn_text_ranks(text, ranks, n);
}

static void append_since(struct rfn_text *text, const struct rfn_hang_thread *thread)
{
    const int64_t ns = thread->until_ns - thread->since_ns;
    rfn_text_string(text, rfn_time_text(ns > 0 ? ns : 0).text);
}

/* "a message with tag 7 from rank 0" */
static void append_message(struct rfn_text *text, const struct rfn_hang_wait *wait)
{
    if (wait->tag == RFN_ANY)
        rfn_text_string(text, "a message with any tag");
    else
        rfn_text_format(text, "a message with tag %" PRId64, wait->tag);
    if (wait->peer < 0)
        rfn_text_string(text, wait->what == RFN_HANG_SEND ? "" : " from any rank");
    else
        rfn_text_format(text, " %s rank %" PRId64, wait->what == RFN_HANG_SEND ? "to" : "from",
                        wait->peer);
}

/* ---- findings ---- */

static void tell_disagreement(struct rfn_text *text, const struct rfn_hang_page *page,
                              const struct rfn_hang_finding *finding)
{
    const struct rfn_hang_calls *first = &finding->groups[0];
    bool functions = false, roots = false;
    for (size_t i = 1; i < finding->n_groups; i++) {
        functions |= strcmp(name_of(page, finding->groups[i].function),
                            name_of(page, first->function)) != 0;
        roots |= finding->groups[i].root != first->root;
    }
    rfn_text_string(text, "Collective calls on ");
    append_place(text, page, first->function, finding->wait.place);
    rfn_text_format(text, " disagree%s: ",
                    functions ? ""
                    : roots   ? " about the root"
                              : " about the count");
    for (size_t i = 0; i < finding->n_groups; i++) {
        const struct rfn_hang_calls *group = &finding->groups[i];
        if (i > 0)
            rfn_text_string(text, "; ");
        append_ranks(text, group->ranks, group->n);
        rfn_text_string(text, group->n == 1 ? " calls " : " call ");
        append_call(text, page, group->function, group->path);
        if (!functions && roots)
            rfn_text_format(text, " with root %" PRId64, group->root);
        else if (!functions)
            rfn_text_format(text, " with %s", rfn_bytes_text((uint64_t)group->count).text);
    }
    rfn_text_string(text, ". All ranks of a communicator must make the same collective calls, in "
                          "the same order, with the same root.");
}

static void tell_order(struct rfn_text *text, const struct rfn_hang_page *page,
                       const struct rfn_hang_finding *finding)
{
    rfn_text_string(text, "Ranks make collective calls in different orders: ");
    for (size_t i = 0; i < 2; i++) {
        const struct rfn_hang_calls *group = &finding->groups[i];
        append_ranks(text, group->ranks, group->n);
        rfn_text_string(text, group->n == 1 ? " calls " : " call ");
        append_call(text, page, group->function, group->path);
        rfn_text_string(text, " on ");
        append_place(text, page, group->function, i == 0 ? finding->wait.place : finding->found);
        rfn_text_string(text, i == 0 ? " first, " : " first. ");
    }
    rfn_text_string(text, "Each waits for the other.");
}

static void tell_unmatched(struct rfn_text *text, const struct rfn_hang_page *page,
                           const struct rfn_hang_finding *finding)
{
    const struct rfn_hang_thread *thread = &page->hang->threads[finding->thread];
    const bool sends = finding->fault == RFN_HANG_NOT_RECEIVED;
    rfn_text_format(text, "Rank %u waits %s ", thread->rank, sends ? "to send" : "for");
    append_message(text, &finding->wait);
    rfn_text_string(text, ", in ");
    append_call(text, page, finding->wait.function, finding->wait.path);
    if (finding->fault == RFN_HANG_NOT_SENT || sends) {
        rfn_text_format(text, ". Rank %" PRId64 " has come to MPI_Finalize and %s.",
                        finding->wait.peer, sends ? "will not receive it" : "will not send one");
    } else {
        rfn_text_string(text, ". There is none, but one ");
        if (finding->fault == RFN_HANG_OTHER_TAG) {
            rfn_text_format(text, "with tag %" PRId64, finding->found);
        } else if (finding->fault == RFN_HANG_OTHER_COMM) {
            rfn_text_string(text, "on ");
            append_comm(text, page, finding->found);
        } else {
            rfn_text_format(text, "from rank %" PRId64, finding->found);
        }
        if (finding->fault == RFN_HANG_OTHER_COMM) {
            rfn_text_string(text, " (and not on ");
            append_comm(text, page, finding->wait.comm);
            rfn_text_string(text, ")");
        }
        if (finding->fault != RFN_HANG_OTHER_SOURCE)
            rfn_text_format(text, " from rank %" PRId64, finding->from);
        rfn_text_string(text, ", sent in ");
        append_call(text, page, finding->function, finding->path);
        rfn_text_string(text, ", which nobody has received.");
    }
    if (finding->n_alike > 1)
        rfn_text_format(text, " The same holds %zu times in all.", finding->n_alike);
}

static void tell_cycle(struct rfn_text *text, const struct rfn_hang_page *page,
                       const struct rfn_hang_finding *finding)
{
    rfn_text_format(text,
                    finding->n_cycle == 1 ? "A rank waits for itself: "
                                          : "%zu ranks wait for each other: ",
                    finding->n_cycle);
    for (size_t i = 0; i < finding->n_cycle && i < SHOWN_CYCLE; i++) {
        const struct rfn_hang_thread *thread = &page->hang->threads[finding->cycle[i]];
        const struct rfn_hang_thread *next =
            &page->hang->threads[finding->cycle[(i + 1) % finding->n_cycle]];
        if (i > 0)
            rfn_text_string(text, "; ");
        rfn_text_format(text, "rank %u for rank %u, in ", thread->rank, next->rank);
        append_call(text, page, thread->function, thread->path);
    }
    if (finding->n_cycle > SHOWN_CYCLE)
        rfn_text_format(text, "; and so on, back to rank %u",
                        page->hang->threads[finding->cycle[0]].rank);
    rfn_text_string(text, ".");
    if (finding->n_waiting > finding->n_cycle)
        rfn_text_format(text, " %zu more wait for them.", finding->n_waiting - finding->n_cycle);
}

static void tell_late(struct rfn_text *text, const struct rfn_hang_page *page,
                      const struct rfn_hang_finding *finding)
{
    const struct rfn_hang *hang = page->hang;
    const struct rfn_hang_thread *thread = finding->thread < hang->n_threads &&
                                                   hang->threads[finding->thread].rank ==
                                                       finding->rank
                                               ? &hang->threads[finding->thread]
                                               : NULL;
    rfn_text_format(text, "%zu rank%s for rank %u, ", finding->n_waiting,
                    finding->n_waiting == 1 ? " waits" : "s wait", finding->rank);
    if (!thread) {
        rfn_text_string(text, "of which there is no journal.");
        return;
    }
    rfn_text_string(text, "which ");
    if (!thread->known) {
        rfn_text_string(text, "has not called MPI so far.");
        return;
    }
    if (thread->kind == RFN_OPEN_OUTSIDE) {
        rfn_text_string(text, "has not been in MPI for ");
        append_since(text, thread);
        rfn_text_string(text, ", since it left ");
    } else {
        rfn_text_string(text, thread->kind == RFN_OPEN_POLLS ? "has polled for " : "has been for ");
        append_since(text, thread);
        rfn_text_string(text, " in ");
    }
    append_call(text, page, thread->function, thread->path);
    rfn_text_string(text, ".");
}

static void tell_finding(struct rfn_text *text, const struct rfn_hang_page *page,
                         const struct rfn_hang_finding *finding)
{
    switch (finding->fault) {
    case RFN_HANG_DISAGREE:
        tell_disagreement(text, page, finding);
        break;
    case RFN_HANG_OTHER_ORDER:
        tell_order(text, page, finding);
        break;
    case RFN_HANG_CYCLE:
        tell_cycle(text, page, finding);
        break;
    case RFN_HANG_WAITED_FOR:
        tell_late(text, page, finding);
        break;
    default:
        tell_unmatched(text, page, finding);
    }
}

/* ---- the table ---- */

/* Threads that do the same at the same place, and wait for equal ranks or each for a few. */
struct row {
    const struct rfn_hang_thread *first;
    uint32_t *ranks;
    size_t n;
    int64_t longest_ns;
    bool others; /* they wait for different ranks */
};

static bool are_alike(const struct rfn_hang_thread *a, const struct rfn_hang_thread *b)
{
    return a->known == b->known && a->kind == b->kind && a->function == b->function &&
           a->path == b->path && (a->n_ranks > 0) == (b->n_ranks > 0) && a->thread == b->thread;
}

static bool wait_alike(const struct rfn_hang_thread *a, const struct rfn_hang_thread *b)
{
    return a->n_ranks == b->n_ranks &&
           memcmp(a->ranks, b->ranks, a->n_ranks * sizeof *a->ranks) == 0;
}

static int by_ranks(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return a->ranks[0] < b->ranks[0] ? -1 : a->ranks[0] > b->ranks[0];
}

/* Ascending first ranks. NULL: out of memory. ranks: room for all threads'. */
static struct row *make_rows(const struct rfn_hang *hang, uint32_t *ranks, size_t *n)
{
    struct row *rows = calloc(hang->n_threads + 1, sizeof *rows);
    bool *taken = calloc(hang->n_threads + 1, sizeof *taken);
    *n = 0;
    for (size_t i = 0; rows && taken && i < hang->n_threads; i++) {
        if (taken[i])
            continue;
        struct row *row = &rows[(*n)++];
        *row = (struct row){.first = &hang->threads[i], .ranks = ranks};
        for (size_t k = i; k < hang->n_threads; k++) {
            const struct rfn_hang_thread *thread = &hang->threads[k];
            if (taken[k] || !are_alike(row->first, thread))
                continue;
            taken[k] = true;
            row->others |= !wait_alike(row->first, thread);
            row->ranks[row->n++] = thread->rank;
            if (thread->until_ns - thread->since_ns > row->longest_ns)
                row->longest_ns = thread->until_ns - thread->since_ns;
        }
        ranks += row->n;
    }
    free(taken);
    if (rows && *n)
        qsort(rows, *n, sizeof *rows, by_ranks);
    return rows;
}

static void add_row(struct rfn_table *table, const struct rfn_hang_page *page,
                    const struct row *row)
{
    const struct rfn_hang_thread *thread = row->first;
    struct rfn_text ranks = {0}, what = {0}, waits = {0}, place = {0};
    rfn_text_ranks(&ranks, row->ranks, row->n);
    if (thread->thread)
        rfn_text_format(&ranks, " (thread %u)", thread->thread);
    if (!thread->known)
        rfn_text_string(&what, "not known");
    else if (thread->kind == RFN_OPEN_OUTSIDE)
        rfn_text_format(&what, "outside MPI, after %s", name_of(page, thread->function));
    else if (thread->kind == RFN_OPEN_POLLS)
        rfn_text_format(&what, "%s, %s times", name_of(page, thread->function),
                        rfn_count_text(thread->polls).text);
    else
        rfn_text_string(&what, name_of(page, thread->function));
    if (row->others)
        rfn_text_string(&waits, "different ranks");
    else if (thread->n_ranks)
        rfn_text_ranks(&waits, thread->ranks, thread->n_ranks);
    if (thread->any && thread->n_ranks > 1 && !row->others)
        rfn_text_string(&waits, " (any)");
    if (thread->requests_unknown)
        rfn_text_string(&waits, waits.n ? " and others" : "not known");
    if (thread->known)
        rfn_call_site_place(&place, page->archive,
                            (struct rfn_call_site){thread->function, thread->path});
    rfn_table_text(table, &ranks);
    rfn_table_text(table, &what);
    rfn_table_cell(table, thread->known ? rfn_time_text(row->longest_ns).text : "");
    rfn_table_text(table, &waits);
    rfn_table_text(table, &place);
}

static void tell_rows(struct rfn_text *out, const struct rfn_hang_page *page)
{
    uint32_t *ranks = calloc(page->hang->n_threads + 1, sizeof *ranks);
    size_t n = 0;
    struct row *rows = ranks ? make_rows(page->hang, ranks, &n) : NULL;
    struct rfn_table table;
    const size_t shown = page->all || n <= ROWS ? n : ROWS;
    out->failed |= !rows;
    rfn_text_string(out, "\nWhat is each rank in?\n");
    rfn_table_init(&table, "llrll", "ranks\tin\tfor\twaits for\twhere");
    for (size_t i = 0; rows && i < shown; i++)
        add_row(&table, page, &rows[i]);
    rfn_table_print(&table, 4, out);
    if (shown < n)
        rfn_text_format(out, "  and %zu more (--all)\n", n - shown);
    free(rows);
    free(ranks);
}

/* ---- the page ---- */

static void tell_line(struct rfn_text *out, struct rfn_text *line, const struct rfn_hang_page *page,
                      size_t indent)
{
    rfn_text_wrap(out, line, page->width, indent);
    rfn_text_release(line);
}

static void tell_when(struct rfn_text *out, const struct rfn_hang_page *page)
{
    const struct rfn_hang *hang = page->hang;
    const struct rfn_run *run = rfn_archive_run(page->archive);
    struct rfn_text line = {0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t ago = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - hang->last_ns;
    rfn_text_printable(&line, run->program);
    rfn_text_format(&line, " on %u ranks, %s after its start", run->ranks,
                    rfn_time_text(hang->last_ns - run->start_realtime_ns).text);
    if (ago > 0)
        rfn_text_format(&line, ", which is %s ago", rfn_time_text(ago).text);
    rfn_text_format(&line,
                    ": %zu of %zu threads that call MPI are outside of it, %zu cannot go on.",
                    hang->n_outside, hang->n_threads, hang->n_stuck);
    tell_line(out, &line, page, 0);
}

static void tell_young(struct rfn_text *out, const struct rfn_hang_page *page)
{
    int64_t least = INT64_MAX;
    struct rfn_text line = {0};
    for (size_t i = 0; i < page->hang->n_threads; i++) {
        const struct rfn_hang_thread *thread = &page->hang->threads[i];
        if (thread->known && thread->until_ns - thread->since_ns < least)
            least = thread->until_ns - thread->since_ns;
    }
    const int64_t apart = page->hang->last_ns - page->hang->first_ns;
    if (least > apart)
        return;
    rfn_text_format(&line,
                    "Some rank was in another call less than %s before: what is said here of ranks "
                    "was seen up to %s apart, and the job may be going on.",
                    rfn_time_text(least + 1000000).text, rfn_time_text(apart).text);
    tell_line(out, &line, page, 0);
}

static bool waits(const struct rfn_hang *hang)
{
    for (size_t i = 0; i < hang->n_threads; i++) {
        if (hang->threads[i].n_ranks)
            return true;
    }
    return false;
}

/* No rank is seen to wait; but the longest call may wait for something that is not followed. */
static void tell_nothing(struct rfn_text *out, const struct rfn_hang_page *page)
{
    const struct rfn_hang *hang = page->hang;
    const int64_t long_ns = 1000000000;
    const struct rfn_hang_thread *longest = NULL;
    struct rfn_text line = {0};
    for (size_t i = 0; i < hang->n_threads; i++) {
        const struct rfn_hang_thread *thread = &hang->threads[i];
        const int64_t ns = thread->until_ns - thread->since_ns;
        if (thread->known && thread->kind == RFN_OPEN_CALL && ns > long_ns &&
            (!longest || ns > longest->until_ns - longest->since_ns))
            longest = thread;
    }
    rfn_text_string(&line,
                    "Nothing is wrong as far as can be seen: no rank waits for another one.");
    if (longest) {
        rfn_text_format(&line, " But rank %u has been for ", longest->rank);
        append_since(&line, longest);
        rfn_text_string(&line, " in ");
        append_call(&line, page, longest->function, longest->path);
        rfn_text_string(&line, ", and what that waits for is not known.");
    }
    tell_line(out, &line, page, 0);
}

void rfn_report_hang(struct rfn_text *out, const struct rfn_hang_page *page)
{
    const struct rfn_hang *hang = page->hang;
    tell_when(out, page);
    tell_young(out, page);
    if (hang->uncounted)
        rfn_text_string(out, "Recording was off at times: messages and collective calls cannot be "
                             "compared.\n");
    if (!hang->n_findings && !hang->uncounted && !waits(hang))
        tell_nothing(out, page);
    for (size_t i = 0; i < hang->n_findings && (page->all || i < SHOWN_FINDINGS); i++) {
        struct rfn_text line = {0};
        rfn_text_format(&line, "%zu. ", i + 1);
        tell_finding(&line, page, &hang->findings[i]);
        tell_line(out, &line, page, 3);
    }
    if (!page->all && hang->n_findings > SHOWN_FINDINGS)
        rfn_text_format(out, "   and %zu more (--all)\n", hang->n_findings - SHOWN_FINDINGS);
    tell_rows(out, page);
}

/* ---- JSON ---- */

static void set_call(json_t *value, const struct rfn_hang_page *page, uint32_t function,
                     uint32_t path)
{
    struct rfn_text place = {0};
    rfn_call_site_place(&place, page->archive, (struct rfn_call_site){function, path});
    RFN_JSON_SET(value, "function", name_of(page, function));
    RFN_JSON_SET(value, "place", rfn_text_terminated(&place));
    rfn_text_release(&place);
}

static void set_wait(json_t *value, const struct rfn_hang_wait *wait)
{
    RFN_JSON_SET(value, "what", what_words[wait->what]);
    RFN_JSON_SET(value, "peer", wait->peer);
    RFN_JSON_SET(value, "tag", wait->tag);
    RFN_JSON_SET(value, "comm", wait->comm);
    RFN_JSON_SET(value, "ready", wait->ready);
}

static json_t *thread_json(const struct rfn_hang_page *page, const struct rfn_hang_thread *thread)
{
    json_t *value = json_object(), *waits = json_array();
    RFN_JSON_SET(value, "rank", thread->rank);
    RFN_JSON_SET(value, "thread", thread->thread);
    RFN_JSON_SET(value, "known", thread->known);
    if (thread->known) {
        RFN_JSON_SET(value, "state", kind_words[thread->kind]);
        set_call(value, page, thread->function, thread->path);
        RFN_JSON_SET(value, "seconds", (double)(thread->until_ns - thread->since_ns) * 1e-9);
    }
    for (size_t i = 0; i < thread->n_waits; i++) {
        json_t *wait = json_object();
        set_wait(wait, &thread->waits[i]);
        json_array_append_new(waits, wait);
    }
    RFN_JSON_SET(value, "any", thread->any);
    RFN_JSON_SET(value, "waits", waits);
    RFN_JSON_SET(value, "waits_for", rfn_json_ranks(thread->ranks, thread->n_ranks));
    RFN_JSON_SET(value, "stuck", thread->stuck);
    return value;
}

static json_t *groups_json(const struct rfn_hang_page *page, const struct rfn_hang_finding *finding)
{
    json_t *groups = json_array();
    for (size_t i = 0; i < finding->n_groups; i++) {
        const struct rfn_hang_calls *group = &finding->groups[i];
        json_t *value = json_object();
        set_call(value, page, group->function, group->path);
        RFN_JSON_SET(value, "ranks", rfn_json_ranks(group->ranks, group->n));
        RFN_JSON_SET(value, "root", group->root);
        RFN_JSON_SET(value, "bytes", group->count);
        json_array_append_new(groups, value);
    }
    return groups;
}

static json_t *finding_json(const struct rfn_hang_page *page,
                            const struct rfn_hang_finding *finding)
{
    json_t *value = json_object();
    struct rfn_text words = {0};
    tell_finding(&words, page, finding);
    RFN_JSON_SET(value, "fault", fault_words[finding->fault]);
    RFN_JSON_SET(value, "text", rfn_text_terminated(&words));
    RFN_JSON_SET(value, "rank", finding->rank);
    if (finding->n_groups) {
        RFN_JSON_SET(value, "groups", groups_json(page, finding));
    } else if (finding->fault == RFN_HANG_CYCLE) {
        json_t *ranks = json_array();
        for (size_t i = 0; i < finding->n_cycle; i++)
            json_array_append_new(ranks, json_integer(page->hang->threads[finding->cycle[i]].rank));
        RFN_JSON_SET(value, "ranks", ranks);
    } else if (finding->fault != RFN_HANG_WAITED_FOR) {
        set_wait(value, &finding->wait);
        RFN_JSON_SET(value, "found", finding->found);
        RFN_JSON_SET(value, "alike", finding->n_alike);
    }
    if (finding->fault == RFN_HANG_CYCLE || finding->fault == RFN_HANG_WAITED_FOR)
        RFN_JSON_SET(value, "waiting", finding->n_waiting);
    rfn_text_release(&words);
    return value;
}

json_t *rfn_report_hang_json(const struct rfn_hang_page *page)
{
    const struct rfn_hang *hang = page->hang;
    json_t *value = json_object(), *findings = json_array(), *threads = json_array();
    for (size_t i = 0; i < hang->n_findings; i++)
        json_array_append_new(findings, finding_json(page, &hang->findings[i]));
    for (size_t i = 0; i < hang->n_threads; i++)
        json_array_append_new(threads, thread_json(page, &hang->threads[i]));
    RFN_JSON_SET(value, "ranks", rfn_archive_run(page->archive)->ranks);
    RFN_JSON_SET(value, "outside", hang->n_outside);
    RFN_JSON_SET(value, "stuck", hang->n_stuck);
    RFN_JSON_SET(value, "findings", findings);
    RFN_JSON_SET(value, "threads", threads);
    return value;
}
