#include "analyze/recreation.h"

int rfn_recreation_open(struct rfn_recreation *recreation, const struct rfn_stream_profile *profile)
{
    *recreation = (struct rfn_recreation){.walk = rfn_profile_walk_new(profile),
                                          .last_ns = rfn_stream_profile_first(profile)};
    return recreation->walk ? 0 : RFN_E_NOMEM;
}

void rfn_recreation_close(struct rfn_recreation *recreation)
{
    rfn_profile_walk_free(recreation->walk);
}

int rfn_recreation_next(struct rfn_recreation *recreation)
{
    int more = rfn_profile_walk_next(recreation->walk, &recreation->executed);
    return more > 0 ? 0 : more < 0 ? more : RFN_E_RANGE;
}

int64_t rfn_recreation_time(struct rfn_recreation *recreation, size_t i)
{
    const struct rfn_executed *executed = &recreation->executed;
    int64_t time = (int64_t)((uint64_t)executed->start + (uint64_t)executed->vector[i]);
    if (time > recreation->last_ns)
        recreation->last_ns = time;
    return recreation->last_ns;
}

int rfn_recreation_failed(int error, struct rfn_diag *diag)
{
    return rfn_fail(diag, error, -1, -1, "%s",
                    error == RFN_E_NOMEM ? "out of memory"
                                         : "a stream had other segments when it was read again");
}
