/* damage.c - damages archives and journals in very many ways and reads them: nothing crashes, hangs
 * or gives a wrong answer.
 *
 *     damage [-n N] [-s SEED] [-j JOBS] [-o NUMBER] FOLDER
 *
 * FOLDER has sound ones, in archives/ and in journals/. What happens to the file with a number
 * follows from SEED and that number. JOBS processes share the numbers; one that dies counts as a
 * crash, one that computes for LIMIT_S at a file as a hang, and another one goes on behind it. -o:
 * only that number, in this process; the damaged file, or the folder, is left in damaged.rfn or
 * damaged.journal for whoever looks for the fault.
 *
 * Built with sanitizers, which end the process at the first fault. cases.h tells which answers are
 * wrong. */
#define _GNU_SOURCE
#include "damage/cases.h"

#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIMIT_S = 20,
    WAIT_LIMIT_S = 600,
    SEEDS = 32,
    JOBS_MOST = 64,
    SHOWN_WRONG = 20,
    LARGE = 16 << 10
};

/* A forged size is no reason to end; short words about faults are enough. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024:hard_rss_limit_mb=4096:"
           "malloc_context_size=8:quarantine_size_mb=32";
}

/* ---- sound files ---- */

static struct {
    struct archive_seed archives[SEEDS];
    struct journal_seed journals[SEEDS];
    size_t n_archives, n_journals;
} seeds;

static const char *kind_of(size_t journal, bool forged)
{
    static const char *const kinds[] = {"archives, bytes changed", "archives, a chunk forged",
                                        "journals, bytes changed", "journals, a body forged"};
    return kinds[2 * journal + forged];
}

static int by_text(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Calls `open` for each file of FOLDER/part, in the order of names. */
static bool open_part(const char *folder, const char *part, const char *work,
                      bool (*open)(const char *folder, const char *name, const char *work))
{
    char path[512];
    struct dirent **names;
    snprintf(path, sizeof path, "%s/%s", folder, part);
    const int n = scandir(path, &names, is_visible, by_text);
    bool good = n > 0;
    for (int i = 0; i < n; i++) {
        good = good && i < SEEDS && open(path, names[i]->d_name, work);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    if (!good)
        fprintf(stderr, "%s: no sound files are to be read there\n", path);
    return good;
}

static bool open_archive(const char *folder, const char *name, const char *work)
{
    (void)work;
    return archive_seed_open(&seeds.archives[seeds.n_archives++], folder, name);
}

static bool open_journal(const char *folder, const char *name, const char *work)
{
    return journal_seed_open(&seeds.journals[seeds.n_journals++], folder, name, work);
}

static bool open_seeds(const char *folder, const char *work)
{
    return open_part(folder, "archives", work, open_archive) &&
           open_part(folder, "journals", work, open_journal);
}

static void release_seeds(void)
{
    for (size_t i = 0; i < seeds.n_archives; i++)
        archive_seed_release(&seeds.archives[i]);
    for (size_t i = 0; i < seeds.n_journals; i++)
        journal_seed_release(&seeds.journals[i]);
}

/* ---- a damaged file ---- */

/* What a process has done, for the one that waits for it. */
struct progress {
    uint64_t at; /* the number that it is at */
    uint64_t wrong, found[2][2][FOUND];
};

/* Large ones take long, and come seldom. */
static size_t pick_journal(struct chance *chance)
{
    for (;;) {
        const size_t at = chance_below(chance, seeds.n_journals);
        size_t bytes = 0;
        for (size_t i = 0; i < seeds.journals[at].n; i++)
            bytes += seeds.journals[at].files[i].file.size;
        if (bytes < LARGE || chance_below(chance, 64) == 0)
            return at;
    }
}

static void damage_one(uint64_t number, uint64_t seed, const char *work, bool keep,
                       struct progress *progress)
{
    struct chance chance = {rfn_hash_mix(seed, number)};
    const bool journal = chance_below(&chance, 4) == 0;
    const size_t at = journal ? pick_journal(&chance) : chance_below(&chance, seeds.n_archives);
    const struct verdict verdict = journal ? journal_case(&seeds.journals[at], &chance, work, keep)
                                           : archive_case(&seeds.archives[at], &chance,
                                                          keep ? "damaged.rfn" : NULL);
    progress->found[journal][verdict.forged][verdict.found]++;
    if (!verdict.wrong && !keep)
        return;
    if (verdict.wrong && progress->wrong++ >= SHOWN_WRONG)
        return;
    printf("number %llu, %s %s, %s: %s\n", (unsigned long long)number,
           journal ? "journal" : "archive",
           journal ? seeds.journals[at].name : seeds.archives[at].name, verdict.how,
           verdict.wrong ? verdict.wrong : "nothing wrong");
    fflush(stdout);
}

/* ---- processes ---- */

struct task {
    const char *folder;
    uint64_t n, seed;
    unsigned jobs;
};

/* Of computing; and, much longer, of waiting: a busy machine makes a process wait. */
static void limit_time(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = LIMIT_S}};
    const struct itimerval wait_limit = {.it_value = {.tv_sec = WAIT_LIMIT_S}};
    setitimer(ITIMER_PROF, &limit, NULL);
    setitimer(ITIMER_REAL, &wait_limit, NULL);
}

static void work_on(const struct task *task, const char *work, uint64_t first,
                    struct progress *progress)
{
    limit_time();
    if (!open_seeds(task->folder, work))
        exit(2);
    for (uint64_t i = first; i < task->n; i += task->jobs) {
        progress->at = i;
        limit_time();
        damage_one(i, task->seed, work, false, progress);
    }
    progress->at = task->n;
    release_seeds();
    exit(0); /* where leaks are told */
}

struct worker {
    pid_t pid;
    char work[64];
    struct progress *progress;
};

static void start(struct worker *worker, const struct task *task, uint64_t first)
{
    worker->pid = fork();
    if (worker->pid < 0) {
        perror("fork");
        exit(1);
    }
    if (worker->pid == 0) {
        seeds.n_archives = seeds.n_journals = 0;
        work_on(task, worker->work, first, worker->progress);
    }
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

/* In memory, where the system has such a folder. */
static void make_work(char work[64])
{
    snprintf(work, 64, "%s/refrain-damage-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(work)) {
        perror(work);
        exit(1);
    }
}

struct counts {
    uint64_t crashes, hangs;
};

/* Of a process that has ended; it is started again behind the file that it ended with. */
static void take_end(struct worker *worker, int status, const struct task *task,
                     struct counts *counts)
{
    const uint64_t at = worker->progress->at;
    worker->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        exit(1);
    const bool hang = WIFSIGNALED(status) &&
                      (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF);
    counts->hangs += hang;
    counts->crashes += !hang;
    printf("number %llu: %s (damage -o %llu -s %llu)\n", (unsigned long long)at,
           hang ? "hangs" : "crashes", (unsigned long long)at, (unsigned long long)task->seed);
    fflush(stdout);
    if (at < task->n)
        start(worker, task, at + task->jobs);
}

static void wait_for_all(struct worker *workers, const struct task *task, struct counts *counts)
{
    int status;
    pid_t pid;
    while ((pid = wait(&status)) > 0) {
        for (unsigned i = 0; i < task->jobs; i++) {
            if (workers[i].pid == pid)
                take_end(&workers[i], status, task, counts);
        }
    }
}

static uint64_t print(const struct worker *workers, const struct task *task,
                      const struct counts *counts)
{
    uint64_t wrong = 0;
    printf("| damaged | refused | read in part | read whole |\n|---|---|---|---|\n");
    for (size_t kind = 0; kind < 4; kind++) {
        uint64_t found[FOUND] = {0};
        for (unsigned i = 0; i < task->jobs * FOUND; i++)
            found[i % FOUND] += workers[i / FOUND].progress->found[kind / 2][kind % 2][i % FOUND];
        printf("| %s | %llu | %llu | %llu |\n", kind_of(kind / 2, kind % 2),
               (unsigned long long)found[REFUSED], (unsigned long long)found[IN_PART],
               (unsigned long long)found[WHOLE]);
    }
    for (unsigned i = 0; i < task->jobs; i++)
        wrong += workers[i].progress->wrong;
    printf("%llu damaged files: %llu crashes, %llu hangs, %llu wrong answers\n",
           (unsigned long long)task->n, (unsigned long long)counts->crashes,
           (unsigned long long)counts->hangs, (unsigned long long)wrong);
    return wrong + counts->crashes + counts->hangs;
}

static int run_all(const struct task *task)
{
    struct worker workers[JOBS_MOST] = {{0}};
    struct counts counts = {0};
    struct progress *progress = mmap(NULL, JOBS_MOST * sizeof *progress, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < task->jobs; i++) {
        workers[i].progress = &progress[i];
        make_work(workers[i].work);
        start(&workers[i], task, i);
    }
    wait_for_all(workers, task, &counts);
    for (unsigned i = 0; i < task->jobs; i++)
        nftw(workers[i].work, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return print(workers, task, &counts) != 0;
}

static int run_one(const struct task *task, uint64_t number)
{
    struct progress progress = {0};
    char work[] = "damaged.journal";
    if (mkdir(work, 0700) < 0 && errno != EEXIST) {
        perror(work);
        return 1;
    }
    if (!open_seeds(task->folder, work))
        return 1;
    damage_one(number, task->seed, work, true, &progress);
    release_seeds();
    return progress.wrong != 0;
}

int main(int argc, char **argv)
{
    struct task task = {.n = 20000, .seed = 1, .jobs = 2};
    uint64_t only = UINT64_MAX;
    int option;
    while ((option = getopt(argc, argv, "n:s:j:o:")) != -1) {
        const unsigned long long number = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (option) {
        case 'n':
            task.n = number;
            break;
        case 's':
            task.seed = number;
            break;
        case 'j':
            task.jobs = number < 1 ? 1 : number > JOBS_MOST ? JOBS_MOST : (unsigned)number;
            break;
        case 'o':
            only = number;
            break;
        default:
            return 2;
        }
    }
    if (optind != argc - 1) {
        fprintf(stderr, "usage: damage [-n N] [-s SEED] [-j JOBS] [-o NUMBER] FOLDER\n");
        return 2;
    }
    task.folder = argv[optind];
    return only == UINT64_MAX ? run_all(&task) : run_one(&task, only);
}
