/* snapshots.h - a process beside a job that takes snapshots of it: `refrain record
 * --snapshot-every`.
 *
 * The program must not notice it, nor may its launcher wait for it. So this process forks twice
 * before it becomes the program, and waits for the first child: the second one is an orphan, which
 * no wait() of the program can see. It has a session of its own, none of the job's files, the
 * lowest priority, and is not bound to the cores of its rank. What it has of the job is a
 * descriptor of the process that becomes the program (pidfd_open(2)), and it ends with that one,
 * however that ends; and its number, by which it finds the job's journals among those of others.
 */
#ifndef RFN_CLI_LAUNCH_SNAPSHOTS_H
#define RFN_CLI_LAUNCH_SNAPSHOTS_H

#include "refrain/error.h"

/* Where a snapshot goes unless something else is said, "app.4.snapshot.rfn" of "app.4.rfn"; to be
 * freed. NULL: no memory. */
char *rfn_snapshot_name(const char *archive);

struct rfn_snapshots {
    const char *folder; /* of the journals; from the root, and so is */
    const char *output;
    const char *every; /* as it was given */
};

/* Starts the process. RFN_E_UNSUPPORTED, RFN_E_IO: it cannot be, and diag says why. */
int rfn_snapshots_start(const struct rfn_snapshots *asked, struct rfn_diag *diag);

#endif
