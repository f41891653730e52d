#include "archive/profile.h"

#include "archive/walk.h"

#include <stdlib.h>

#define SHARE_MAX (UINT64_C(1) << 36)

static const char *read_cuts(struct rfn_profile *profile, const struct rfn_structure *structure,
                             struct rfn_scan *scan)
{
    static const char malformed[] = "it does not say which loops cut";
    uint32_t n = structure->n_loops;
    if (n > rfn_scan_left(scan))
        return rfn_scan_fault(scan, malformed);
    profile->cuts = malloc((n + (size_t)1) * sizeof *profile->cuts);
    if (!profile->cuts)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t cuts = rfn_reader_u8(rfn_scan_next(scan, 1));
        if (rfn_scan_failed(scan) || cuts > 1)
            return rfn_scan_fault(scan, malformed);
        profile->cuts[i] = cuts;
    }
    return NULL;
}

static const char *read_starts(struct rfn_profile *profile, struct rfn_scan *scan)
{
    profile->first = rfn_scan_varint(scan);
    profile->tolerance = rfn_scan_varint(scan);
    profile->share = rfn_scan_limited(scan, SHARE_MAX);
    return rfn_scan_failed(scan) ? rfn_scan_fault(scan, "the tolerance of starts is malformed")
                                 : NULL;
}

static const char *find_columns(struct rfn_profile *profile, const struct rfn_structure *structure,
                                struct rfn_scan *scan)
{
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        if (profile->cuts[i])
            profile->n_contexts += rfn_count_stretches(&structure->loops[i], profile->cuts);
    }
    size_t n = 1 + RFN_PROFILE_COLUMNS * (size_t)profile->n_contexts;
    if (n > rfn_scan_left(scan))
        return "columns are missing";
    profile->columns = malloc((n + 1) * sizeof *profile->columns);
    return profile->columns ? rfn_scan_columns(scan, profile->columns, n) : rfn_out_of_memory;
}

const char *rfn_profile_read(struct rfn_profile *profile, struct rfn_timing *timing,
                             const struct rfn_structure *structure, struct rfn_payload *payload,
                             bool exact)
{
    struct rfn_scan scan;
    *profile = (struct rfn_profile){0};
    const char *fault = rfn_timing_scan(timing, structure, payload, &scan);
    if (!fault && timing->n_marks)
        fault = "it has time marks";
    if (!fault)
        fault = read_cuts(profile, structure, &scan);
    if (!fault)
        fault = read_starts(profile, &scan);
    if (!fault)
        fault = find_columns(profile, structure, &scan);
    return !fault && exact && rfn_scan_left(&scan) ? "there are bytes behind its end" : fault;
}

void rfn_profile_release(struct rfn_profile *profile)
{
    free(profile->cuts);
    free(profile->columns);
    *profile = (struct rfn_profile){0};
}
