/* fake_paths.h - call paths for a made-up archive (fake_archive.h), which has none of its own.
 *
 * Three paths of a frame each: a, b, c in prog.c, at the lines 1, 2, 3. Of an archive that is
 * `fake_shifted` path p is what the others call (p + 1) modulo 3, so that two archives may have
 * different numbers for one.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_PATHS_H
#define RFN_TESTS_SUPPORT_FAKE_PATHS_H

#include "support/fake_archive.h"

enum { FAKE_PATHS = 3 };

static const struct rfn_archive *fake_shifted; /* whose paths are shifted by one; NULL: nobody's */

uint32_t rfn_archive_paths(const struct rfn_archive *archive)
{
    (void)archive;
    return FAKE_PATHS;
}

struct rfn_path rfn_archive_path(const struct rfn_archive *archive, uint32_t path)
{
    static const uint32_t frames[FAKE_PATHS] = {0, 1, 2};
    return (struct rfn_path){&frames[(path + (archive == fake_shifted)) % FAKE_PATHS], 1};
}

struct rfn_location rfn_archive_location(const struct rfn_archive *archive, uint32_t location)
{
    static const char *const functions[FAKE_PATHS] = {"a", "b", "c"};
    (void)archive;
    return (struct rfn_location){functions[location], "prog.c", location + 1, "prog", location};
}

bool rfn_archive_calls_between(const struct rfn_archive *archive, uint32_t from, uint32_t to,
                               struct rfn_program_call *calls, uint32_t most, uint32_t *n)
{
    (void)archive, (void)from, (void)to, (void)calls, (void)most;
    *n = 0;
    return false;
}

#endif
