/* arithmetic.h - floating point inside a program that has rules of its own for it.
 *
 * A program may have the processor trap where a result is inexact, or round upwards. What runs
 * inside of it then sets the defaults and puts the program's rules back, flags included, around
 * functions that compute in floating point. On x86-64 these are rules of the SSE unit, which is all
 * that is used here; other processors trap imprecisely or not at all, and nothing is done. Without
 * the C library's functions for it the recorder needs no libm.
 */
#ifndef RFN_BASE_ARITHMETIC_H
#define RFN_BASE_ARITHMETIC_H

/* Sets the defaults; returns the thread's rules so far. */
unsigned rfn_arithmetic_begin(void);
void rfn_arithmetic_end(unsigned programs);

#endif
