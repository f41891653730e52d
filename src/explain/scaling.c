/* scaling.c - runs on more and more ranks, by the factors of POP: global efficiency = parallel
 * efficiency x computation scaling. */
#include "explain/compare_runs.h"

#include <stdlib.h>

/* What parallel efficiency is made of, so that the product of both is in proportion. */
static double outside_of(const struct rfn_compared_run *run)
{
    return (double)run->measured.efficiency.mean_outside_ns * run->present;
}

static int by_ranks(const void *left, const void *right)
{
    const struct rfn_scaling_run *a = left, *b = right;
    if (a->run.ranks != b->run.ranks)
        return a->run.ranks < b->run.ranks ? -1 : 1;
    return a->given < b->given ? -1 : a->given > b->given;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

int rfn_scaling_init(struct rfn_scaling *scaling, const struct rfn_measured *runs, size_t n,
                     size_t findings)
{
    const struct rfn_compared_run *first = NULL;
    *scaling = (struct rfn_scaling){.runs = calloc(n + 1, sizeof *scaling->runs)};
    if (!scaling->runs)
        return RFN_E_NOMEM;
    for (; scaling->n < n; scaling->n++) {
        struct rfn_scaling_run *one = &scaling->runs[scaling->n];
        one->given = scaling->n;
        RFN_TRY(rfn_compared_run_init(&one->run, &runs[scaling->n], RFN_TRIFLE, findings));
    }
    qsort(scaling->runs, n, sizeof *scaling->runs, by_ranks);
    for (size_t i = 0; i < n; i++) {
        struct rfn_scaling_run *one = &scaling->runs[i];
        if (!one->run.times)
            continue;
        first = first ? first : &one->run;
        one->speedup = ratio((double)first->run_ns, (double)one->run.run_ns);
        one->ideal = ratio(one->run.ranks, first->ranks);
        one->computation = ratio(outside_of(first), outside_of(&one->run));
        one->global = one->run.measured.efficiency.parallel * one->computation;
    }
    return 0;
}

void rfn_scaling_release(struct rfn_scaling *scaling)
{
    for (size_t i = 0; i < scaling->n; i++)
        rfn_findings_release(&scaling->runs[i].run.findings);
    free(scaling->runs);
    *scaling = (struct rfn_scaling){0};
}

/* ---- in a sentence ---- */

/* The factor that falls most, or rises most with the whole. */
static void append_factor(struct rfn_text *text, const struct rfn_scaling_run *first,
                          const struct rfn_scaling_run *last)
{
    const struct rfn_efficiency *a = &first->run.measured.efficiency;
    const struct rfn_efficiency *b = &last->run.measured.efficiency;
    const struct {
        const char *name;
        double before, after;
    } factors[] = {{"load balance", a->load_balance, b->load_balance},
                   {"communication efficiency", a->communication, b->communication},
                   {"computation scaling", first->computation, last->computation}},
      *most = factors;
    bool falls = last->global < first->global;
    for (size_t i = 1; i < sizeof factors / sizeof *factors; i++) {
        double one = ratio(factors[i].after, factors[i].before);
        double other = ratio(most->after, most->before);
        if (falls ? one < other : one > other)
            most = &factors[i];
    }
    rfn_text_format(text, ", most of it by %s (%s -> %s)", most->name,
                    rfn_share_text(most->before).text, rfn_share_text(most->after).text);
}

void rfn_scaling_append(struct rfn_text *text, const struct rfn_scaling *scaling)
{
    const struct rfn_scaling_run *first = NULL, *last = NULL;
    for (size_t i = 0; i < scaling->n; i++) {
        if (scaling->runs[i].run.times) {
            first = first ? first : &scaling->runs[i];
            last = &scaling->runs[i];
        }
    }
    if (first == last) {
        rfn_text_string(text, "How these runs scale is not known: fewer than two have times.");
        return;
    }
    if (last->run.ranks == first->run.ranks)
        rfn_text_format(text, "All have %u ranks; the last is %.2f times as fast as the first",
                        first->run.ranks, last->speedup);
    else
        rfn_text_format(text, "%u ranks are %.2f times as fast as %u, of %.2f at best",
                        last->run.ranks, last->speedup, first->run.ranks, last->ideal);
    rfn_text_format(text, ": %s -> %s. Global efficiency", rfn_time_text(first->run.run_ns).text,
                    rfn_time_text(last->run.run_ns).text);
    if (rfn_about_as_long(first->global, last->global)) {
        rfn_text_format(text, " stays at %s.", rfn_share_text(last->global).text);
        return;
    }
    rfn_text_format(text, " %s from %s to %s", last->global < first->global ? "falls" : "rises",
                    rfn_share_text(first->global).text, rfn_share_text(last->global).text);
    append_factor(text, first, last);
    rfn_text_char(text, '.');
}
