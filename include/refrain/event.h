/* event.h - what the words of an event mean.
 *
 * Every parameter of an event is one signed 64-bit word, whatever its type in MPI; a parameter that
 * is an array is the number of an interned list of words. A function's parameters have names and
 * kinds (rfn_archive_function); the kind says how to read the word. The numbers below are part of
 * the file format: add, never change.
 */
#ifndef REFRAIN_EVENT_H
#define REFRAIN_EVENT_H

#pragma GCC visibility push(default)

#include <stdint.h>

enum rfn_kind {
    RFN_KIND_INT = 1,   /* a plain integer */
    RFN_KIND_COUNT = 2, /* a number of elements; goes with the datatype that follows it */
    RFN_KIND_TYPE = 3,  /* a datatype: local number, see rfn_stream's type table; in records of
                           an archive, a number for rfn_archive_datatype */
    RFN_KIND_RANK = 4,  /* a rank of the call's communicator (remote group of an intercommunicator),
                           RFN_ANY, RFN_PROC_NULL, RFN_ROOT; depends on the rank */
    RFN_KIND_TAG = 5,   /* a tag or RFN_ANY */
    RFN_KIND_COMM = 6,  /* local number of a communicator (in records of an archive, a number for
                           rfn_archive_comm); -1 MPI_COMM_NULL */
    RFN_KIND_OP = 7,    /* handles of kinds 7 to 15: slot >= 0, or -1 - k for the k-th */
    RFN_KIND_GROUP = 8, /* predefined name of the kind (rfn_kind_predefined) */
    RFN_KIND_INFO = 9,
    RFN_KIND_ERRHANDLER = 10,
    RFN_KIND_WIN = 11,
    RFN_KIND_FILE = 12,
    RFN_KIND_SESSION = 13,
    RFN_KIND_MESSAGE = 14,
    RFN_KIND_KEYVAL = 15,
    RFN_KIND_REQUEST = 16,     /* see rfn_request_word below */
    RFN_KIND_BUFFER = 17,      /* enum rfn_buffer */
    RFN_KIND_FLAG = 18,        /* 0 or 1 */
    RFN_KIND_BYTES = 19,       /* bytes, addresses' differences, file offsets */
    RFN_KIND_PLACE = 20,       /* colour, key, displacement: an integer that depends on the rank;
                                  RFN_UNDEFINED */
    RFN_KIND_STRING = 21,      /* number of a list whose words are the bytes of a string */
    RFN_KIND_COMPLETIONS = 22, /* number of a list of RFN_COMPLETION_WORDS words per entry, see
                                  below; 0 when nothing deviates */
    RFN_KIND_REGION = 23,      /* a region: the hash of its name; in records of an archive, a number
                                  for rfn_archive_region */
    RFN_KIND_LIST = 0x40       /* or-ed with a kind: the number of a list of such words */
};

/* Lists are numbered per stream from 1 in order of first use; 0 is the empty list, and
 * RFN_LIST_ABSENT a null or ignored argument (MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY have numbers of
 * their own below). */
enum rfn_list_special {
    RFN_LIST_ABSENT = -1,
    RFN_LIST_UNWEIGHTED = -2,
    RFN_LIST_WEIGHTS_EMPTY = -3
};

enum rfn_special {
    RFN_ANY = -1,       /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    RFN_PROC_NULL = -2, /* MPI_PROC_NULL */
    RFN_ROOT = -3,      /* MPI_ROOT */
    RFN_AS_POSTED = -4, /* an outcome (source, tag, bytes) equal to what the receive asked for */
    RFN_UNKNOWN = -5    /* the recorder could not tell */
};
#define RFN_UNDEFINED INT64_MIN /* MPI_UNDEFINED, in any kind */

enum rfn_buffer { RFN_BUFFER_PLAIN, RFN_BUFFER_IN_PLACE, RFN_BUFFER_BOTTOM, RFN_BUFFER_NULL };

/* A request is (creating stream, creation number). It is referred to by
 *   0                    MPI_REQUEST_NULL
 *   4 * distance + 1     created `distance` (>= 1) requests ago by the same stream: with n requests
 *                        created so far, number n - distance (numbers count from 0)
 *   4 * slot + 2         persistent or partitioned request in slot `slot` (lowest free slot of the
 *                        process); its start number is the count of its starts so far
 *   4 * (number * 65536 + stream) + 3   number `number` of another stream of the process
 * An output request (the one a call creates) is not stored: it has the next creation number, or,
 * when persistent, the slot is an output of kind REQUEST. */
enum rfn_request_form {
    RFN_REQUEST_NULL = 0,
    RFN_REQUEST_RECENT = 1,
    RFN_REQUEST_SLOT = 2,
    RFN_REQUEST_FOREIGN = 3
};

static inline int64_t rfn_request_word(enum rfn_request_form form, int64_t value)
{
    return value * 4 + form;
}

enum { RFN_FOREIGN_BITS = 16 };

static inline int64_t rfn_foreign_request(uint32_t stream, uint64_t number)
{
    if (stream >> RFN_FOREIGN_BITS || number >> (61 - RFN_FOREIGN_BITS))
        return RFN_UNKNOWN;
    return rfn_request_word(RFN_REQUEST_FOREIGN, (int64_t)(number << RFN_FOREIGN_BITS | stream));
}

/* Completions: the completed requests of a call whose outcome is not as posted, or that
 * another thread made. One entry is RFN_COMPLETION_WORDS words: position in the request array,
 * source, tag, bytes (each RFN_AS_POSTED where it is as asked), error class, flags: CANCELLED, or
 * PENDING, not completed after all, which happens when the call failed because of another. */
enum { RFN_COMPLETION_WORDS = 6, RFN_COMPLETION_CANCELLED = 1, RFN_COMPLETION_PENDING = 2 };

/* In place of an MPI error class: the program has left the call by a C++ exception or a jump,
 * mostly from an error handler. The event takes no time, as it is not known when that was. */
#define RFN_ERROR_LEFT UINT32_MAX

/* A parameter that is not known yet when the call is made. */
enum rfn_param_flag {
    RFN_PARAM_OUT = 1 /* an outcome: kept in a value column, never in the signature */
};

/* What a function does, for readers and analyses. */
enum rfn_class {
    RFN_CLASS_OTHER = 0,
    RFN_CLASS_SEND,  /* blocking or not; a standard, buffered or ready send */
    RFN_CLASS_SSEND, /* synchronous send */
    RFN_CLASS_RECV,
    RFN_CLASS_SENDRECV,
    RFN_CLASS_PROBE,
    RFN_CLASS_COMPLETION, /* Wait*, Test* */
    RFN_CLASS_START,      /* Start, Startall, Pready*, Parrived */
    RFN_CLASS_BARRIER,
    RFN_CLASS_ONE_TO_ALL, /* Bcast, Scatter(v) */
    RFN_CLASS_ALL_TO_ONE, /* Reduce, Gather(v) */
    RFN_CLASS_ALL_TO_ALL, /* Allreduce, Alltoall*, Allgather*, Reduce_scatter* */
    RFN_CLASS_SCAN,
    RFN_CLASS_NEIGHBOR,
    RFN_CLASS_RMA,
    RFN_CLASS_RMA_SYNC,
    RFN_CLASS_FILE,
    RFN_CLASS_COMM,          /* creates or frees communicators */
    RFN_CLASS_SETUP,         /* Init, Finalize, sessions */
    RFN_CLASS_REGION,        /* begin and end of a region of the program: no MPI call */
    RFN_CLASS_SEGMENT_BEGIN, /* the program's mark that a segment begins; no MPI call */
    RFN_CLASS_SEGMENT_END,
    RFN_CLASS_UNRECORDED, /* how many calls of a function were not recorded; no MPI call */
    RFN_CLASS_COUNT
};

/* Whether events of the class are calls of MPI; else the program, or the recorder, tells something
 * at a moment. */
static inline int rfn_class_is_mpi(uint8_t class_)
{
    return class_ < RFN_CLASS_REGION || class_ > RFN_CLASS_UNRECORDED;
}

/* Messages that a call of the class, blocking or not, sends and receives; not collectives. */
static inline uint32_t rfn_class_messages(uint8_t class_)
{
    switch (class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
    case RFN_CLASS_RECV:
        return 1;
    case RFN_CLASS_SENDRECV:
        return 2;
    default:
        return 0;
    }
}

/* When a send is over. */
enum rfn_send_mode {
    RFN_SEND_STANDARD,    /* perhaps before the receive is posted */
    RFN_SEND_SYNCHRONOUS, /* never before */
    RFN_SEND_BUFFERED,    /* these do not wait for the receiver */
    RFN_SEND_READY
};

enum rfn_function_flag {
    RFN_FUNCTION_NONBLOCKING = 1, /* returns a request that a completion call completes */
    RFN_FUNCTION_PERSISTENT = 2,  /* creates an inactive request */
    RFN_FUNCTION_POLL = 4, /* Test*, Iprobe, ...: an unsuccessful call is an unsuccessful poll */
    RFN_FUNCTION_COLLECTIVE = 8
};

/* The most words that any function's inputs or outcomes have. */
enum { RFN_PARAMS_MAX = 24 };

struct rfn_param_info {
    const char *name;    /* as in the MPI standard: "dest", "count" */
    uint8_t kind, flags; /* enum rfn_kind, possibly with RFN_KIND_LIST; enum rfn_param_flag */
};

struct rfn_function_info {
    const char *name;      /* "MPI_Send" */
    uint8_t class_, flags; /* enum rfn_class, enum rfn_function_flag */
    uint8_t n_in, n_out;
    const struct rfn_param_info *params; /* inputs as arguments are ordered, then outcomes */
};

/* The name of the k-th predefined handle of a kind ("MPI_SUM"; k = 0 is the null handle), or NULL
 * when there is none. Static. */
const char *rfn_kind_predefined(uint8_t kind, unsigned k);

#pragma GCC visibility pop

#endif
