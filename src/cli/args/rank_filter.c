#include "cli/args/rank_filter.h"

#include "refrain/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number at *text, which moves behind it; false when there is none or it is too large. */
static bool number(const char **text, uint32_t *value)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    unsigned long long n = strtoull(*text, &end, 10);
    if (errno || n >= UINT32_MAX)
        return false;
    *text = end;
    *value = (uint32_t)n;
    return true;
}

static bool range(const char **text, struct rfn_rank_range *range)
{
    if (!number(text, &range->first))
        return false;
    range->last = range->first;
    if (**text == '-') {
        ++*text;
        if (!number(text, &range->last))
            return false;
    }
    return range->first <= range->last;
}

int rfn_rank_filter_init(struct rfn_rank_filter *filter, const char *text)
{
    *filter = (struct rfn_rank_filter){0};
    filter->ranges = calloc(strlen(text) + 1, sizeof *filter->ranges);
    if (!filter->ranges)
        return RFN_E_NOMEM;
    do {
        if (!range(&text, &filter->ranges[filter->n++]) || (*text && *text != ',')) {
            rfn_rank_filter_release(filter);
            return RFN_E_USAGE;
        }
    } while (*text++ == ',');
    return 0;
}

void rfn_rank_filter_release(struct rfn_rank_filter *filter)
{
    free(filter->ranges);
    *filter = (struct rfn_rank_filter){0};
}

bool rfn_rank_filter_has(const struct rfn_rank_filter *filter, uint32_t rank)
{
    for (size_t i = 0; filter && i < filter->n; i++) {
        if (filter->ranges[i].first <= rank && rank <= filter->ranges[i].last)
            return true;
    }
    return !filter;
}

int64_t rfn_rank_filter_beyond(const struct rfn_rank_filter *filter, uint32_t n_ranks)
{
    for (size_t i = 0; filter && i < filter->n; i++) {
        const struct rfn_rank_range *range = &filter->ranges[i];
        if (range->last >= n_ranks)
            return range->first >= n_ranks ? range->first : n_ranks;
    }
    return -1;
}
