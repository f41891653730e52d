/* refrain_sample.c - refrain_sample of refrain/region.h, from C and from Fortran. */
#include "record/core/recorder.h"
#include "record/samples/sampled_calls.h"
#include "refrain/region.h"

#include <string.h>

REC_EXPORT int refrain_sample(const char *strategy)
{
    return rec_sample_wish(strategy ? strategy : "");
}

/* Declared by the Fortran module (include/refrain/refrain.f90). */
REC_EXPORT void refrain_sample_(const char *strategy, size_t length);

/* Fortran's strings end with blanks. What does not fit is no strategy, and is told as one. */
REC_EXPORT void refrain_sample_(const char *strategy, size_t length)
{
    char text[256];
    while (length > 0 && strategy[length - 1] == ' ')
        length--;
    length = length < sizeof text ? length : sizeof text - 1;
    memcpy(text, strategy, length);
    text[length] = 0;
    rec_sample_wish(text);
}

/* Under other names for the library that programs are linked with (src/program/region.c), whose
 * definitions come before these. */
#define OTHER_NAME(other, name) \
    extern __typeof__(name) other __attribute__((alias(#name), visibility("default")))

OTHER_NAME(refrain_recorder_sample, refrain_sample);
OTHER_NAME(refrain_recorder_sample_, refrain_sample_);
