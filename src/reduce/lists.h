/* lists.h - interned lists of words: equal lists are one number.
 *
 * Array arguments (counts of a v-collective, requests of a Waitall, names) are one word in an
 * event: the number of the list. Numbers count from 1 in order of first use; 0 is the empty list.
 */
#ifndef RFN_REDUCE_LISTS_H
#define RFN_REDUCE_LISTS_H

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct rfn_lists {
    int64_t *words; /* of all lists, one after the other */
    size_t n_words, words_capacity;
    size_t *ends; /* list i (from 1) ends before words[ends[i - 1]] */
    size_t n, ends_capacity;
    struct rfn_map by_hash; /* hash of a list's words -> its number; on a collision the next hash */
};

#define RFN_LISTS_INIT \
    {                  \
        0              \
    }

void rfn_lists_release(struct rfn_lists *lists);
/* The list's number, 0 for n = 0, RFN_E_NOMEM. */
int64_t rfn_lists_intern(struct rfn_lists *lists, const int64_t *words, size_t n);
/* The words of a list (number 1 to lists->n); NULL and *n = 0 for another number. */
const int64_t *rfn_lists_get(const struct rfn_lists *lists, size_t number, size_t *n);

#endif
