#include "reduce/segments/segment_starts.h"

/* Methods without a threshold of time correct starts that are off by so much of the length. */
static const double default_tolerance = 0.2;

/* The part of the criterion's `more` that counts for starts: how long a rank waits is what two
 * starts are apart, and in short loops less than times within segments may differ by. */
static const double start_part = 0.25;

struct rfn_start_tolerance rfn_start_tolerance_of(const struct rfn_criterion *criterion, bool exact)
{
    const double most_share = 1 << 20, most = 1e12; /* us: as good as any */
    double threshold = criterion->threshold < most ? criterion->threshold : most;
    if (exact)
        return (struct rfn_start_tolerance){0};
    if (criterion->method == &rfn_abs_diff)
        return (struct rfn_start_tolerance){.absolute = (uint64_t)(threshold * 1000)};
    double share = criterion->method->kept ? default_tolerance : threshold;
    share = share < most_share ? share : most_share;
    return (struct rfn_start_tolerance){
        .share = (uint64_t)(share * 65536),
        .absolute = (uint64_t)(share * start_part * criterion->more)};
}

struct rfn_start_rule rfn_start_rule_of(const struct rfn_criterion *criterion, bool exact)
{
    return (struct rfn_start_rule){.tolerance = rfn_start_tolerance_of(criterion, exact),
                                   .one_way = criterion->method->one_way_starts,
                                   .averages = criterion->method->averages,
                                   .stretched = criterion->method->stretched};
}

/* What starts are held in; `length` is that of what the segment was put in as. That of an average
 * is not known yet. */
static uint64_t held_unit(const struct rfn_start_rule *rule, int64_t length)
{
    uint64_t tolerance = rfn_start_tolerance(&rule->tolerance, length);
    return rule->averages || tolerance < 16 ? 1 : tolerance / 8;
}

/* How much later `time` is than `expected`, in units, to the nearest; 0 if it is at most `near`
 * off. */
static int64_t units_later(int64_t expected, int64_t time, uint64_t unit, uint64_t near)
{
    uint64_t later = (uint64_t)time - (uint64_t)expected;
    bool early = later >> 63;
    uint64_t off = early ? -later : later;
    if (off <= near)
        return 0;
    uint64_t units = off / unit + (off % unit >= unit - off % unit);
    return (int64_t)(early ? -units : units);
}

struct rfn_start_lengths rfn_start_lengths_of(const struct rfn_representative_store *store,
                                              uint32_t context, uint32_t put_as, uint32_t *now)
{
    *now = rfn_representative_store_forward(store, context, put_as);
    struct rfn_representative was = rfn_representative_store_representative(store, context, put_as);
    struct rfn_representative is = rfn_representative_store_representative(store, context, *now);
    return (struct rfn_start_lengths){was.first_length, is.length, is.pace, is.one_way};
}

int64_t rfn_start_hold(const struct rfn_start_rule *rule, int64_t *held_next, int64_t start,
                       int64_t length)
{
    uint64_t unit = held_unit(rule, length);
    int64_t late = units_later(*held_next, start, unit, 0);
    *held_next = rfn_start_after(rfn_start_units_after(*held_next, late, unit), length);
    return late;
}

/* A start that is held is off by half of its unit at most, so as much is taken from the
 * tolerance. */
int64_t rfn_start_correct(const struct rfn_start_rule *rule, struct rfn_start_place *place,
                          const struct rfn_start_lengths *lengths, int64_t late)
{
    uint64_t tolerance = rfn_start_tolerance(&rule->tolerance, lengths->now);
    uint64_t unit = tolerance ? tolerance : 1, held_in = held_unit(rule, lengths->first);
    uint64_t far = lengths->one_way ? rule->one_way * tolerance : tolerance;
    uint64_t near = far > held_in / 2 ? far - held_in / 2 : 0;
    int64_t held = rfn_start_units_after(place->held_next, late, held_in);
    int64_t correction = units_later(place->predicted, held, unit, near);
    int64_t start = rfn_start_units_after(place->predicted, correction, unit);
    place->predicted = rfn_start_after(start, lengths->pace);
    place->held_next = rfn_start_after(held, lengths->first);
    return correction;
}
