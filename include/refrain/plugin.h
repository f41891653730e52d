/* plugin.h - expressions for parameters that differ from rank to rank, from a function of yours.
 *
 *     refrain reduce --cluster --plugin ./mine.so app.rfn -o app.small.rfn
 *     refrain info --clusters --plugin ./mine.so app.rfn
 *
 * A plug-in is a shared object (cc -shared -fPIC -o mine.so mine.c) with one function,
 * refrain_expression. It is called for each parameter that differs between ranks and for which
 * Refrain has no expression itself, with the values of all ranks concerned, and writes the text of
 * an expression in r and n that may give them, "(r * 2) % n" (refrain-reduce(1), EXPRESSIONS). What
 * it writes is checked against all values; one that does not fit does no harm. Archives keep the
 * text, so they can be read without the plug-in.
 *
 * The function is called in the process of the tool, by one thread. It is given everything by
 * reference, for the time of the call.
 */
#ifndef REFRAIN_PLUGIN_H
#define REFRAIN_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REFRAIN_PLUGIN_VERSION = 1 };

/* What a rank passes. */
struct refrain_value {
    uint32_t rank, size; /* r and n: the rank in the communicator that the parameter is about (the
                            call's where it is a rank, else MPI_COMM_WORLD), and its size */
    int64_t value;       /* of ranks: in the communicator; MPI_PROC_NULL is -2 */
};

struct refrain_parameter {
    uint32_t version;     /* REFRAIN_PLUGIN_VERSION; a later one may have more at the end */
    uint32_t reserved;    /* 0 */
    const char *function; /* "MPI_Send"; "" where it is of no single call (role comm) */
    const char *name;     /* as in the MPI standard: "dest" */
    const char *role;     /* "peer" (a partner), "root", "count" (elements or bytes), "exact"
                             (datatype, operation), "comm" (a number of the archive), "place"
                             (colour, key, displacement), "tag", "other"; "range" (the least or
                             largest distance of partners, where there are too many) */
    size_t n;             /* at least 2 */
    const struct refrain_value *values; /* n, in no order that matters */
};

/* Writes an expression to text, at most `size` bytes with a zero byte at the end, and returns its
 * length without that; 0 or less: there is none. A function that writes with snprintf may return
 * its result: a text that has no room is none. */
int refrain_expression(const struct refrain_parameter *parameter, char *text, size_t size)
    __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#endif
