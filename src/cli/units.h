/* units.h - quantities for people: three significant digits and a unit, thousands separated. */
#ifndef RFN_CLI_UNITS_H
#define RFN_CLI_UNITS_H

#include <stdint.h>

/* A quantity as text; returned by value so that several fit in one call of printf. */
struct rfn_quantity {
    char text[32];
};

struct rfn_quantity rfn_time_text(int64_t ns);       /* "1.23 ms", "12.3 s", "0 s" */
struct rfn_quantity rfn_bytes_text(uint64_t bytes);  /* "512 B", "1.21 KiB" */
struct rfn_quantity rfn_bytes_short(uint64_t bytes); /* at most four characters: "1.2M", "." */
struct rfn_quantity rfn_count_text(uint64_t count);  /* "1,234,567" */
struct rfn_quantity rfn_share_text(double share);    /* 0.1234 is "12.3 %" */

#endif
