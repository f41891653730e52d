/* random_clusters.h - ranks with random parameters, for tests of clusters.
 *
 * To be included after cmocka.h. A few signatures, lists of fields and values, so that ranks meet.
 */
#ifndef RFN_TESTS_SUPPORT_RANDOM_CLUSTERS_H
#define RFN_TESTS_SUPPORT_RANDOM_CLUSTERS_H

#include "reduce/clusters/clusters.h"

#include <stdlib.h>

enum { MEMBER_FIELDS = 4, MEMBER_WORDS = 8, MEMBER_COUNTS = 4 };

struct random_member {
    struct rfn_cluster_field fields[MEMBER_FIELDS];
    int64_t words[MEMBER_WORDS];
    struct rfn_cluster_member member;
};

/* A CALL, a PEER of one entry or two, a COUNT, and a PLACE of one entry. */
static inline void make_member(struct random_member *made, uint32_t rank)
{
    uint32_t entries = 1 + (uint32_t)(rand() % 8 == 0);
    size_t n = 0;
    *made = (struct random_member){.fields = {{1, 0, RFN_ROLE_CALL, 0},
                                              {1, 3, RFN_ROLE_PEER, 3 * entries},
                                              {1, 1, RFN_ROLE_COUNT, 2},
                                              {2, 0, RFN_ROLE_PLACE, entries == 1 ? 1 : 0}}};
    for (uint32_t i = 0; i < entries; i++) {
        made->words[n++] = rand() % 2;
        made->words[n++] = 64;
        made->words[n++] = -1;
    }
    made->words[n++] = 1000 + 30 * (rand() % MEMBER_COUNTS);
    made->words[n++] = 2000;
    if (entries == 1)
        made->words[n++] = rand() % 3;
    made->member = (struct rfn_cluster_member){.rank = rank,
                                               .signature = (uint64_t)rand() % 3,
                                               .calls = 10 + (uint64_t)rand() % 5,
                                               .fields = made->fields,
                                               .n_fields = MEMBER_FIELDS,
                                               .words = made->words};
}

#endif
