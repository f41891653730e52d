#include "cli/units.h"

#include <stdio.h>
#include <string.h>

/* Three significant digits of a value below 1024; whole numbers from 100 on. */
static struct rfn_quantity scaled(double value, const char *unit)
{
    struct rfn_quantity quantity;
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(quantity.text, sizeof quantity.text, "%.*f %s", digits, value, unit);
    return quantity;
}

static struct rfn_quantity whole(uint64_t value, const char *unit)
{
    struct rfn_quantity quantity;
    snprintf(quantity.text, sizeof quantity.text, "%llu%s", (unsigned long long)value, unit);
    return quantity;
}

struct rfn_quantity rfn_time_text(int64_t ns)
{
    static const char *const units[] = {"us", "ms"};
    double value = (double)ns;
    if (ns == 0)
        return whole(0, " s");
    if (ns < 0) {
        struct rfn_quantity positive = rfn_time_text(ns == INT64_MIN ? INT64_MAX : -ns), negative;
        snprintf(negative.text, sizeof negative.text, "-%.30s", positive.text);
        return negative;
    }
    if (ns < 1000)
        return whole((uint64_t)ns, " ns");
    for (unsigned i = 0; i < 2; i++) {
        value /= 1000;
        if (value < 999.5)
            return scaled(value, units[i]);
    }
    value /= 1000;
    if (value < 999.5)
        return scaled(value, "s");
    struct rfn_quantity seconds = rfn_count_text((uint64_t)(value + 0.5));
    strcat(seconds.text, " s");
    return seconds;
}

struct rfn_quantity rfn_bytes_text(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024)
        return whole(bytes, " B");
    double value = (double)bytes / 1024;
    unsigned i = 0;
    while (value >= 1023.5 && i < 5) {
        value /= 1024;
        i++;
    }
    return scaled(value, units[i]);
}

struct rfn_quantity rfn_bytes_short(uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    struct rfn_quantity quantity = {"."};
    if (bytes == 0)
        return quantity;
    if (bytes < 1000)
        return whole(bytes, "");
    double value = (double)bytes / 1024;
    unsigned i = 0;
    while (value >= 999.5 && i < 5) {
        value /= 1024;
        i++;
    }
    snprintf(quantity.text, sizeof quantity.text, "%.*f%c", value < 9.95 ? 1 : 0, value, units[i]);
    return quantity;
}

struct rfn_quantity rfn_count_text(uint64_t count)
{
    struct rfn_quantity plain = whole(count, ""), separated;
    size_t n = strlen(plain.text), at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            separated.text[at++] = ',';
        separated.text[at++] = plain.text[i];
    }
    separated.text[at] = '\0';
    return separated;
}

struct rfn_quantity rfn_share_text(double share)
{
    struct rfn_quantity quantity;
    double percent = share * 100;
    if (percent > 0 && percent < 0.005)
        snprintf(quantity.text, sizeof quantity.text, "<0.01 %%");
    else
        snprintf(quantity.text, sizeof quantity.text, "%.*f %%", percent < 9.95 ? 2 : 1, percent);
    return quantity;
}
