/* fake_stories.h - a run that is made up cause by cause, for tests of stories: eight ranks, ten
 * seconds, 80 s of all ranks, of which each computes for five. Numbers are seconds, unless their
 * names say something else. To be included by one test program once.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_STORIES_H
#define RFN_TESTS_SUPPORT_FAKE_STORIES_H

#include "refrain/explain.h"

#include "support/fake_report.h"

#include <string.h>

#define SECONDS(s) ((int64_t)((s)*1e9 + 0.5))

enum { RANKS = 8, MOST = 12 };

static struct rfn_activity activities[MOST];
static struct rfn_cause causes[MOST];
static struct rfn_rank_ns late[MOST][RANKS];
static struct rfn_wait_row wait_rows[MOST];
static int64_t waited[MOST][RANKS];
static int64_t spent[MOST][RANKS];
static int64_t *spent_by_activity[MOST];
static bool takes_any[RANKS];
static struct rfn_profile_rank ranks[RANKS];
static struct rfn_profile_row rows[MOST];
static struct rfn_pair pairs[RANKS * RANKS];
static struct rfn_profile profile;
static struct rfn_waits waits;

static void reset_run(void)
{
    memset(takes_any, 0, sizeof takes_any);
    fake_south = UINT32_MAX;
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i] = (struct rfn_profile_rank){
            .mpi_ns = SECONDS(5), .span_ns = SECONDS(10), .threads = 1};
    profile = (struct rfn_profile){.n_ranks = RANKS,
                                   .times = true,
                                   .end_ns = SECONDS(10),
                                   .ranks = ranks,
                                   .rows = rows,
                                   .pairs = pairs};
    waits = (struct rfn_waits){.n_ranks = RANKS,
                               .times = true,
                               .rows = wait_rows,
                               .activities = activities,
                               .causes = causes,
                               .spent = spent_by_activity,
                               .takes_any = takes_any};
}

static struct rfn_measured measured(void)
{
    rfn_profile_take_whole(&profile);
    return (struct rfn_measured){&fake, &profile, &waits, rfn_profile_efficiency(&profile), NULL};
}

/* Computing that leads to a call, of which each rank does as much, and what others wait for because
 * of it: of each of the `n` ranks from `first` on `each`, of which a share is not passed on. Its
 * number. */
static unsigned add_cause(struct rfn_call_site to, enum rfn_pattern pattern,
                          struct rfn_call_site at, unsigned first, unsigned n, double each,
                          double direct_share, double work)
{
    unsigned number = (unsigned)waits.n_causes;
    activities[number] = (struct rfn_activity){
        RFN_ACTIVITY_COMPUTE, {INIT, MAIN_24}, to, RFN_NO_REGION};
    for (unsigned i = 0; i < n; i++)
        late[number][i] = (struct rfn_rank_ns){first + i, SECONDS(each)};
    causes[number] = (struct rfn_cause){
        number, pattern, at, SECONDS(each * n), SECONDS(each * n * direct_share), late[number], n};
    for (unsigned i = 0; i < RANKS; i++)
        spent[number][i] = SECONDS(work);
    spent_by_activity[number] = spent[number];
    waits.n_activities = waits.n_causes = number + 1;
    return number;
}

/* Who of the first n ranks waits at a place, one second each. */
static void add_waiting(enum rfn_pattern pattern, struct rfn_call_site at, unsigned n)
{
    struct rfn_wait_row *row = &wait_rows[waits.n_rows];
    for (unsigned i = 0; i < RANKS; i++)
        waited[waits.n_rows][i] = i < n ? SECONDS(1) : 0;
    *row = (struct rfn_wait_row){pattern,    at.function,          at.path, n, SECONDS(n),
                                 SECONDS(1), waited[waits.n_rows], 0};
    waits.n_rows++;
    for (size_t i = 0; i < profile.n_rows; i++) {
        if (rows[i].function == at.function && rows[i].path == at.path)
            rows[i].waiting_ns += row->total_ns;
    }
}

static void add_calls(struct rfn_call_site site, uint64_t calls, double total)
{
    rows[profile.n_rows++] = (struct rfn_profile_row){
        .function = site.function,
        .path = site.path,
        .calls = calls,
        .time = {.total_ns = SECONDS(total), .ranks = RANKS}};
}

static void add_messages(uint32_t source, uint32_t dest, uint64_t messages, uint64_t bytes)
{
    pairs[profile.n_pairs++] = (struct rfn_pair){source, dest, messages, bytes};
}

#endif
