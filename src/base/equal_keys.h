/* equal_keys.h - which of many keys are equal, by sorting them: keys that come from a file cannot
 * be chosen so that it takes long, as those of a map (map.h) can.
 */
#ifndef RFN_BASE_EQUAL_KEYS_H
#define RFN_BASE_EQUAL_KEYS_H

#include "refrain/error.h"

#include <stddef.h>
#include <stdint.h>

/* first[i]: the lowest place of a key that equals that at i; n of both. O(n log n). RFN_E_NOMEM. */
int rfn_first_equal(const uint64_t *keys, uint32_t n, uint32_t *first);

#endif
