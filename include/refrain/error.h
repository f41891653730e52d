/* error.h - how every public function of librefrain reports failure.
 *
 * Functions return 0 (or a count) on success and a negative enum rfn_error on failure. The code
 * says what kind of failure it was; a caller-owned struct rfn_diag, where a function takes one,
 * says where: which file, which offset, which rank, in words fit to print after "refrain: ".
 * The library never prints and never exits.
 */
#ifndef REFRAIN_ERROR_H
#define REFRAIN_ERROR_H

#pragma GCC visibility push(default)

#include <stdint.h>

/* One table of codes and texts. Values are part of the interface: add at the end only. */
#define RFN_ERRORS(X)                                 \
    X(NOMEM, "out of memory")                         \
    X(IO, "input or output failed")                   \
    X(CORRUPT, "the data are damaged")                \
    X(INCOMPLETE, "the file was cut short")           \
    X(VERSION, "the format version is not supported") \
    X(NOTFOUND, "not found")                          \
    X(EXISTS, "already exists")                       \
    X(RANGE, "out of range")                          \
    X(EXCHANGE, "communication between ranks failed") \
    X(UNSUPPORTED, "not supported")                   \
    X(USAGE, "wrong usage")

enum rfn_error {
    RFN_OK = 0,
    RFN_E_FIRST_ = -100, /* codes are RFN_E_FIRST_ + 1, + 2, ... */
#define RFN_X_(name, text) RFN_E_##name,
    RFN_ERRORS(RFN_X_)
#undef RFN_X_
        RFN_E_END_
};

/* Where and why a call failed. Zero-initialize; the callee fills it on failure only. */
struct rfn_diag {
    char text[512];      /* complete sentence without a final newline */
    int64_t file_offset; /* byte offset in the file, or -1 */
    int rank;            /* world rank concerned, or -1 */
};

/* Exit statuses of all verbs, and of the programs that verbs become. */
enum rfn_exit {
    RFN_EXIT_OK = 0,
    RFN_EXIT_FAILURE = 1,
    RFN_EXIT_USAGE = 2,     /* the command line is wrong */
    RFN_EXIT_BAD_INPUT = 3, /* a file is damaged or incomplete */
    RFN_EXIT_GATE = 4       /* a run is worse than the command line allows */
};

/* The exit status (enum rfn_exit) of a code; RFN_EXIT_OK for 0 and above. */
int rfn_exit_status(int error);

/* The text of a code, static; for 0 "success", for an unknown code "unknown error". */
const char *rfn_error_text(int error);

/* Fills diag (may be NULL) in the manner of printf and returns error. A failing function can end in
 * one statement: return rfn_fail(diag, RFN_E_CORRUPT, offset, rank, "...", ...); offset and rank
 * are -1 where they do not apply. */
int rfn_fail(struct rfn_diag *diag, int error, int64_t file_offset, int rank, const char *format,
             ...) __attribute__((format(printf, 5, 6)));

/* Forwards a failure of expr to the caller. */
#define RFN_TRY(expr)                \
    do {                             \
        int rfn_try_error_ = (expr); \
        if (rfn_try_error_ < 0)      \
            return rfn_try_error_;   \
    } while (0)

#pragma GCC visibility pop

#endif
