/* What programs of this folder share: sleeping where a program would compute. Ranks sleep, because
 * cores may be shared. */
#ifndef PAUSE_H
#define PAUSE_H

#include <time.h>

static inline void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

#endif
