#include "analyze/recreation.h"

#include "reduce/segment_starts.h"

/* Takes the walk ahead to the second segment. */
static int open_ahead(struct rfn_recreation *recreation, const struct rfn_stream_profile *profile)
{
    struct rfn_executed first;
    if (!rfn_stream_profile_stretched(profile))
        return 0;
    recreation->ahead = rfn_profile_walk_new(profile);
    if (!recreation->ahead)
        return RFN_E_NOMEM;
    int more = rfn_profile_walk_next(recreation->ahead, &first);
    return more < 0 ? more : 0;
}

int rfn_recreation_open(struct rfn_recreation *recreation, const struct rfn_stream_profile *profile)
{
    *recreation = (struct rfn_recreation){.walk = rfn_profile_walk_new(profile),
                                          .last_ns = rfn_stream_profile_first(profile)};
    return recreation->walk ? open_ahead(recreation, profile) : RFN_E_NOMEM;
}

void rfn_recreation_close(struct rfn_recreation *recreation)
{
    rfn_profile_walk_free(recreation->walk);
    rfn_profile_walk_free(recreation->ahead);
}

static int64_t length_of(const struct rfn_executed *executed)
{
    return executed->vector[2 * executed->n + 1];
}

/* How much later a is than b. */
static int64_t later(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* A segment lasts until the next one starts; where that is earlier than what has been, there is no
 * room for it. */
static int stretch(struct rfn_recreation *recreation)
{
    struct rfn_executed next;
    int64_t end = rfn_start_after(recreation->begin_ns, length_of(&recreation->executed));
    int more = rfn_profile_walk_next(recreation->ahead, &next);
    RFN_TRY(more);
    if (more)
        end = next.start;
    if (later(recreation->last_ns, recreation->begin_ns) > 0)
        recreation->begin_ns = recreation->last_ns;
    int64_t room = later(end, recreation->begin_ns);
    recreation->room_ns = room > 0 ? room : 0;
    return 0;
}

int rfn_recreation_next(struct rfn_recreation *recreation)
{
    int more = rfn_profile_walk_next(recreation->walk, &recreation->executed);
    RFN_TRY(more);
    if (!more)
        return RFN_E_RANGE;
    recreation->begin_ns = recreation->executed.start;
    return recreation->ahead ? stretch(recreation) : 0;
}

int64_t rfn_recreation_time(struct rfn_recreation *recreation, size_t i)
{
    const struct rfn_executed *executed = &recreation->executed;
    int64_t offset = executed->vector[i];
    if (recreation->ahead)
        offset = (int64_t)rfn_start_stretched(offset, (uint64_t)length_of(executed),
                                              (uint64_t)recreation->room_ns);
    int64_t time = rfn_start_after(recreation->begin_ns, offset);
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
