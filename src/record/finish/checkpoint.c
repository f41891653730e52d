#include "record/finish/checkpoint.h"

#include "archive/journal_format.h"
#include "base/arithmetic.h"
#include "base/system.h"
#include "base/whole_file.h"
#include "record/core/archive_file.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/pause.h"
#include "record/finish/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)

#ifdef RFN_FLAVOUR_SMPI
enum { RANKS_ARE_THREADS = 1 };
#else
enum { RANKS_ARE_THREADS = 0 };
#endif

enum { BY_DEFAULT_AFTER_MS = 60000, PAUSED_SHARE = 20, AGAIN_MS = 50 };

static struct {
    bool wanted;  /* a journal may be kept */
    bool failed;  /* it cannot be written any more */
    bool running; /* there is a thread */
    pid_t owner;
    pthread_t thread;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    bool ends; /* the thread is to come to its end */
    int64_t first_ms, every_ms;
    int64_t paused_ns; /* by the last checkpoint */
    uint64_t sequence; /* of the last checkpoint; 0: there is none */
    char host[256];
    char folder[PATH_MAX];
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the file ---- */

/* NULL: no memory. */
static char *name_of(uint64_t sequence)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s.%ld.%lld.%d" RFN_JOURNAL_CHECKPOINT "%u", own.folder, own.host,
                    (long)own.owner, (long long)(rec_start().realtime_ns / NS_PER_MS),
                    rec_job_rank(), (unsigned)(sequence % 2)) < 0
               ? NULL
               : path;
}

/* Never through a link. The older of the two is replaced. */
static int write_file(uint64_t sequence, const struct rfn_buf *bytes)
{
    char *path = name_of(sequence);
    if (!path)
        return RFN_E_NOMEM;
    const int flags = O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
    int fd = rfn_above_standard(open(path, flags, 0666));
    int error = fd < 0 ? RFN_E_IO : rfn_write_all(fd, bytes->data, bytes->size);
    if (fd >= 0 && close(fd) < 0 && errno != EINTR)
        error = RFN_E_IO;
    free(path);
    return error;
}

static bool has_folder(void)
{
    if (own.folder[0])
        return true;
    if (rec_journal_folder(own.folder, sizeof own.folder) < 0) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (rec_journal_make_folder(own.folder))
        return true;
    own.folder[0] = 0;
    return false;
}

/* ---- a checkpoint ---- */

/* The files of blocks as they are in this moment, by stream. NULL: no memory. */
static struct rfn_journal_file *files_of(size_t *n)
{
    *n = rec_streams ? rec_streams->number + 1 : 0;
    struct rfn_journal_file *files = calloc(*n + 1, sizeof *files);
    for (const struct rec_stream *stream = rec_streams; files && stream; stream = stream->next) {
        const struct rec_journal *journal = &stream->journal;
        const char *slash = journal->path ? strrchr(journal->path, '/') : NULL;
        files[stream->number] = (struct rfn_journal_file){.name = slash ? slash + 1 : "",
                                                          .bytes = journal->size,
                                                          .hash = rec_journal_hash(journal)};
    }
    return files;
}

static void pack(const struct rec_draft *draft, enum rfn_journal_state state,
                 struct rfn_journal_file *files, size_t n_files, struct rfn_buf *out)
{
    char archive[PATH_MAX] = "";
    rec_archive_name(archive, sizeof archive, rec_job_size(), 1);
    const struct rfn_journal_head head = {.rank = {.rank = (uint32_t)rec_job_rank(),
                                                   .ranks = (uint32_t)rec_job_size(),
                                                   .pid = (uint64_t)own.owner,
                                                   .host = own.host,
                                                   .start_realtime_ns = rec_start().realtime_ns,
                                                   .until_realtime_ns = draft->realtime_ns,
                                                   .state = state,
                                                   .times_lost = draft->times_lost},
                                          .archive = archive,
                                          .files = files,
                                          .n_files = n_files};
    rfn_journal_pack(out, own.sequence + 1, &head, draft->n_chunks, &draft->chunks);
}

/* With the streams held still. */
static int take(enum rfn_journal_state state, struct rfn_buf *out)
{
    struct rec_draft draft;
    size_t n_files = 0;
    if (rec_state != REC_RECORDING)
        return RFN_E_USAGE;
    int error = rec_finish_draft(&draft);
    struct rfn_journal_file *files = error ? NULL : files_of(&n_files);
    if (files)
        pack(&draft, state, files, n_files, out);
    rfn_buf_release(&draft.chunks);
    free(files);
    return error ? error : files ? rfn_buf_status(out) : RFN_E_NOMEM;
}

/* 0; 1: the streams do not hold still now; or an error. */
static int checkpoint(enum rfn_journal_state state)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    if (!has_folder())
        return RFN_E_IO;
    const int64_t began = rec_monotonic_ns();
    if (!rec_pause_begin())
        return 1;
    const unsigned arithmetic = rfn_arithmetic_begin();
    int error = take(state, &bytes);
    rfn_arithmetic_end(arithmetic);
    rec_pause_end();
    own.paused_ns = rec_monotonic_ns() - began;
    if (!error)
        error = write_file(own.sequence + 1, &bytes);
    rfn_buf_release(&bytes);
    own.sequence += !error;
    return error;
}

static void tell_failure(int error)
{
    char why[256];
    snprintf(why, sizeof why, "%s", error == RFN_E_IO ? strerror(errno) : rfn_error_text(error));
    own.failed = true;
    if (rec_state == REC_RECORDING)
        rec_message("rank %d: the journal cannot be written: %s; if the program is killed, what "
                    "follows is lost",
                    rec_job_rank(), why);
}

/* ---- the thread ---- */

static void wait_until(int64_t ns)
{
    const struct timespec when = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    pthread_cond_timedwait(&own.changed, &own.lock, &when);
}

static int64_t coarse_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *run(void *unused)
{
    (void)unused;
    rec_keep_out(true);
    int64_t next = coarse_ns() + own.first_ms * NS_PER_MS;
    pthread_mutex_lock(&own.lock);
    while (!own.ends && !own.failed) {
        if (coarse_ns() < next) {
            wait_until(next);
            continue;
        }
        const int error = checkpoint(RFN_JOURNAL_RUNNING);
        if (error < 0)
            tell_failure(error);
        int64_t pause = (error == 1 ? AGAIN_MS : own.every_ms) * NS_PER_MS;
        if (pause < own.paused_ns * PAUSED_SHARE)
            pause = own.paused_ns * PAUSED_SHARE;
        next = coarse_ns() + pause;
    }
    pthread_mutex_unlock(&own.lock);
    return NULL;
}

static bool make_thread(void)
{
    enum { STACK = 1 << 20 };
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool made = pthread_create(&own.thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return made;
}

static bool has_condition(void)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    const bool has = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                     pthread_cond_init(&own.changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return has;
}

void rec_checkpoints_start(void)
{
    if (RANKS_ARE_THREADS || own.wanted || !rec_options.journal || !rec_options.write ||
        rec_only_samples || rec_options.keeps)
        return;
    own.wanted = has_condition() && rec_pause_prepare();
    if (!own.wanted && rec_options.journal_asked && rec_job_is_first())
        rec_message("no journal is kept: this system cannot hold threads still (membarrier)");
    if (!own.wanted)
        return;
    own.owner = getpid();
    gethostname(own.host, sizeof own.host - 1);
    own.every_ms = rec_options.journal_ms;
    own.first_ms = rec_options.journal_asked ? own.every_ms : BY_DEFAULT_AFTER_MS;
    own.running = make_thread();
}

void rec_checkpoints_end(void)
{
    if (!own.running || own.owner != getpid())
        return;
    pthread_mutex_lock(&own.lock);
    own.ends = true;
    pthread_cond_signal(&own.changed);
    pthread_mutex_unlock(&own.lock);
    pthread_join(own.thread, NULL);
    own.running = false;
}

/* ---- the end ---- */

bool rec_checkpoint_last(enum rfn_journal_state state)
{
    struct rec_signals signals;
    if (!own.wanted || own.failed || own.owner != getpid() || rec_state != REC_RECORDING)
        return rec_checkpoint_is_there(); /* what there was before */
    rec_signals_hold(&signals);
    const bool kept_out = rec_keep_out(true);
    const int error = checkpoint(state);
    if (error < 0)
        tell_failure(error);
    rec_keep_out(kept_out);
    rec_signals_release(&signals);
    return rec_checkpoint_is_there();
}

bool rec_checkpoint_is_there(void)
{
    return own.sequence > 0 && own.owner == getpid();
}

const char *rec_checkpoint_folder(void)
{
    return own.folder;
}

void rec_checkpoints_remove(void)
{
    if (!own.folder[0] || own.owner != getpid())
        return;
    for (uint64_t i = 0; i < 2; i++) {
        char *path = name_of(i);
        if (path)
            unlink(path);
        free(path);
    }
    rmdir(own.folder);
    own.sequence = 0;
}
