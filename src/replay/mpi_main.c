/* mpi_main.c - the program that replays, one for each MPI: `refrain replay` becomes it.
 *
 * All ranks open the archive and look through their own events (survey.h). Then they agree whether
 * a replay is possible: what one of them refuses, all do, and rank 0 says why. Only then is
 * anything replayed. With an archive to hold it against both are replayed in turn, so that what
 * disturbs the machine for a while disturbs both.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "replay/arguments.h"
#include "replay/mpi_player.h"
#include "replay/mpi_watch.h"
#include "replay/result.h"
#include "replay/same_program.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_LEAST = 60, TIMEOUT_TIMES = 20, REPEATS_OF_TWO = 3 };

/* One of the archives. */
struct replay {
    const char *file;
    struct rfn_archive *archive;
    struct rfn_treatments operations;
    struct rfn_volumes *volumes;
    struct rfn_survey survey;
    uint32_t stream;
    int64_t begin_ns, end_ns; /* of all ranks */
    double *seconds;
};

struct job {
    struct rpl_arguments words;
    struct replay replays[2];
    int n_replays;
    int rank, ranks, repeats;
    bool sleeps;
    const char *why;
    unsigned timeout_seconds;
};

static const char *mpi_name(void)
{
#if defined RFN_SIMULATED
    return "SMPI";
#elif defined OPEN_MPI
    return "Open MPI";
#else
    return "MPICH";
#endif
}

/* ---- agreement ---- */

static void tell(const char *file, const char *text)
{
    if (file && !strstr(text, file))
        fprintf(stderr, "refrain: %s: %s\n", file, text);
    else
        fprintf(stderr, "refrain: %s\n", text);
}

/* Whether all ranks are without error; else rank 0 says what the lowest of the others has. Returns
 * the exit status, the same on all ranks. */
static int agree(const struct job *job, const char *file, int error, const struct rfn_diag *diag)
{
    int mine = error < 0 ? job->rank : job->ranks, lowest;
    char text[sizeof diag->text] = "";
    int status = rfn_exit_status(error);
    PMPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == job->ranks)
        return 0;
    if (job->rank == lowest)
        snprintf(text, sizeof text, "%s", diag->text[0] ? diag->text : rfn_error_text(error));
    PMPI_Bcast(text, sizeof text, MPI_CHAR, lowest, MPI_COMM_WORLD);
    PMPI_Bcast(&status, 1, MPI_INT, lowest, MPI_COMM_WORLD);
    if (job->rank == 0)
        tell(file, text);
    return status;
}

/* ---- before ---- */

static int check_run(const struct job *job, const struct replay *replay, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(replay->archive);
    const char *why = NULL;
    if (run->ranks != (uint32_t)job->ranks)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "recorded on %u rank%s, so it is replayed on %u, not on %d: mpirun -n %u "
                        "refrain replay ...",
                        run->ranks, run->ranks == 1 ? "" : "s", run->ranks, job->ranks, run->ranks);
    if (!rfn_archive_complete(replay->archive, &why))
        return rfn_fail(diag, RFN_E_INCOMPLETE, -1, -1,
                        "incomplete: %s; ranks would wait for what is missing, so it is not "
                        "replayed",
                        why ? why : "the file was cut short");
    if (run->forced)
        return rfn_fail(
            diag, RFN_E_UNSUPPORTED, -1, -1,
            "some parameters (%s) are those of the lowest rank of each cluster, so that "
            "messages may not match and ranks would wait for them: what is replayed is "
            "an archive without --ignore-parameter, of refrain record or refrain reduce",
            run->forced);
    return 0;
}

static int load(const struct job *job, struct replay *replay, struct rfn_diag *diag)
{
    RFN_TRY(rfn_archive_open(replay->file, &replay->archive, diag));
    RFN_TRY(check_run(job, replay, diag));
    RFN_TRY(rfn_survey_stream(replay->archive, (uint32_t)job->rank, &replay->stream, diag));
    RFN_TRY(rfn_treatments_init(&replay->operations, replay->archive, rpl_can_issue));
    replay->volumes = rfn_volumes_new(replay->archive);
    replay->seconds = calloc((size_t)job->repeats, sizeof *replay->seconds);
    if (!replay->volumes || !replay->seconds)
        return RFN_E_NOMEM;
    return rfn_survey_init(&replay->survey, &replay->operations, replay->volumes, replay->stream,
                           diag);
}

/* Tags may be larger where this was recorded. */
static int check_tags(const struct replay *replay, struct rfn_diag *diag)
{
    int *largest = NULL, found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &found);
    if (!found || !largest || replay->survey.largest_tag <= *largest)
        return 0;
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                    "it has a message with tag %lld, and this MPI has none above %d",
                    (long long)replay->survey.largest_tag, *largest);
}

/* What the ranks know together. */
static int check_partners(struct replay *replay, struct rfn_diag *diag)
{
    uint64_t own[] = {replay->survey.messages, replay->survey.collectives}, sums[2];
    long long begin = replay->survey.begin_ns, end = replay->survey.end_ns, first, last;
    PMPI_Allreduce(own, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(&begin, &first, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(&end, &last, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    replay->begin_ns = first;
    replay->end_ns = last;
    if (sums[0])
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "it has messages that are sent and not received, or received and not sent: "
                        "ranks would wait forever, so it is not replayed");
    if (sums[1])
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "it has collective calls that not all ranks of a communicator make: they "
                        "would wait forever, so it is not replayed");
    return 0;
}

/* Between archives of different programs an accuracy says nothing. */
static int check_pair(const struct job *job)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (job->n_replays < 2)
        return 0;
    const struct replay *small = &job->replays[0], *full = &job->replays[1];
    return agree(job, full->file,
                 rpl_check_same_program(small->file, rfn_archive_run(small->archive),
                                        rfn_archive_run(full->archive), &diag),
                 &diag);
}

/* Returns the exit status: 0 when both can be replayed. */
static int load_all(struct job *job)
{
    for (int i = 0; i < job->n_replays; i++) {
        struct rfn_diag diag = {.file_offset = -1, .rank = -1};
        struct replay *replay = &job->replays[i];
        int status = agree(job, replay->file, load(job, replay, &diag), &diag);
        if (status == 0)
            status = agree(job, replay->file, check_tags(replay, &diag), &diag);
        if (status == 0)
            status = agree(job, replay->file, check_partners(replay, &diag), &diag);
        if (status)
            return status;
    }
    return check_pair(job);
}

static void unload(struct replay *replay)
{
    rfn_survey_release(&replay->survey);
    rfn_volumes_free(replay->volumes);
    rfn_treatments_release(&replay->operations);
    if (replay->archive)
        rfn_archive_close(replay->archive);
    free(replay->seconds);
}

/* ---- how ---- */

#ifndef RFN_SIMULATED
/* Whether every rank of every node has a core of its own. */
static bool has_own_core(void)
{
    MPI_Comm node;
    cpu_set_t cores;
    int ranks, fits, all;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &ranks);
    PMPI_Comm_free(&node);
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    fits = ranks <= online && (CPU_COUNT(&cores) == 1 || ranks <= CPU_COUNT(&cores));
    PMPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}
#endif

static void choose_compute(struct job *job)
{
#ifdef RFN_SIMULATED
    job->sleeps = true;
    job->why = "time is simulated";
#else
    bool own = has_own_core();
    job->sleeps = job->words.compute == RPL_COMPUTE_SLEEP ||
                  (job->words.compute == RPL_COMPUTE_AUTO && !own);
    job->why = job->words.compute != RPL_COMPUTE_AUTO ? "as asked for"
               : own                                  ? "every rank has a core of its own"
                                                      : "there are more ranks than cores";
#endif
}

static double recorded_seconds(const struct replay *replay)
{
    return rfn_archive_run(replay->archive)->times
               ? (double)(replay->end_ns - replay->begin_ns) * 1e-9
               : 0;
}

/* For one run: much longer than it should take. */
static void choose_timeout(struct job *job)
{
    double longest = 0;
    for (int i = 0; i < job->n_replays; i++) {
        double seconds = recorded_seconds(&job->replays[i]);
        longest = seconds > longest ? seconds : longest;
    }
    double scale = job->words.scale > 1 ? job->words.scale : 1;
    double seconds = TIMEOUT_LEAST + TIMEOUT_TIMES * scale * longest;
    job->timeout_seconds = job->words.timeout_seconds  ? job->words.timeout_seconds
                           : seconds < (double)INT_MAX ? (unsigned)seconds
                                                       : INT_MAX;
}

/* ---- the runs ---- */

static int play(const struct job *job, struct replay *replay, int repetition)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rpl_player player;
    struct rpl_role_of_rank role = {.operations = &replay->operations,
                                    .volumes = replay->volumes,
                                    .survey = &replay->survey,
                                    .stream = replay->stream,
                                    .begin_ns = replay->begin_ns,
                                    .pace = {job->words.scale, job->sleeps}};
    rpl_watch_start(job->timeout_seconds, (uint32_t)job->rank);
    int error = rpl_play(&role, &player, &diag);
    if (error < 0) { /* the others may be waiting for this rank */
        tell(replay->file, diag.text[0] ? diag.text : rfn_error_text(error));
        PMPI_Abort(MPI_COMM_WORLD, rfn_exit_status(error));
    }
    rpl_watch_stop();
    PMPI_Allreduce(&player.outcome.seconds, &replay->seconds[repetition], 1, MPI_DOUBLE, MPI_MAX,
                   MPI_COMM_WORLD);
    if (player.outcome.wrong)
        error = rfn_fail(&diag, RFN_E_RANGE, -1, job->rank, "%s%s", player.outcome.first_wrong,
                         player.outcome.wrong > 1 ? ", and there are more" : "");
    return agree(job, replay->file, error, &diag);
}

static int play_all(struct job *job)
{
    for (int repetition = 0; repetition < job->repeats; repetition++) {
        for (int i = job->n_replays; i-- > 0;) {
            int status = play(job, &job->replays[i], repetition);
            if (status)
                return status;
        }
    }
    return 0;
}

/* ---- after ---- */

/* Sums over the ranks, on rank 0. */
static struct rpl_replayed sum_up(const struct replay *replay)
{
    const struct rfn_survey *survey = &replay->survey;
    uint64_t own[] = {survey->issued,         survey->failed, survey->received_messages,
                      survey->received_bytes, survey->polls,  survey->polls_ns};
    enum { SUMS = sizeof own / sizeof *own };
    uint64_t sums[SUMS] = {0};
    int n = (int)replay->operations.n;
    struct rpl_replayed result = {.file = replay->file,
                                  .archive = replay->archive,
                                  .recorded_seconds = recorded_seconds(replay),
                                  .seconds = replay->seconds,
                                  .skipped = calloc((size_t)n + 1, sizeof *result.skipped)};
    PMPI_Reduce(own, sums, SUMS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!result.skipped)
        PMPI_Abort(MPI_COMM_WORLD, RFN_EXIT_FAILURE);
    PMPI_Reduce(survey->skipped, result.skipped, n, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    result.issued = sums[0];
    result.failed = sums[1];
    result.messages = sums[2];
    result.bytes = sums[3];
    result.polls = sums[4];
    result.polls_seconds = 1e-9 * (double)sums[5];
    return result;
}

static int report(struct job *job)
{
    struct rpl_replayed replays[2];
    struct rpl_result result = {.replays = replays,
                                .n_replays = job->n_replays,
                                .repeats = job->repeats,
                                .scale = job->words.scale,
                                .sleeps = job->sleeps,
                                .why = job->why,
                                .mpi = mpi_name()};
    int status = 0;
    for (int i = 0; i < job->n_replays; i++)
        replays[i] = sum_up(&job->replays[i]);
    if (job->rank == 0 &&
        (rpl_result_print(&result, job->words.json, stdout) < 0 || fflush(stdout) != 0))
        status = RFN_EXIT_FAILURE;
    for (int i = 0; i < job->n_replays; i++)
        free(replays[i].skipped);
    return status;
}

static int replay(struct job *job)
{
    int status = load_all(job);
    if (status == 0) {
        choose_compute(job);
        choose_timeout(job);
        status = play_all(job);
    }
    return status == 0 ? report(job) : status;
}

/* SMPI looks it up. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
    struct job job = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    int status = agree(&job, NULL, rpl_arguments_parse(&job.words, argc, argv, &diag), &diag);
    if (status == 0) {
        job.n_replays = job.words.against ? 2 : 1;
        job.repeats = job.words.repeats   ? job.words.repeats
                      : job.n_replays > 1 ? REPEATS_OF_TWO
                                          : 1;
        job.replays[0].file = job.words.file;
        job.replays[1].file = job.words.against;
        status = replay(&job);
        unload(&job.replays[0]);
        unload(&job.replays[1]);
    }
    MPI_Finalize();
    return status;
}
