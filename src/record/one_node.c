#include "record/one_node.h"

#include <stddef.h>
#include <stdlib.h>

/* The number that a variable has; -1 without one. */
static long number_of(const char *variable)
{
    const char *set = getenv(variable);
    char *end = NULL;
    long number = set ? strtol(set, &end, 10) : -1;
    return set && *set && !*end ? number : -1;
}

bool rec_on_one_node(int size)
{
    static const struct {
        const char *ranks, *said;
        bool nodes; /* how many nodes there are, and not how many ranks are here */
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", false},
                     {"PMI_SIZE", "MPI_LOCALNRANKS", false},
                     {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", true}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        long said = number_of(launchers[i].said);
        if (number_of(launchers[i].ranks) == size && said > 0)
            return said == (launchers[i].nodes ? 1 : size);
    }
    return false;
}

bool rec_of_several_programs(void)
{
    return number_of("OMPI_NUM_APP_CTX") > 1;
}
