#include "record/finish/checkpoint.h"

#include "archive/journal_format.h"
#include "base/arithmetic.h"
#include "base/quiet_thread.h"
#include "base/system.h"
#include "base/whole_file.h"
#include "record/core/archive_file.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/pause.h"
#include "record/core/run_identity.h"
#include "record/finish/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    bool failed;  /* it cannot be written any more, */
    int why;      /* errno; 0: that was told, or it is something else */
    bool running; /* there is a thread that nobody waits for yet */
    pid_t owner;  /* the process; a child of fork leaves all alone */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, until the next line; never held for long */
    pthread_cond_t changed;
    bool ends, last;              /* the thread is to come to its end; after one more checkpoint, */
    enum rfn_journal_state state; /* which says this */
    int64_t first_ms, every_ms;
    int64_t paused_ns; /* by the last checkpoint */
    uint64_t sequence; /* of the last checkpoint; 0: there is none. Atomic */
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

/* Never through a link, nor to what is not a file of this user. The older of the two is replaced.
 * Another job that ends may remove a folder that is still empty. */
static int open_file(const char *path)
{
    enum { TRIES = 10 };
    const int flags = O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    struct stat status;
    int fd = rfn_above_standard(open(path, flags, 0666));
    for (int i = 0; fd < 0 && errno == ENOENT && i < TRIES && rec_journal_make_folder(own.folder);
         i++)
        fd = rfn_above_standard(open(path, flags, 0666));
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == geteuid() && status.st_nlink == 1))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

static int write_file(uint64_t sequence, const struct rfn_buf *bytes)
{
    char *path = name_of(sequence);
    if (!path)
        return RFN_E_NOMEM;
    const int fd = open_file(path);
    int error = fd < 0 ? RFN_E_IO : rfn_write_all(fd, bytes->data, bytes->size);
    own.why = error ? errno : 0;
    if (fd >= 0 && close(fd) < 0 && errno != EINTR && !error) {
        own.why = errno;
        error = RFN_E_IO;
    }
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
                                                   .times_lost = draft->times_lost,
                                                   .run = rec_run_identity()},
                                          .archive = archive,
                                          .files = files,
                                          .n_files = n_files};
    rfn_journal_pack(out, own.sequence + 1, &head, draft->n_chunks, &draft->chunks);
}

/* A checkpoint names blocks that are in files. */
static int flush_journals(void)
{
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        RFN_TRY(rec_journal_flush(&stream->journal));
    return 0;
}

/* With the streams held still. */
static int take(enum rfn_journal_state state, struct rfn_buf *out)
{
    struct rec_draft draft;
    size_t n_files = 0;
    if (rec_state != REC_RECORDING)
        return RFN_E_USAGE;
    int error = rec_finish_draft(&draft);
    if (error == RFN_E_NOMEM)
        rec_stop("out of memory"); /* a stream may have lost events */
    if (!error)
        error = flush_journals();
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
    if (!has_folder()) {
        own.why = errno;
        return RFN_E_IO;
    }
    const int64_t began = rec_monotonic_ns();
    if (!rec_pause_begin()) {
        own.paused_ns = rec_monotonic_ns() - began;
        return 1;
    }
    const unsigned arithmetic = rfn_arithmetic_begin();
    int error = take(state, &bytes);
    rfn_arithmetic_end(arithmetic);
    rec_pause_end();
    own.paused_ns = rec_monotonic_ns() - began;
    if (!error)
        error = write_file(own.sequence + 1, &bytes);
    rfn_buf_release(&bytes);
    if (!error)
        __atomic_store_n(&own.sequence, own.sequence + 1, __ATOMIC_RELEASE);
    return error;
}

/* What has stopped the recording, or kept blocks from being written, was told by others. */
static void note_failure(void)
{
    own.failed = true;
    if (own.why)
        rec_message("rank %d: the journal cannot be written: %s; if the program is killed, what "
                    "follows is lost",
                    rec_job_rank(), strerror(own.why));
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

/* Makes a checkpoint; *next: when the next one is due. */
static void save(int64_t *next)
{
    const int error = checkpoint(RFN_JOURNAL_RUNNING);
    if (error < 0)
        note_failure();
    int64_t pause = (error == 1 ? AGAIN_MS : own.every_ms) * NS_PER_MS;
    if (pause < own.paused_ns * PAUSED_SHARE)
        pause = own.paused_ns * PAUSED_SHARE;
    *next = coarse_ns() + pause;
}

/* Tries more often, as there is no time later. */
static void save_last(void)
{
    enum { TRIES = 10 };
    int error = 1;
    for (int i = 0; i < TRIES && error == 1; i++)
        error = checkpoint(own.state);
    if (error < 0)
        note_failure();
}

static void *run(void *unused)
{
    (void)unused;
    rec_keep_out(true);
    int64_t next = coarse_ns() + own.first_ms * NS_PER_MS;
    pthread_mutex_lock(&own.lock);
    while (!own.ends) {
        if (own.failed || coarse_ns() < next) {
            wait_until(own.failed ? coarse_ns() + BY_DEFAULT_AFTER_MS * NS_PER_MS : next);
            continue;
        }
        pthread_mutex_unlock(&own.lock);
        save(&next);
        pthread_mutex_lock(&own.lock);
    }
    const bool last = own.last && !own.failed;
    pthread_mutex_unlock(&own.lock);
    if (last)
        save_last();
    return NULL;
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
    own.running = rfn_quiet_thread(&own.thread, run, NULL);
    if (!own.running && rec_options.journal_asked && rec_job_is_first())
        rec_message("no journal is kept: the system gives the recorder no thread");
}

/* Has the thread come to its end, with one more checkpoint if `last`. Only the first caller waits
 * for it. limit_s: no longer than that; a program may exit from a signal's handler, which has come
 * at whatever moment. */
static void end_thread(bool last, enum rfn_journal_state state, int limit_s)
{
    struct timespec until;
    if (own.owner != getpid() || !__atomic_exchange_n(&own.running, false, __ATOMIC_ACQ_REL))
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += limit_s;
    if (pthread_mutex_timedlock(&own.lock, &until) != 0)
        return;
    own.ends = true;
    own.last = last;
    own.state = state;
    pthread_cond_signal(&own.changed);
    pthread_mutex_unlock(&own.lock);
    pthread_timedjoin_np(own.thread, NULL, &until);
}

void rec_checkpoints_end(void)
{
    enum { LIMIT_S = 600 }; /* a disk may be slow */
    end_thread(false, RFN_JOURNAL_RUNNING, LIMIT_S);
}

/* ---- the end ---- */

bool rec_checkpoint_last(enum rfn_journal_state state)
{
    enum { LIMIT_S = 5 };
    struct rec_signals signals;
    rec_signals_hold(&signals);
    end_thread(true, state, LIMIT_S);
    rec_signals_release(&signals);
    return rec_checkpoint_is_there();
}

bool rec_checkpoint_is_there(void)
{
    return __atomic_load_n(&own.sequence, __ATOMIC_ACQUIRE) > 0 && own.owner == getpid();
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
