#include "refrain/recording.h"

#include <stdlib.h>
#include <string.h>

uint64_t rfn_resolution_parse(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 10) /* longer ones are too large, and might overflow */
        return 0;
    uint64_t number = strtoull(text, NULL, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + n, units[i].name) != 0)
            continue;
        uint64_t ns = number * units[i].ns;
        return ns >= RFN_RESOLUTION_MIN_NS && ns <= RFN_RESOLUTION_MAX_NS ? ns : 0;
    }
    return 0;
}
