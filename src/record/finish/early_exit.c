#include "record/finish/early_exit.h"

#include "record/core/attendance.h"
#include "record/core/job.h"
#include "record/core/launch_checks.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/recorder.h"
#include "record/finish/checkpoint.h"
#include "refrain/shell_word.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checkpoints first: one that is there never names blocks that are not (archive/merge/journals.c).
 */
static void remove_all(void)
{
    rec_checkpoints_remove();
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        rec_journal_remove(&stream->journal);
}

/* The folder as the user would name it; one thread asks, at the end. */
static const char *folder(void)
{
    static char word[REC_MESSAGE];
    const char *path = rec_checkpoint_folder(), *directory = rec_options.directory;
    const size_t length = directory ? strlen(directory) : 0;
    if (length && strncmp(path, directory, length) == 0 && path[length] == '/')
        path += length + 1;
    return rfn_shell_word(path, word, sizeof word);
}

void rec_journals_end(bool has_archive)
{
    if (has_archive || !rec_checkpoint_is_there())
        remove_all();
    else if (rec_job_is_first())
        rec_message("what was recorded until a moment ago is in %s%s; next: refrain recover %s",
                    folder(), rec_options.journal_directory ? " of each node" : "", folder());
}

bool rec_journals_abort(void)
{
    if (!rec_checkpoint_is_there() || !rec_checkpoint_last(RFN_JOURNAL_ABORTED))
        return false;
    rec_state = REC_FINISHED;
    rec_message("rank %d called MPI_Abort; next: refrain recover %s", rec_job_rank(), folder());
    return true;
}

static void tell_end(void)
{
    if ((long)getpid() != rec_process())
        return;
    if (rec_state == REC_FINISHED || rec_state == REC_ASLEEP || !rec_streams)
        return;
    const bool saved = rec_checkpoint_last(RFN_JOURNAL_EXITED);
    if (rec_job_is_first() && saved)
        rec_message("the program ended without MPI_Finalize; next: refrain recover %s", folder());
    else if (rec_job_is_first())
        rec_message("the program ended without MPI_Finalize; nothing was recorded");
    if (!saved)
        remove_all();
    rec_attendance_end();
}

#ifdef RFN_FLAVOUR_SMPI /* which may unload the program before the process exits */
__attribute__((destructor)) static void at_exit(void)
{
    tell_end();
}
#else
/* Whether all that was recorded are regions. */
static bool has_called_no_mpi(void)
{
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        for (uint32_t site = 0; site < rec_sites_count(&stream->sites); site++) {
            if (rfn_class_is_mpi(rec_functions[rec_sites_function(&stream->sites, site)].class_))
                return false;
        }
    }
    return true;
}

__attribute__((destructor)) static void at_exit(void)
{
    if (rec_state == REC_ASLEEP || (rec_state == REC_RECORDING && has_called_no_mpi()))
        rec_launch_check_unused();
}

static void after_exit(int status, void *unused)
{
    (void)status, (void)unused;
    tell_end();
}

/* MPI may end in a destructor of a library, which may come after the one here. What is registered
 * before main, and belongs to no library as atexit's functions do, comes after all destructors. It
 * must not look for libraries: dlopen would start those again that have ended. */
__attribute__((constructor)) static void wait_for_exit(void)
{
    on_exit(after_exit, NULL);
}
#endif
