/* recording.h - the wishes for a recording, checked before the program starts.
 *
 * `refrain record` hands these wishes to the recorder as text, in environment variables. The
 * recorder reads them with these same functions. So a mistake, or a machine that lacks something,
 * shows at once and not after the run.
 */
#ifndef REFRAIN_RECORDING_H
#define REFRAIN_RECORDING_H

#pragma GCC visibility push(default)

#include "refrain/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The finest resolution of time stamps that can be asked for, and the coarsest. */
enum { RFN_RESOLUTION_MIN_NS = 1, RFN_RESOLUTION_MAX_NS = 1000000000 };

/* Reads a resolution: a whole number and a unit, ns, us, ms or s, as in "50ns". Returns it in ns,
 * 0 if it is not one or is outside of the limits above. */
uint64_t rfn_resolution_parse(const char *text);

/* Reads a size: a number of bytes, or of units of 1024, as in "32M" (K, M, G, T). 0: it is none, or
 * below 1 MiB. */
uint64_t rfn_size_parse(const char *text);

/* Which frames of a call path make it: paths that agree in these are one. inner 0: all frames. */
struct rfn_path_ends {
    uint32_t outer; /* so many of the outermost frames, from main on */
    uint32_t inner; /* so many of the innermost, from the call of MPI on */
};

/* Reads "all", "ends" (which is ends:1,1) or "ends:OUTER,INNER". INNER is at least 1, both are at
 * most 1000. false: it is none of these; all frames then. */
bool rfn_path_match_parse(const char *text, struct rfn_path_ends *ends);

/* The limits of the assumptions that --keep-predictions keeps: about computations and calls of at
 * least `ns`, and messages of at least `bytes`. */
struct rfn_kept_limits {
    int64_t ns, bytes;
};

/* Reads "1ms" or "1ms,64K": a time from 1ns to 1s, and a size of bytes or of units of 1024 (K, M,
 * G; 64K if it is not told). false: it is neither. */
bool rfn_kept_limits_parse(const char *text, struct rfn_kept_limits *limits);

/* How often the ranks of a run merge while it goes on: each time one has executed so many segments,
 * or after so long. One of them is 0; both: never. */
struct rfn_every {
    uint64_t segments, ns;
};

/* Reads a number of segments from 1 to 10^9, as "1000", or of seconds below 1000001, as "30s" or
 * "0.5s". false: it is neither; never then. */
bool rfn_every_parse(const char *text, struct rfn_every *every);

/* How often a snapshot of a running job is taken, as "60s" or "0.5s": from 0.1s to 1000000s, in ns.
 * 0: it is not that. */
uint64_t rfn_snapshot_interval_parse(const char *text);
#define RFN_SNAPSHOT_INTERVALS "a time in seconds from 0.1s, as in 60s or 0.5s"

/* The most bytes that the times of a thread may take in a run of so many ranks. When one thread
 * takes more, --time=auto reduces the times of all. */
static inline uint64_t rfn_short_times(uint32_t ranks)
{
    const uint64_t most = UINT64_C(1) << 20, share = (UINT64_C(64) << 20) / (ranks ? ranks : 1);
    return share < most ? share + !share : most;
}

/* Whether times of segments can be compared in this way, METHOD or METHOD:THRESHOLD, as in
 * "avgWave:0.2" (doc/trace-profiling.md): 0, or RFN_E_USAGE, and *diag lists the ways. */
int rfn_similarity_check(const char *text, struct rfn_diag *diag);

/* How processes are compared, as METHOD:THRESHOLD. given: METHOD, METHOD:THRESHOLD, or a threshold
 * alone, with the method of `similar`; "" is that method with its default. "one" stays as it is:
 * the times of one process stand for all that executed the same segments. "all" gives no text: each
 * process keeps its own. 0, or RFN_E_USAGE, and *diag lists the ways; then text is empty. */
enum { RFN_ACROSS_TEXT = 64 };
int rfn_across_text(const char *given, const char *similar, char text[RFN_ACROSS_TEXT],
                    struct rfn_diag *diag);

/* Whether a name is that of a volume: cpu, instructions, or papi:EVENT with an event of PAPI's.
 * Whether this machine can count it is another question. */
bool rfn_volume_known(const char *name);

/* The unit of a volume: "ns", "instructions", or "" for plain numbers of events. */
const char *rfn_volume_unit(const char *name);

/* Counts for a moment in the calling thread, which tells whether this machine can: 0,
 * RFN_E_USAGE when there is no such volume, RFN_E_UNSUPPORTED when it cannot be counted here. */
int rfn_volume_probe(const char *name, struct rfn_diag *diag);

/* The volume that --time-independent counts here: instructions where this machine counts them, else
 * cpu. */
const char *rfn_volume_preferred(void);

/* Whether a list of patterns takes a function: PATTERN[,!PATTERN...], with * for any characters and
 * ? for one. The last pattern that fits decides: with ! the function is left out. A function that
 * none fits is left out too, unless the first pattern has a !. The patterns are held against both
 * names, the one that the programmer wrote and the one that the linker sees; either may be NULL. */
bool rfn_function_wanted(const char *patterns, const char *name, const char *linker_name);
/* Whether text is such a list: at least one pattern, and none of them empty. */
bool rfn_function_patterns(const char *text);

/* Calls per second at which functions are switched off, in text: a number from 1 to 10^9, or
 * "none", which is UINT64_MAX. 0: neither. */
uint64_t rfn_function_rate_parse(const char *text);

#pragma GCC visibility pop

#endif
