/* What a recorder has for programs that are linked with -lrefrain-region (src/program/region.c), to
 * be preloaded: tells what it is given. */
#include <stdio.h>
#include <string.h>

int refrain_recorder_sample(const char *strategy)
{
    printf("<%s>", strategy);
    return strcmp(strategy, "often") == 0 ? -1 : 1;
}

void refrain_recorder_sample_(const char *strategy, size_t length)
{
    printf("<%.*s>\n", (int)length, strategy);
    fflush(stdout);
}
