/* region.c - librefrain-region: what a program with regions is linked with (refrain/region.h).
 *
 * Without a recorder a call does nothing. A static library, so that programs need no file more
 * where they run. Its definitions are the program's own, so those of a preloaded recorder cannot
 * take their place: calls are passed on to the recorder that was there when the program started.
 * Where the program is linked with the recorder itself (SMPI), these are weak and give way to it.
 *
 * Passing on is a jump, not a call, so that call paths have no frame of this file.
 */
#include "refrain/region.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default"), weak))

static void (*begin)(const char *), (*end)(const char *);
static void (*segment_begin)(const char *), (*segment_end)(void);
static void (*fortran_begin)(const char *, size_t), (*fortran_end)(const char *, size_t);
static void (*fortran_segment_begin)(const char *, size_t), (*fortran_segment_end)(void);
static int (*sample)(const char *);
static void (*fortran_sample)(const char *, size_t);

/* ISO C has no conversion from data to functions. */
static void find(void *function, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &address, sizeof address);
}

__attribute__((constructor)) static void find_recorder(void)
{
    find(&begin, "refrain_recorder_region_begin");
    find(&end, "refrain_recorder_region_end");
    find(&fortran_begin, "refrain_recorder_region_begin_");
    find(&fortran_end, "refrain_recorder_region_end_");
    find(&segment_begin, "refrain_recorder_segment_begin");
    find(&segment_end, "refrain_recorder_segment_end");
    find(&fortran_segment_begin, "refrain_recorder_segment_begin_");
    find(&fortran_segment_end, "refrain_recorder_segment_end_");
    find(&sample, "refrain_recorder_sample");
    find(&fortran_sample, "refrain_recorder_sample_");
}

PUBLIC void refrain_region_begin(const char *name)
{
    if (begin)
        begin(name);
}

PUBLIC void refrain_region_end(const char *name)
{
    if (end)
        end(name);
}

PUBLIC void refrain_region_begin_(const char *name, size_t length);
PUBLIC void refrain_region_end_(const char *name, size_t length);

PUBLIC void refrain_region_begin_(const char *name, size_t length)
{
    if (fortran_begin)
        fortran_begin(name, length);
}

PUBLIC void refrain_region_end_(const char *name, size_t length)
{
    if (fortran_end)
        fortran_end(name, length);
}

PUBLIC void refrain_segment_begin(const char *name)
{
    if (segment_begin)
        segment_begin(name);
}

PUBLIC void refrain_segment_end(void)
{
    if (segment_end)
        segment_end();
}

PUBLIC void refrain_segment_begin_(const char *name, size_t length);
PUBLIC void refrain_segment_end_(void);

PUBLIC void refrain_segment_begin_(const char *name, size_t length)
{
    if (fortran_segment_begin)
        fortran_segment_begin(name, length);
}

PUBLIC void refrain_segment_end_(void)
{
    if (fortran_segment_end)
        fortran_segment_end();
}

PUBLIC int refrain_sample(const char *strategy)
{
    return sample ? sample(strategy) : 0;
}

PUBLIC void refrain_sample_(const char *strategy, size_t length);

PUBLIC void refrain_sample_(const char *strategy, size_t length)
{
    if (fortran_sample)
        fortran_sample(strategy, length);
}
