#include "record/samples/samples.h"

int rec_sample_wish(const char *text)
{
    (void)text;
    return 0; /* nobody samples */
}
