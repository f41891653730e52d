/* record_limits.h - what recording leaves out on request, as text: --include, --exclude,
 * --max-calls-per-second, --from and --until.
 *
 * Readers match messages by their order in a channel, requests by their order in a stream, and
 * collective calls by their order on a communicator. One of these calls that is missing in the
 * middle moves all pairs behind it. So only calls that are no part of such an order may be left
 * out: what asks or describes (MPI_Comm_rank, MPI_Type_*, MPI_Get_count), and polls without
 * success. A record that ends early is right: of each order its first part is there.
 */
#ifndef RFN_ARCHIVE_WRITE_RECORD_LIMITS_H
#define RFN_ARCHIVE_WRITE_RECORD_LIMITS_H

#include "reduce/samples/where.h"

enum rfn_may_leave {
    RFN_STAYS,
    RFN_MAY_BE_LEFT_OUT,
    RFN_FAILED_MAY_BE_LEFT_OUT /* polls without success */
};

/* Which calls of the function may be left out. */
enum rfn_may_leave rfn_may_be_left_out(const char *function);

/* Reads PATTERN[,...]: patterns of functions, path=PATTERN, file=PATTERN. The conditions are those
 * of --sample-where. *where is to be released, also after an error. RFN_E_USAGE: *diag says what is
 * wrong; RFN_E_NOMEM. */
int rfn_limited_calls_parse(const char *text, struct rfn_sample_where *where,
                            struct rfn_diag *diag);

/* Of FUNCTION:N[,...], which was checked: how many calls of the function stay per second; of
 * several patterns that fit the last one decides. UINT64_MAX: all. */
uint64_t rfn_limited_rate(const char *text, const char *function);
int rfn_limited_rates_check(const char *text, struct rfn_diag *diag); /* RFN_E_USAGE */

/* When recording ends, or begins. */
struct rfn_until {
    enum rfn_until_kind { RFN_UNTIL_TIME, RFN_UNTIL_SEGMENT, RFN_UNTIL_LEVEL } kind;
    int64_t number; /* ns since the start; of the segment, from 1; of MPI_Pcontrol */
};

/* Reads a time (10, 10s, 2min, 500ms), segment=N or level=N. false: it is none. */
bool rfn_until_parse(const char *text, struct rfn_until *until);
/* The same without a time. */
bool rfn_from_parse(const char *text, struct rfn_until *from);

#endif
