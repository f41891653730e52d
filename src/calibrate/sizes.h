/* sizes.h - which sizes of messages are measured, and in which order.
 *
 * Sizes are spread evenly over the exponents, and within its part of them each is random: powers of
 * 2 alone would hide what begins or ends beside them. The order is random, too, and another one in
 * each round: a disturbance that lasts a while does not pass for the time of a size.
 */
#ifndef RFN_CALIBRATE_SIZES_H
#define RFN_CALIBRATE_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define CAL_MOST_BYTES (INT64_C(16) << 20)
enum { CAL_SIZES = 96, CAL_MOST_SIZES = CAL_SIZES + 3 };

/* Sizes from 1 byte to CAL_MOST_BYTES, both among them, and so are the two sides of eager_bytes.
 * Ascending, all different. Returns how many, at most CAL_MOST_SIZES. */
size_t cal_sizes(int64_t *bytes, int64_t eager_bytes, uint64_t *random);

/* Puts the numbers from 0 to n - 1 into random order. */
void cal_shuffle(size_t *order, size_t n, uint64_t *random);

#endif
