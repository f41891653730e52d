/* paraver_writing.h - a run as a trace for Paraver: three files.
 *
 * NAME.prv has a head and lines in the order of time. Fields are separated by colons; OBJECT is
 * cpu:1:task:thread, all from 1: a task is a rank.
 *
 *   1:OBJECT:from:to:state              what a thread does
 *   2:OBJECT:ns:type:value[:...]        something happens; 0 ends what a value began
 *   3:OBJECT:posted:sent:OBJECT:posted:received:bytes:tag
 *
 * NAME.pcf names states, types and values, NAME.row the objects. Source: Paraver, "Trace format".
 * Numbers of types, values and states are Extrae's.
 */
#ifndef RFN_CONVERT_PARAVER_PARAVER_WRITING_H
#define RFN_CONVERT_PARAVER_PARAVER_WRITING_H

#include "base/map.h"
#include "refrain/convert.h"
#include "refrain/text.h"

enum paraver_type {
    PARAVER_POINT_TO_POINT = 50000001,
    PARAVER_COLLECTIVE = 50000002,
    PARAVER_OTHER = 50000003,
    PARAVER_ONE_SIDED = 50000004,
    PARAVER_FILE = 50000005,
    PARAVER_SENT_SIZE = 50100001, /* of a collective call */
    PARAVER_RECEIVED_SIZE = 50100002,
    PARAVER_REGION = 60000019,
    PARAVER_CALLER = 70000000, /* + level, from 1: the innermost function of the program */
    PARAVER_LINE = 80000000    /* + level: where the function has its call */
};

enum paraver_state {
    PARAVER_IDLE = 0,
    PARAVER_RUNNING = 1,
    PARAVER_RECEIVING = 3,
    PARAVER_SENDING = 4,
    PARAVER_SYNCHRONIZING = 5,
    PARAVER_TESTING = 6,
    PARAVER_WAITING = 8,
    PARAVER_POSTING_SEND = 10,
    PARAVER_POSTING_RECEIVE = 11,
    PARAVER_IN_FILES = 12,
    PARAVER_TOGETHER = 13,
    PARAVER_ELSE = 15,
    PARAVER_BOTH = 16,
    PARAVER_ACCESSING = 20
};

enum { PARAVER_LEVELS = 3 /* functions of a call path */ };

/* How a function of MPI is told. */
struct paraver_function {
    enum paraver_type type;
    uint32_t value;
    enum paraver_state state;
    bool is_call, is_collective;
};

/* Values that get their numbers when they are used: labels by value, from 1. */
struct paraver_labels {
    struct rfn_map values; /* hash of a label -> value */
    char **labels;
    size_t n, capacity;
};

struct paraver_object {
    uint32_t cpu, task, thread; /* 0: not in the trace */
    uint32_t node;              /* from 1 */
};

struct paraver_objects {
    struct paraver_object *streams; /* by stream */
    const char **nodes;             /* hosts: their names, borrowed */
    uint32_t *node_cpus;            /* threads on each */
    uint32_t n_nodes, n_tasks, n_threads;
};

/* ---- paraver_functions.c ---- */

struct paraver_function rfn_paraver_function(const struct rfn_archive *archive, uint32_t number);

/* ---- paraver_objects.c ---- */

/* RFN_E_NOMEM. */
int rfn_paraver_objects_init(struct paraver_objects *objects, const struct rfn_archive *archive,
                             const struct rfn_convert_part *part);
void rfn_paraver_objects_release(struct paraver_objects *objects);
/* The line that a trace begins with. */
void rfn_paraver_head(struct rfn_text *text, const struct rfn_archive *archive,
                      const struct paraver_objects *objects, int64_t end_ns);
/* NAME.row */
void rfn_paraver_row(struct rfn_text *text, const struct rfn_archive *archive,
                     const struct paraver_objects *objects);

/* ---- paraver_labels.c ---- */

/* The value of a label; 0: out of memory. */
uint32_t rfn_paraver_label(struct paraver_labels *labels, const char *label);
void rfn_paraver_labels_release(struct paraver_labels *labels);
/* NAME.pcf */
void rfn_paraver_pcf(struct rfn_text *text, const struct rfn_archive *archive,
                     const struct paraver_labels *functions, const struct paraver_labels *lines);

#endif
