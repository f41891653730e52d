#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getdents64, sched_getaffinity */
#endif

#include "record/core/core_windows.h"

#include "base/system.h"
#include "record/core/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 1024 }; /* of a process that are looked at */
enum { MASK_BYTES = 1024, LIST_BYTES = 4096, PATH_BYTES = 32 };

struct thread {
    int id;
    uint64_t waited_ns;
};

static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

static struct {
    bool known; /* whether the system tells; rec_core_windows_look reads it without the mutex */
    bool over;  /* the last one has ended */
    uint64_t since_ns, every_ns, cpu_ns;
    struct thread threads[THREADS]; /* as of the last look, in the system's order */
    size_t n_threads;
    struct rfn_core_window windows[REC_CORE_WINDOWS];
    size_t n;
    uint8_t mask[MASK_BYTES]; /* of all threads together */
    uint32_t omp_threads;
} cores;

/* ---- what the system tells ---- */

bool rec_schedstat_read(int folder, const char *path, struct rec_schedstat *stat)
{
    char text[96];
    const int file = rfn_above_standard(openat(folder, path, O_RDONLY | O_CLOEXEC));
    const ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (n <= 0)
        return false;
    text[n] = 0; /* "ran, waited, turns" */
    char *waited, *end;
    stat->ran_ns = strtoull(text, &waited, 10);
    stat->waited_ns = strtoull(waited, &end, 10);
    return waited > text && end > waited;
}

uint64_t rec_cpu_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void add_affinity(int thread)
{
    unsigned long mask[MASK_BYTES / sizeof(unsigned long)] = {0};
    enum { BITS = 8 * sizeof *mask };
    if (sched_getaffinity(thread, sizeof mask, (cpu_set_t *)mask) < 0)
        return;
    for (size_t core = 0; core < 8 * MASK_BYTES; core++)
        cores.mask[core / 8] |= (uint8_t)((mask[core / BITS] >> core % BITS & 1) << core % 8);
}

/* ---- looking ---- */

/* What a thread had waited by the last look: they come in the same order as then. */
static uint64_t waited_before(const struct thread *before, size_t n, size_t *at, int id)
{
    for (size_t i = 0; i < n; i++) {
        const size_t k = (*at + i) % n;
        if (before[k].id != id)
            continue;
        *at = k + 1;
        return before[k].waited_ns;
    }
    return 0;
}

struct look {
    struct thread now[THREADS];
    size_t n, at;
    uint64_t waited_ns, ran_ns; /* the first since the last look */
    bool affinity;
};

static void look_at(struct look *look, int folder, const char *name)
{
    char path[PATH_BYTES];
    struct rec_schedstat stat;
    const int id = atoi(name);
    if (id <= 0 || look->n == THREADS)
        return;
    snprintf(path, sizeof path, "%d/schedstat", id);
    if (!rec_schedstat_read(folder, path, &stat))
        return;
    const uint64_t before = waited_before(cores.threads, cores.n_threads, &look->at, id);
    look->waited_ns += stat.waited_ns > before ? stat.waited_ns - before : 0;
    look->ran_ns += stat.ran_ns;
    look->now[look->n++] = (struct thread){id, stat.waited_ns};
    if (look->affinity)
        add_affinity(id);
}

/* All threads. What they waited since the last look; negative: the system does not tell. */
static int64_t look_at_all(bool affinity)
{
    static struct look look;
    _Alignas(struct dirent64) char list[LIST_BYTES];
    const int folder = rfn_above_standard(
        open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    look.n = look.at = look.waited_ns = look.ran_ns = 0;
    look.affinity = affinity;
    ssize_t n;
    while (folder >= 0 && (n = getdents64(folder, list, sizeof list)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(list + at);
            look_at(&look, folder, entry->d_name);
            at += entry->d_reclen;
        }
    }
    if (folder >= 0)
        close(folder);
    memcpy(cores.threads, look.now, look.n * sizeof *look.now);
    cores.n_threads = look.n;
    return look.ran_ns ? (int64_t)look.waited_ns : -1; /* a system that does not count says 0 */
}

static void join_windows(void)
{
    for (size_t i = 0; i < REC_CORE_WINDOWS / 2; i++) {
        const struct rfn_core_window *two = &cores.windows[2 * i];
        cores.windows[i] = (struct rfn_core_window){two[0].wall_ns + two[1].wall_ns,
                                                    two[0].on_core_ns + two[1].on_core_ns,
                                                    two[0].runnable_ns + two[1].runnable_ns};
    }
    cores.n = REC_CORE_WINDOWS / 2;
    cores.every_ns *= 2;
}

/* What passed between two readings of a clock, which may jump: no less than nothing, nor weeks. */
static uint64_t passed(uint64_t from_ns, uint64_t to_ns)
{
    const uint64_t most_ns = UINT64_C(1) << 50;
    return to_ns < from_ns ? 0 : to_ns - from_ns < most_ns ? to_ns - from_ns : most_ns;
}

static void end_window(uint64_t now_ns, bool last)
{
    const uint64_t cpu_ns = rec_cpu_ns();
    const int64_t waited_ns = look_at_all(last);
    const uint64_t took_ns = passed(now_ns, (uint64_t)rec_monotonic_ns());
    if (waited_ns < 0) {
        __atomic_store_n(&cores.known, false, __ATOMIC_RELAXED);
        return;
    }
    if (cores.n == REC_CORE_WINDOWS)
        join_windows();
    cores.windows[cores.n++] = (struct rfn_core_window){passed(cores.since_ns, now_ns),
                                                        passed(cores.cpu_ns, cpu_ns),
                                                        passed(0, (uint64_t)waited_ns)};
    cores.since_ns = now_ns;
    cores.cpu_ns = cpu_ns;
    if (took_ns * REC_WINDOW_COST > cores.every_ns)
        cores.every_ns = took_ns * REC_WINDOW_COST;
}

void rec_core_windows_start(void)
{
    const char *omp = getenv("OMP_NUM_THREADS");
    const long threads = omp ? strtol(omp, NULL, 10) : 0; /* the first of a list */
    cores.omp_threads = threads > 0 && threads <= UINT16_MAX ? (uint32_t)threads : 0;
    cores.every_ns = REC_WINDOW_NS;
    cores.since_ns = (uint64_t)rec_monotonic_ns();
    cores.cpu_ns = rec_cpu_ns();
    __atomic_store_n(&cores.known, look_at_all(true) >= 0, __ATOMIC_RELAXED);
}

void rec_core_windows_look(void)
{
    const int error = errno;
    if (!__atomic_load_n(&cores.known, __ATOMIC_RELAXED) || pthread_mutex_trylock(&looking) != 0)
        return;
    const uint64_t now_ns = (uint64_t)rec_monotonic_ns();
    if (cores.known && !cores.over && now_ns >= cores.since_ns + cores.every_ns)
        end_window(now_ns, false);
    pthread_mutex_unlock(&looking);
    errno = error;
}

void rec_core_windows_end(void)
{
    pthread_mutex_lock(&looking);
    if (cores.known)
        end_window((uint64_t)rec_monotonic_ns(), true);
    cores.over = true;
    pthread_mutex_unlock(&looking);
}

struct rfn_process_cores rec_process_cores(void)
{
    struct rfn_process_cores of = {.mask = cores.mask,
                                   .mask_bytes = MASK_BYTES,
                                   .omp_threads = cores.omp_threads,
                                   .windows = cores.windows,
                                   .n_windows = cores.known ? cores.n : 0};
    while (of.mask_bytes > 0 && !cores.mask[of.mask_bytes - 1])
        of.mask_bytes--;
    return of;
}
