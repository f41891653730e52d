/* rounds.h - how much is enough for a test: all of it, or a part where sanitizers look on.
 *
 * Sanitizers make a program five to ten times slower. `make check` runs every test with and without
 * them: that results are right, and costs bounded, for long and for many inputs is shown without,
 * so that with them a part is enough to show that no byte is touched that should not be.
 */
#ifndef RFN_TESTS_SUPPORT_ROUNDS_H
#define RFN_TESTS_SUPPORT_ROUNDS_H

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define RFN_SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ && !defined RFN_SANITIZED
#define RFN_SANITIZED 1
#endif
#ifndef RFN_SANITIZED
#define RFN_SANITIZED 0
#endif

/* Of n rounds, those to run. */
#define RFN_ROUNDS(n) (RFN_SANITIZED ? (n) / 4 : (n))

#endif
