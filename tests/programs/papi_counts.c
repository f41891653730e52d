/* Whether PAPI counts an event on this machine, which not all have what it takes: papi_counts
 * EVENT. */
#include <papi.h>

int main(int argc, char **argv)
{
    int set = PAPI_NULL;
    return argc == 2 && PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT &&
                   PAPI_create_eventset(&set) == PAPI_OK &&
                   PAPI_add_named_event(set, argv[1]) == PAPI_OK && PAPI_start(set) == PAPI_OK
               ? 0
               : 1;
}
