/* profile.h - where the time and the bytes of a run go: all that `refrain report` prints, beside
 * why ranks wait (waits.h).
 *
 * One pass over all events gives, per call path, counts, times and bytes; per rank, time inside
 * MPI; the sizes of messages; and the messages and bytes of each pair of ranks.
 *
 * - Run time T: from the first enter of Init to the last exit of Finalize; where one of them is
 *   missing, from the first or to the last event.
 * - Main part: from the last end of Init to the first begin of Finalize; the part before is the
 *   start, the part behind the end. Where there is no such time, or nobody has looked for waits, it
 *   is the whole run.
 * - Time inside MPI of a rank: of all its threads together; of a run of unsuccessful polls the time
 *   inside the calls, without the program's work in between. Time in between counts, too, as far as
 *   the wait analysis (refrain/waits.h), if it is made on the way, finds that it was waiting.
 * - Time outside MPI of a rank: between the calls of its threads. Time before its own Init, when it
 *   was launched later than others, is not known to be work and is neither.
 * - Where the program had recording switched off (MPI_Pcontrol), what a rank did between its
 *   recorded events is not known: that time is neither inside nor outside of MPI.
 * - Regions: from begin to end, with everything inside, regions too, but without time that was not
 *   recorded. A region inside of itself counts once. Of a rank, the sum over its threads.
 * - Messages are counted where they are sent: by a send, the sending half of Sendrecv, a start of a
 *   persistent send. Sends to MPI_PROC_NULL are none.
 * - One-sided operations are counted apart, where the origin calls them, with the bytes that go to
 *   the target and the bytes that come from it.
 * - Volumes (what a counter counted, rfn_run.volume): inside of MPI, and outside of it, where the
 *   count of a thread since its event before goes to the call path that comes next.
 * - Bytes received through a request count when it completes, whichever thread completes it, for
 *   the call path that made it.
 */
#ifndef REFRAIN_PROFILE_H
#define REFRAIN_PROFILE_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

/* A sum of nanoseconds per rank, over the ranks that have one. */
struct rfn_spread {
    int64_t total_ns, min_ns, max_ns;
    uint32_t min_rank, max_rank; /* the lowest that has the minimum, the maximum */
    uint32_t ranks;
};

enum { RFN_LONG_NS = 1000000 };

/* A call path: a function and where it was called from. */
struct rfn_profile_row {
    uint32_t function, path;
    uint64_t events, calls; /* a run of unsuccessful polls is one event */
    struct rfn_spread time; /* inside MPI */
    int64_t waiting_ns;     /* of it for others, where waits were looked for */
    int64_t min_ns, max_ns; /* of single events */
    uint32_t max_rank;      /* which had the longest */
    uint64_t long_events;   /* that took longer than RFN_LONG_NS, */
    int64_t long_ns;        /* and how long together */
    /* In runs of unsuccessful polls, outside of the calls, where it is not known to be waiting. */
    int64_t between_polls_ns;
    uint64_t bytes; /* rfn_volume_bytes of its events */
    uint64_t sent_bytes, received_bytes;
    uint64_t volume_before, volume_inside; /* of streams that have volumes, else 0 */
};

#define RFN_NO_REGION UINT32_MAX

/* A region of the program (refrain/region.h). */
struct rfn_region_row {
    const char *name; /* the archive's */
    uint64_t visits;
    uint64_t
        unrecorded; /* calls of the function of that name that were switched off, beside visits */
    struct rfn_spread time, mpi; /* in it; of that inside MPI, */
    struct rfn_spread outside;   /* and outside */
    uint64_t messages;           /* sent in it */
    /* Of all ranks for others in it, where waits were looked for. Time that is known to be waiting
     * only after the call counts where the rank is then. */
    int64_t waiting_ns;
};

struct rfn_profile_rank {
    int64_t mpi_ns;             /* inside MPI, setup included */
    int64_t setup_ns;           /* inside Init, Finalize and sessions */
    int64_t span_ns;            /* from the first enter to the last exit, of each thread, summed */
    int64_t unrecorded_ns;      /* between events, while recording was off: part of span_ns */
    int64_t main_unrecorded_ns; /* of that: in the main part of the run */
    int64_t recording_ns;       /* the recorder's own work between calls: part of span_ns */
    int64_t main_outside_ns;    /* outside MPI, in the main part of the run */
    uint32_t threads;           /* that could be read, in part at least */
    uint64_t events, calls;
    uint64_t messages;         /* sent */
    uint64_t sent_bytes;       /* in messages */
    uint64_t collective_bytes; /* rfn_volume_bytes of collectives */
    uint64_t accesses;         /* one-sided operations */
    uint64_t accessed_bytes;   /* in them, to and from the target */
    uint32_t counted;          /* threads that have volumes: */
    uint64_t volume_outside;   /* outside MPI */
    uint64_t volume_mpi;       /* inside, setup included */
    uint64_t volume_setup;
};

/* Messages of 0 bytes are in bin 0, of 2^(k-1) to 2^k - 1 bytes in bin k. */
enum { RFN_SIZE_BINS = 65 };

struct rfn_size_bin {
    uint64_t count, bytes;
};

/* What one rank sent to another, or put into its memory and got from there; ranks of
 * MPI_COMM_WORLD. */
struct rfn_pair {
    uint32_t source, dest;
    uint64_t messages, bytes;
};

struct rfn_profile {
    uint32_t n_ranks;
    bool times;
    int64_t start_ns, end_ns;         /* T = end_ns - start_ns */
    int64_t main_from_ns, main_to_ns; /* the main part */
    bool end_counts; /* it goes on to the last begin of MPI_Finalize: waits there are part of it */
    const char *region;     /* the only one that rows, ranks, messages and sizes are about: a rank's
                               span is its time in it (the archive's; NULL: all) */
    uint64_t events, calls; /* events include the events of regions, calls do not */
    uint64_t region_events;
    uint64_t failed_polls; /* unsuccessful polls, all of a run counted */
    struct rfn_profile_rank *ranks;
    struct rfn_profile_row *rows; /* most time first; without times most bytes, then calls, first */
    size_t n_rows;
    struct rfn_size_bin point_to_point[RFN_SIZE_BINS]; /* messages, as sent */
    struct rfn_size_bin collective[RFN_SIZE_BINS];     /* calls that move data, per rank */
    struct rfn_size_bin one_sided[RFN_SIZE_BINS];      /* operations, to and from the target */
    struct rfn_pair *pairs;                            /* in order of (source, dest) */
    size_t n_pairs;
    struct rfn_pair *accesses; /* one-sided: from origin to target, whichever way bytes went */
    size_t n_accesses;
    struct rfn_region_row *regions; /* most time first; without times most visits first */
    size_t n_regions;
    bool paused;           /* recording was off for a part of the run */
    int64_t unrecorded_ns; /* of all ranks, */
    int64_t recording_ns;  /* likewise */
    uint32_t unreadable;   /* streams that could not be read in full */
    int error;             /* why the lowest of them could not, 0 if all could */
    struct rfn_diag diag;  /* what goes with error */
};

/* Makes the profile; *profile is to be freed. (rfn_waits_new makes it on its way:
 * rfn_waits_options.) Streams that cannot be read, or only in part, count as far as they go, and
 * `unreadable` says how many there are. progress (may be NULL) is told the share done, 0 to 1.
 * Errors: RFN_E_NOMEM. */
int rfn_profile_new(const struct rfn_archive *archive,
                    void (*progress)(void *context, double share), void *context,
                    struct rfn_profile **profile, struct rfn_diag *diag);
void rfn_profile_free(struct rfn_profile *profile);

/* Time of a rank in which the program is known to be outside of MPI. */
static inline int64_t rfn_profile_outside_ns(const struct rfn_profile_rank *rank)
{
    return rank->span_ns - rank->mpi_ns - rank->unrecorded_ns - rank->recording_ns;
}

/* Efficiency of the main part of the run, in the multiplicative model of POP: with C the time of a
 * rank outside MPI (main_outside_ns) and T the time of the main part, load balance = mean C / max
 * C, communication efficiency = max C / T, parallel efficiency = their product, mean C / T. Of a
 * rank with several threads, T counts once for each. Time that was not recorded is taken off T. All
 * are 0 when there are no times. */
struct rfn_efficiency {
    double mpi_share;   /* of the whole run: time inside MPI over the time of all ranks */
    double setup_share; /* the part of it that Init, Finalize and sessions take */
    double load_balance, communication, parallel;
    int64_t mean_outside_ns, min_outside_ns, max_outside_ns;
    uint32_t min_outside_rank, max_outside_rank; /* the lowest */
    int64_t all_ns; /* of all ranks, in the main part: T times the number of threads, without time
                       that was not recorded */
};
/* Takes the whole run as its main part. */
void rfn_profile_take_whole(struct rfn_profile *profile);
struct rfn_efficiency rfn_profile_efficiency(const struct rfn_profile *profile);

#pragma GCC visibility pop

#endif
