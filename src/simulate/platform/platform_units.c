/* platform_units.c - values of attributes: a number and a unit. */
#include "base/c_numbers.h"
#include "simulate/platform/platform_internal.h"

#include <math.h>

struct prefix {
    const char *text;
    double factor; /* to the power below */
    int power;
};

/* As SimGrid: a small k, and a large one before i. */
static const struct prefix short_prefixes[] = {
    {"", 1, 0},      {"k", 1000, 1},  {"M", 1000, 2},  {"G", 1000, 3},  {"T", 1000, 4},
    {"P", 1000, 5},  {"E", 1000, 6},  {"Z", 1000, 7},  {"Y", 1000, 8},  {"Ki", 1024, 1},
    {"Mi", 1024, 2}, {"Gi", 1024, 3}, {"Ti", 1024, 4}, {"Pi", 1024, 5}, {"Ei", 1024, 6},
    {"Zi", 1024, 7}, {"Yi", 1024, 8}};
static const struct prefix long_prefixes[] = {
    {"", 1, 0},        {"kilo", 1000, 1}, {"mega", 1000, 2}, {"giga", 1000, 3}, {"tera", 1000, 4},
    {"peta", 1000, 5}, {"exa", 1000, 6},  {"zeta", 1000, 7}, {"yotta", 1000, 8}};
enum { DECIMAL = 9 }; /* of short_prefixes */

struct unit {
    const char *text;
    double value;
    const struct prefix *prefixes;
    size_t n_prefixes;
};

#define ALL(array) array, sizeof(array) / sizeof *(array)

static const struct unit speeds[] = {{"f", 1, short_prefixes, DECIMAL},
                                     {"flops", 1, ALL(long_prefixes)}};
static const struct unit bandwidths[] = {{"Bps", 1, ALL(short_prefixes)},
                                         {"bps", 0.125, ALL(short_prefixes)}};
static const struct unit times[] = {
    {"s", 1, short_prefixes, 1},      {"ms", 1e-3, short_prefixes, 1},
    {"us", 1e-6, short_prefixes, 1},  {"ns", 1e-9, short_prefixes, 1},
    {"ps", 1e-12, short_prefixes, 1}, {"m", 60, short_prefixes, 1},
    {"h", 3600, short_prefixes, 1},   {"d", 86400, short_prefixes, 1},
    {"w", 604800, short_prefixes, 1}};

static const struct {
    const struct unit *units;
    size_t n;
    const char *names;
} kinds[] = {[RFN_UNIT_SPEED] = {ALL(speeds), "f, kf, Mf, Gf, Tf, flops, gigaflops"},
             [RFN_UNIT_BANDWIDTH] = {ALL(bandwidths),
                                     "Bps, kBps, MBps, GBps, KiBps, MiBps, bps, Mbps, Gbps"},
             [RFN_UNIT_TIME] = {ALL(times), "s, ms, us, ns, ps"}};

const char *rfn_unit_names(enum rfn_unit unit)
{
    return kinds[unit].names;
}

/* What the prefix multiplies by; 0: it is none of them. */
static double prefix_factor(const struct unit *unit, const char *text, size_t size)
{
    for (size_t i = 0; i < unit->n_prefixes; i++) {
        const struct prefix *prefix = &unit->prefixes[i];
        if (strlen(prefix->text) != size || memcmp(prefix->text, text, size) != 0)
            continue;
        double factor = 1;
        for (int power = 0; power < prefix->power; power++)
            factor *= prefix->factor;
        return factor;
    }
    return 0;
}

static double unit_factor(enum rfn_unit kind, const char *text, size_t size)
{
    for (size_t i = 0; i < kinds[kind].n; i++) {
        const struct unit *unit = &kinds[kind].units[i];
        const size_t length = strlen(unit->text);
        if (length > size || memcmp(text + size - length, unit->text, length) != 0)
            continue;
        const double factor = prefix_factor(unit, text, size - length);
        if (factor > 0)
            return factor * unit->value;
    }
    return 0;
}

int rfn_unit_parse(const char *text, size_t size, enum rfn_unit unit, double *value)
{
    char copy[64], *end;
    if (size >= sizeof copy)
        return RFN_E_CORRUPT;
    memcpy(copy, text, size);
    copy[size] = 0;
    const double number = rfn_c_double(copy, &end);
    if (end == copy)
        return RFN_E_CORRUPT;
    const double factor = *end ? unit_factor(unit, end, strlen(end)) : 1;
    *value = number * factor;
    return factor > 0 && number >= 0 && isfinite(*value) ? 0 : RFN_E_CORRUPT;
}
