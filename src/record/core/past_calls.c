#include "record/core/past_calls.h"

#include "record/callpath/modules.h"
#include "record/core/message.h"
#include "record/core/options.h"

#include <stdio.h>
#include <string.h>

#ifndef RFN_FLAVOUR_SMPI /* which has no PMPI names of the recorder, and no layers behind it */

/* Of each function: its calls, and who has called it last. Threads may lose a call of the count. */
static struct {
    const void *caller;
    uint64_t calls;
    bool by_mpi; /* the caller is a part of MPI */
} past[REC_FN_COUNT];

/* The file that code is in, without folders, and the number of its module. dladdr would look
 * through all symbols of a module each time. */
static const char *file_of(const void *code, uint32_t *module)
{
    struct rec_code found;
    if (rec_code_find((uintptr_t)code, &found) < 0)
        return "";
    *module = found.module;
    const char *path = rec_module(found.module)->path, *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_part_of_mpi(const void *caller)
{
    uint32_t module_of_caller = 0, module_of_mpi = UINT32_MAX;
    const void *own;
    memcpy(&own, &rec_mpi.MPI_Init, sizeof own);
    file_of(own, &module_of_mpi);
    /* libmpi, libmpich, libmpi_mpifh, libmpifort, ...: beside the library itself those for Fortran
     */
    return strncmp(file_of(caller, &module_of_caller), "libmpi", strlen("libmpi")) == 0 ||
           module_of_caller == module_of_mpi;
}

void rec_past_call(uint32_t function, const void *caller)
{
    const uint8_t class_ = rec_functions[function].class_;
    if (class_ == RFN_CLASS_OTHER || class_ == RFN_CLASS_SETUP ||
        (rec_state != REC_RECORDING && rec_state != REC_ASLEEP))
        return;
    if (past[function].caller != caller) {
        past[function].by_mpi = is_part_of_mpi(caller);
        past[function].caller = caller;
    }
    past[function].calls += !past[function].by_mpi;
}

uint64_t rec_past_calls(void)
{
    uint64_t sum = 0;
    for (unsigned f = 0; f < REC_FN_COUNT; f++)
        sum += past[f].calls;
    return sum;
}

/* ", MPI_Send in ./program (100)", and how many functions there are. */
static int list(char *text, size_t size)
{
    enum { LISTED = 5 };
    size_t used = 0;
    int n = 0;
    text[0] = 0;
    for (unsigned f = 0; f < REC_FN_COUNT; f++) {
        uint32_t module;
        if (!past[f].calls || ++n > LISTED || used >= size)
            continue;
        const char *file = file_of(past[f].caller, &module);
        const int written = snprintf(text + used, size - used, "%s%s in %s (%llu)",
                                     n > 1 ? ", " : "", rec_functions[f].name, file[0] ? file : "?",
                                     (unsigned long long)past[f].calls);
        used += written > 0 ? (size_t)written : 0;
    }
    if (n > LISTED && used < size)
        snprintf(text + used, size - used, " and %d more", n - LISTED);
    return n;
}

void rec_past_calls_tell(uint64_t total)
{
    char text[600];
    if (!total || rec_options.quiet)
        return;
    const bool here = list(text, sizeof text) > 0;
    rec_message("%llu calls by PMPI names went past the recorder and are not in the archive%s%s; "
                "their messages have no other side in the results, and their time counts as the "
                "program's",
                (unsigned long long)total, here ? ", on rank 0: " : ", none of them on rank 0",
                text);
}

bool rec_is_world_replaced(void)
{
    static enum { UNASKED, OWN, REPLACED } world;
    int own = 0, shown = 0;
    if (world == UNASKED && rec_next.MPI_Comm_size == rec_mpi.MPI_Comm_size)
        world = OWN;
    if (world == UNASKED)
        world = rec_mpi.MPI_Comm_size(MPI_COMM_WORLD, &own) == MPI_SUCCESS &&
                        rec_next.MPI_Comm_size(MPI_COMM_WORLD, &shown) == MPI_SUCCESS &&
                        own != shown
                    ? REPLACED
                    : OWN;
    return world == REPLACED;
}

#else

uint64_t rec_past_calls(void)
{
    return 0;
}

void rec_past_calls_tell(uint64_t total)
{
    (void)total;
}

bool rec_is_world_replaced(void)
{
    return false;
}

#endif
