/* pick_job.h - the job that a command line names, of those that sample on this node. */
#ifndef RFN_CLI_LIVE_PICK_JOB_H
#define RFN_CLI_LIVE_PICK_JOB_H

#include "refrain/live.h"

/* The processes of a job, in order of rank: a part of a list, borrowed. */
struct rfn_picked {
    const struct rfn_live_process *processes;
    size_t n;
};

/* The job that begins at a place of the list. */
struct rfn_picked rfn_job_at(const struct rfn_live_list *list, size_t first);

/* The job of a name: of a job (or of its archive), else of a program, else the number of one of its
 * processes. 0, or the exit status after telling why there is none, or that there are several. */
int rfn_pick_job(const struct rfn_live_list *list, const char *name, struct rfn_picked *picked);

/* Tells of files that cannot be read; nothing where there are none. */
void rfn_tell_unreadable(const struct rfn_live_list *list);

#endif
