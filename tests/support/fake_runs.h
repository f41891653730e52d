/* fake_runs.h - for tests: two runs of four ranks that are made up, each of ten seconds.
 *
 * Rank 3 is late in both, for what it computes in region smoothing before an Allreduce; others wait
 * for it in the first run in that call, in the second in MPI_Recv in exchange(). Rank 1 writes a
 * file in the first run only, and only the second one has a barrier.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_RUNS_H
#define RFN_TESTS_SUPPORT_FAKE_RUNS_H

#include "refrain/explain.h"

#include "support/fake_report.h"

#define SECONDS(s) ((int64_t)((s)*1e9))

enum { FAKE_RANKS = 4 };

static struct rfn_activity fake_activities[2];
static struct rfn_rank_ns fake_late[] = {{3, SECONDS(4)}, {1, SECONDS(2)}};
static struct rfn_cause fake_causes[2][2] = {
    {{0, RFN_WAIT_AT_NXN, {ALLREDUCE, RESIDUAL_12}, SECONDS(4), SECONDS(4), &fake_late[0], 1},
     {1, RFN_LATE_SENDER, {RECV, EXCHANGE_88}, SECONDS(2), SECONDS(2), &fake_late[1], 1}},
    {{0, RFN_LATE_SENDER, {RECV, EXCHANGE_80}, SECONDS(8), SECONDS(8), &fake_late[0], 1}}};
static int64_t fake_by_rank[FAKE_RANKS] = {SECONDS(4)};
static struct rfn_wait_row fake_wait_rows[2][2] = {{{.pattern = RFN_WAIT_AT_NXN,
                                                     .function = ALLREDUCE,
                                                     .path = RESIDUAL_12,
                                                     .count = 10,
                                                     .total_ns = SECONDS(4),
                                                     .max_ns = SECONDS(1),
                                                     .ns_by_rank = fake_by_rank},
                                                    {.pattern = RFN_LATE_SENDER,
                                                     .function = RECV,
                                                     .path = EXCHANGE_88,
                                                     .count = 10,
                                                     .total_ns = SECONDS(2),
                                                     .max_ns = SECONDS(1),
                                                     .ns_by_rank = fake_by_rank}},
                                                   {{.pattern = RFN_LATE_SENDER,
                                                     .function = RECV,
                                                     .path = EXCHANGE_80,
                                                     .count = 10,
                                                     .total_ns = SECONDS(8),
                                                     .max_ns = SECONDS(1),
                                                     .ns_by_rank = fake_by_rank}}};
static struct rfn_profile_row fake_rows[2][4] = {
    {{.function = RECV,
      .path = EXCHANGE_88,
      .calls = 10,
      .bytes = 80,
      .waiting_ns = SECONDS(2),
      .time = {.total_ns = SECONDS(3), .ranks = 4}},
     {.function = ALLREDUCE,
      .path = RESIDUAL_12,
      .calls = 40,
      .bytes = 320,
      .waiting_ns = SECONDS(4),
      .time = {.total_ns = SECONDS(4), .ranks = 4}},
     {.function = RECV,
      .path = EXCHANGE_80_EARLY,
      .calls = 5,
      .bytes = 40,
      .time = {.total_ns = SECONDS(1), .ranks = 2}},
     {.function = INIT, .path = MAIN_10, .calls = 4, .time = {.ranks = 4}}},
    {{.function = RECV,
      .path = EXCHANGE_80,
      .calls = 15,
      .bytes = 120,
      .waiting_ns = SECONDS(8),
      .time = {.total_ns = SECONDS(9), .ranks = 4}},
     {.function = ALLREDUCE,
      .path = RESIDUAL_12,
      .calls = 40,
      .bytes = 320,
      .time = {.total_ns = SECONDS(0.5), .ranks = 4}},
     {.function = BARRIER,
      .path = MAIN_24,
      .calls = 4,
      .time = {.total_ns = SECONDS(0.5), .ranks = 4}},
     {.function = INIT, .path = MAIN_10, .calls = 4, .time = {.ranks = 4}}}};
static struct rfn_region_row fake_regions[2][1] = {
    {{.name = "smoothing", .visits = 40, .time = {.total_ns = SECONDS(20), .ranks = 4}}},
    {{.name = "smoothing", .visits = 40, .time = {.total_ns = SECONDS(16), .ranks = 4}}}};
static struct rfn_profile_rank fake_ranks[2][FAKE_RANKS];
static struct rfn_profile fake_profiles[2];
static struct rfn_waits fake_waits[2];
static struct rfn_measured fake_runs[2];

/* Before each test: sets all to what is said above. */
static void fake_runs_reset(void)
{
    static const int64_t mpi[2] = {SECONDS(2), SECONDS(2.5)}; /* of each rank */
    fake_activities[0] = (struct rfn_activity){
        RFN_ACTIVITY_COMPUTE, {RECV, EXCHANGE_88}, {ALLREDUCE, RESIDUAL_12}, 0};
    fake_activities[1] = (struct rfn_activity){
        RFN_ACTIVITY_MPI, {0, 0}, {FILE_WRITE, MAIN_24}, RFN_NO_REGION};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < FAKE_RANKS; k++)
            fake_ranks[i][k] = (struct rfn_profile_rank){.mpi_ns = mpi[i],
                                                         .span_ns = SECONDS(10),
                                                         .threads = 1,
                                                         .calls = 59,
                                                         .messages = 15};
        fake_profiles[i] = (struct rfn_profile){.n_ranks = FAKE_RANKS,
                                                .times = true,
                                                .end_ns = SECONDS(10),
                                                .ranks = fake_ranks[i],
                                                .rows = fake_rows[i],
                                                .n_rows = 4,
                                                .regions = fake_regions[i],
                                                .n_regions = 1};
        rfn_profile_take_whole(&fake_profiles[i]);
        fake_waits[i] = (struct rfn_waits){.n_ranks = FAKE_RANKS,
                                           .times = true,
                                           .rows = fake_wait_rows[i],
                                           .n_rows = i ? 1 : 2,
                                           .total_ns = i ? SECONDS(8) : SECONDS(6),
                                           .activities = fake_activities,
                                           .n_activities = 2,
                                           .causes = fake_causes[i],
                                           .n_causes = i ? 1 : 2};
        rfn_profile_take_whole(&fake_profiles[i]);
        fake_runs[i] = (struct rfn_measured){&fake, &fake_profiles[i], &fake_waits[i],
                                             rfn_profile_efficiency(&fake_profiles[i]), NULL};
    }
}

#endif
