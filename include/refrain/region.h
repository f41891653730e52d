/* region.h - regions and segments: names for parts of a program's run, for the program to call; and
 * a word on how its messages are sampled.
 *
 *     #include <refrain/region.h>
 *
 *     refrain_region_begin("solve");
 *     ...
 *     refrain_region_end("solve");
 *
 * Link with -lrefrain-region (pkg-config refrain-region). Run as it is, the program does nothing
 * here: a test of a pointer. Run by `refrain record`, the recorder takes the calls: every visit of
 * a region is in the archive with its call path and its times, and `refrain report` says what share
 * of the time each region takes and how much of it is MPI.
 *
 * Regions nest within a thread, and the innermost one ends first. An end that does not fit is told
 * once on standard error and is not recorded. Regions that are open when MPI_Finalize is called end
 * there; after it nothing is recorded. A name counts by its characters (at most 1023), and may be
 * changed or freed after the call. Any thread may call these at any time.
 *
 * Trace profiling compares segments, and keeps iterations that go alike once. It finds segments
 * without help, as iterations of loops; a program that sets marks says itself what an iteration is:
 *
 *     for (...) {
 *         refrain_segment_begin("step");
 *         ...
 *         refrain_segment_end();
 *     }
 *
 * A segment reaches from a begin, or from behind an end, to the next mark. Each thread has its own.
 * Otherwise marks behave as regions do; but a segment may end in another region than the one where
 * it was begun.
 *
 * Under `refrain record --sample` the program may say by which strategy its messages are sampled
 * from now on, in the words of that option:
 *
 *     refrain_sample("random:0.05");
 *
 * All ranks should say the same at the same point: a message that only one of its ends chooses is
 * dropped, and counted.
 *
 * Fortran: `use refrain`, from the module's source refrain.f90 beside this header.
 */
#ifndef REFRAIN_REGION_H
#define REFRAIN_REGION_H

#ifdef __cplusplus
extern "C" {
#endif

void refrain_region_begin(const char *name);
void refrain_region_end(const char *name);

void refrain_segment_begin(const char *name);
void refrain_segment_end(void); /* of the segment begun last */

/* 1: the strategy is taken; 0: nobody samples; -1: it is no strategy, and nothing changes. */
int refrain_sample(const char *strategy);

#ifdef __cplusplus
}
#endif

#endif
