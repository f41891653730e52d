/* mpi_gather.c - the program that gathers, one for each MPI: `refrain gather` becomes it.
 *
 * Each process looks which files of ranks it sees, and all agree who takes which (mpi_share.h). A
 * process makes an archive of its ranks, small beside their text, in a temporary file; the
 * archives are merged along a tree, and the last merge, at process 0, writes the output
 * (mpi_tree.h). What goes wrong at one process all hear of before the next of these steps.
 *
 * Words are FOLDER OUT --force --json --arity=K --ranks=N --from=DIALECT. `refrain gather` has
 * checked them. Options and OUT are those of process 0.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "gather/arity.h"
#include "gather/mpi_job.h"
#include "gather/mpi_share.h"
#include "gather/mpi_tree.h"
#include "refrain/actions_out.h"
#include "refrain/text.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct words {
    char *folder, *output;
    int force, json, arity, ranks, from; /* 0: not given; from: an enum rfn_text_dialect */
};

struct sums { /* of all processes */
    uint64_t ranks, actions, bytes;
    uint64_t passed_over; /* files */
};

/* ---- words ---- */

static bool parse(struct words *words, int argc, char **argv)
{
    if (argc < 3)
        return false;
    *words = (struct words){.folder = argv[1], .output = argv[2]};
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--force") == 0)
            words->force = 1;
        else if (strcmp(argv[i], "--json") == 0)
            words->json = 1;
        else if (strncmp(argv[i], "--arity=", 8) == 0)
            words->arity = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--ranks=", 8) == 0)
            words->ranks = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--from=", 7) == 0)
            words->from = atoi(argv[i] + 7);
        else
            return false;
    }
    return words->arity != 1 && words->arity >= 0 && words->arity <= GTH_ARITY_MOST &&
           words->ranks >= 0 && words->from >= RFN_TEXT_ANY && words->from <= RFN_TEXT_THESIS;
}

static void take_options(const struct gth_job *job, struct words *words)
{
    int options[] = {words->force, words->json, words->arity, words->ranks, words->from};
    PMPI_Bcast(options, 5, MPI_INT, 0, job->comm);
    words->force = options[0];
    words->json = options[1];
    words->arity = options[2] ? options[2] : gth_arity(job->processes, job->nodes);
    words->ranks = options[3];
    words->from = options[4];
}

static void check_output(struct gth_job *job, const struct words *words)
{
    if (job->process == 0 && !words->force && access(words->output, F_OK) == 0)
        job->error = rfn_fail(&job->diag, RFN_E_EXISTS, -1, -1,
                              "%s exists already; --force replaces it", words->output);
}

/* The files of all processes are of one dialect, so what one process sees tells the others. Where
 * its own files tell, it still reads them with care: they may be a mixture. */
static void agree_on_dialect(struct gth_job *job, struct words *words,
                             const struct gth_share *share)
{
    enum rfn_text_dialect own = RFN_TEXT_ANY;
    bool unclear = false;
    if (words->from != RFN_TEXT_ANY)
        return;
    job->error = rfn_text_recognize(share->paths, share->n_ranks, &own, &unclear, &job->diag);
    int seen[2] = {own == RFN_TEXT_SIMGRID, own == RFN_TEXT_THESIS};
    PMPI_Allreduce(MPI_IN_PLACE, seen, 2, MPI_INT, MPI_MAX, job->comm);
    if (job->error < 0)
        return;
    if (seen[0] && seen[1] && own != RFN_TEXT_ANY)
        job->error = rfn_fail(&job->diag, RFN_E_CORRUPT, -1, -1,
                              "files of this host are text of %s dialect, and those of another "
                              "host are not; gather the files of one run",
                              own == RFN_TEXT_THESIS ? "the thesis'" : "SimGrid's");
    else if (unclear && !seen[0] && !seen[1])
        job->error = RFN_E_USAGE; /* the diag says why */
    else if (own == RFN_TEXT_ANY)
        words->from = seen[1] ? RFN_TEXT_THESIS : RFN_TEXT_SIMGRID;
}

/* ---- the archive of a process ---- */

/* Of how many bytes the archive is. program: what it is to say of the run. */
static uint64_t archive(struct gth_job *job, const struct words *words,
                        const struct gth_share *share, const char *program, const char *path,
                        struct sums *sums)
{
    struct rfn_actions *actions;
    struct rfn_actions_summary summary = {0};
    job->error = rfn_actions_of_files(share->paths, share->n_ranks,
                                      (enum rfn_text_dialect)words->from, &actions, &job->diag);
    if (job->error >= 0)
        job->error = rfn_archive_of_actions(actions, path, words->force, program, NULL, &summary,
                                            &job->diag);
    rfn_actions_free(actions);
    *sums = (struct sums){.ranks = share->n, .actions = summary.actions, .bytes = share->bytes};
    return summary.file_bytes;
}

static void make_folder(struct gth_job *job, char *folder, size_t size)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, size, "%s/refrain-gather-XXXXXX", place && place[0] ? place : "/tmp");
    if (!mkdtemp(folder)) {
        job->error = rfn_fail(&job->diag, RFN_E_IO, -1, -1,
                              "cannot make the folder %s: %s; have TMPDIR name another place",
                              folder, strerror(errno));
        folder[0] = 0;
    }
}

/* The archives of one run say the same of it: the folder, as process 0 names it. */
static void archive_all(struct gth_job *job, const struct words *words,
                        const struct gth_share *share, struct sums *sums, uint64_t *bytes)
{
    char folder[PATH_MAX - 64] = "", program[PATH_MAX] = "", own[PATH_MAX] = "";
    if (job->processes == 1) {
        *bytes = archive(job, words, share, words->folder, words->output, sums);
        return;
    }
    snprintf(program, sizeof program, "%s", words->folder);
    PMPI_Bcast(program, sizeof program, MPI_CHAR, 0, job->comm);
    make_folder(job, folder, sizeof folder);
    if (share->n && job->error >= 0) {
        snprintf(own, sizeof own, "%s/0.rfn", folder);
        archive(job, words, share, program, own, sums);
    }
    const struct gth_tree tree = {words->arity, folder, words->output, words->force};
    gth_combine(job, &tree, job->error < 0 ? "" : own, bytes);
    if (folder[0])
        rmdir(folder);
}

/* ---- what came out ---- */

/* The exit status, after telling if not all was printed. */
static int printed(bool whole, bool memory)
{
    if (whole && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "refrain: %s\n", memory ? "cannot write to standard output" : "out of memory");
    return RFN_EXIT_FAILURE;
}

static int print(struct rfn_text *text)
{
    const bool memory = !text->failed;
    const bool whole = memory && fwrite(text->data, 1, text->n, stdout) == text->n;
    rfn_text_release(text);
    return printed(whole, memory);
}

/* Files that may be a rank's, of all processes: what is wrong with the first one only its reader
 * can tell. */
static void tell_passed_over(struct gth_job *job, const struct gth_files *files,
                             uint64_t *passed_over)
{
    char path[PATH_MAX] = "";
    int mine = files->passed_over ? job->process : job->processes, first;
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, job->comm);
    *passed_over = files->passed_over;
    PMPI_Allreduce(MPI_IN_PLACE, passed_over, 1, MPI_UINT64_T, MPI_SUM, job->comm);
    if (!*passed_over)
        return;
    if (files->first_passed)
        snprintf(path, sizeof path, "%s", files->first_passed);
    PMPI_Bcast(path, sizeof path, MPI_CHAR, first, job->comm);
    if (job->process == 0)
        fprintf(stderr,
                "refrain: %s file%s passed over, as the first line is no action of a rank; the "
                "first is %s\n",
                rfn_count_text(*passed_over).text, *passed_over == 1 ? " was" : "s were", path);
}

static int print_json(const struct gth_job *job, const struct words *words, const struct sums *sums,
                      uint64_t bytes)
{
    struct rfn_text name = {0};
    rfn_text_utf8(&name, words->output);
    json_t *value = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:I}", "file", rfn_text_terminated(&name),
        "ranks", (json_int_t)sums->ranks, "actions", (json_int_t)sums->actions, "bytes_before",
        (json_int_t)sums->bytes, "bytes", (json_int_t)bytes, "processes", job->processes, "nodes",
        job->nodes, "arity", words->arity, "steps", gth_steps(words->arity, job->processes),
        "passed_over", (json_int_t)sums->passed_over);
    rfn_text_release(&name);
    const bool whole = value && json_dumpf(value, stdout, JSON_INDENT(2)) == 0 &&
                       putchar('\n') != EOF;
    const bool memory = value != NULL;
    json_decref(value);
    return printed(whole, memory);
}

/* "app.rfn: 64 ranks, 12,345 actions; 1.2 MiB of text became 9.8 KiB; 8 processes on 4 nodes, in 1
 * step of arity 8" */
static int report(const struct gth_job *job, const struct words *words, const struct sums *sums,
                  uint64_t bytes)
{
    const int steps = gth_steps(words->arity, job->processes);
    struct rfn_text text = {0};
    if (words->json)
        return print_json(job, words, sums, bytes);
    rfn_text_printable(&text, words->output);
    rfn_text_format(&text, ": %llu rank%s, %s actions; %s of text became %s; %d process%s",
                    (unsigned long long)sums->ranks, sums->ranks == 1 ? "" : "s",
                    rfn_count_text(sums->actions).text, rfn_bytes_text(sums->bytes).text,
                    rfn_bytes_text(bytes).text, job->processes, job->processes == 1 ? "" : "es");
    rfn_text_format(&text, " on %d node%s, in %d step%s of arity %d\n", job->nodes,
                    job->nodes == 1 ? "" : "s", steps, steps == 1 ? "" : "s", words->arity);
    return print(&text);
}

/* ---- all processes ---- */

static int gather(struct gth_job *job, struct words *words, struct gth_files *files,
                  struct gth_share *share)
{
    struct sums sums = {0};
    uint64_t bytes = 0;
    int status;
    take_options(job, words);
    check_output(job, words);
    if (job->error >= 0)
        job->error = gth_files_find(files, words->folder, &job->diag);
    if ((status = gth_agree(job)))
        return status;
    gth_share(job, files, words->folder, (uint32_t)words->ranks, share);
    if ((status = gth_agree(job)))
        return status;
    agree_on_dialect(job, words, share);
    if ((status = gth_agree(job)))
        return status;
    archive_all(job, words, share, &sums, &bytes);
    if ((status = gth_agree(job)))
        return status;
    tell_passed_over(job, files, &sums.passed_over);
    PMPI_Reduce(job->process ? (void *)&sums : MPI_IN_PLACE, &sums, 3, MPI_UINT64_T, MPI_SUM, 0,
                job->comm);
    return job->process ? 0 : report(job, words, &sums, bytes);
}

/* SMPI looks it up. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
    struct words words = {0};
    struct gth_job job;
    struct gth_files files = {0};
    struct gth_share share = {0};
    int status;
    MPI_Init(&argc, &argv);
    gth_job_init(&job);
    if (!parse(&words, argc, argv))
        job.error = rfn_fail(
            &job.diag, RFN_E_USAGE, -1, -1,
            "words are FOLDER OUT --force --json --arity=K --ranks=N --from=DIALECT");
    status = gth_agree(&job);
    if (status == 0)
        status = gather(&job, &words, &files, &share);
    gth_share_release(&share);
    gth_files_release(&files);
    gth_job_release(&job);
    /* Process 0 has the status of what it printed. */
    PMPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
