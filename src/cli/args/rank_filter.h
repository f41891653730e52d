/* rank_filter.h - which ranks a page is about: "3", "0-3,7". */
#ifndef RFN_CLI_ARGS_RANK_FILTER_H
#define RFN_CLI_ARGS_RANK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_rank_range {
    uint32_t first, last;
};

struct rfn_rank_filter {
    struct rfn_rank_range *ranges;
    size_t n;
};

/* Numbers and ranges separated by commas. RFN_E_USAGE when it is not that, RFN_E_NOMEM. */
int rfn_rank_filter_init(struct rfn_rank_filter *filter, const char *text);
void rfn_rank_filter_release(struct rfn_rank_filter *filter);

/* NULL stands for all ranks. */
bool rfn_rank_filter_has(const struct rfn_rank_filter *filter, uint32_t rank);
/* The first rank of those named that a run of n_ranks does not have; -1 when there is none. */
int64_t rfn_rank_filter_beyond(const struct rfn_rank_filter *filter, uint32_t n_ranks);

#endif
