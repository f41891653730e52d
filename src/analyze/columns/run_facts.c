/* run_facts.c - struct rfn_run as names and values (refrain/columns.h). */
#include "refrain/columns.h"

#include <string.h>

enum member { TEXT, UINT32, UINT64, INT64, TRUTH, REAL };

/* Those that a table may want beside its rows; the counts of reductions and merges are left out. */
#define FACTS(X)                \
    X(recorder, TEXT)           \
    X(program, TEXT)            \
    X(command, TEXT)            \
    X(mpi, TEXT)                \
    X(flavour, TEXT)            \
    X(start_realtime_ns, INT64) \
    X(ranks, UINT32)            \
    X(streams, UINT32)          \
    X(times, TRUTH)             \
    X(all_polls, TRUTH)         \
    X(start_off, TRUTH)         \
    X(resolution_ns, REAL)      \
    X(volume, TEXT)             \
    X(volume_unit, TEXT)        \
    X(apart, TRUTH)             \
    X(merge_seconds, REAL)      \
    X(file_bytes, UINT64)       \
    X(reduced, TRUTH)           \
    X(similar, TEXT)            \
    X(across, TEXT)             \
    X(forced, TEXT)             \
    X(clustered, TRUTH)         \
    X(predicted, TEXT)          \
    X(limits, TEXT)

static const struct {
    const char *name;
    enum member member;
    size_t at;
} facts[] = {
#define X(name, member) {#name, member, offsetof(struct rfn_run, name)},
    FACTS(X)
#undef X
};

/* Text is borrowed through a pointer that is copied, as other members are. */
static void read_member(const char *at, enum member member, struct rfn_fact *fact)
{
    uint32_t narrow = 0;
    bool truth = false;
    fact->type = RFN_FACT_NUMBER;
    switch (member) {
    case TEXT:
        fact->type = RFN_FACT_TEXT;
        memcpy(&fact->text, at, sizeof fact->text);
        break;
    case UINT32:
        memcpy(&narrow, at, sizeof narrow);
        fact->number = narrow;
        break;
    case UINT64:
    case INT64:
        memcpy(&fact->number, at, sizeof fact->number);
        break;
    case TRUTH:
        fact->type = RFN_FACT_TRUTH;
        memcpy(&truth, at, sizeof truth);
        fact->number = truth;
        break;
    case REAL:
        fact->type = RFN_FACT_REAL;
        memcpy(&fact->real, at, sizeof fact->real);
        break;
    }
}

bool rfn_run_fact(const struct rfn_archive *archive, uint32_t number, struct rfn_fact *fact)
{
    if (number >= sizeof facts / sizeof *facts)
        return false;
    *fact = (struct rfn_fact){.name = facts[number].name};
    read_member((const char *)rfn_archive_run(archive) + facts[number].at, facts[number].member,
                fact);
    return true;
}
