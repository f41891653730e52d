/* message.h - words to the user, and signals that the recorder's own writing must not raise.
 *
 * Writing to a pipe that nobody reads raises SIGPIPE, and a file that grows beyond the process's
 * limit SIGXFSZ; both end a program that does not expect them. What the recorder writes must not
 * do that: the signals are held back while it writes, and thrown away when they are its own.
 */
#ifndef RFN_RECORD_CORE_MESSAGE_H
#define RFN_RECORD_CORE_MESSAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct rec_signals {
    sigset_t blocked; /* the thread's mask before */
    bool pending[2];  /* SIGPIPE, SIGXFSZ were pending before: not ours */
};

void rec_signals_hold(struct rec_signals *signals);
void rec_signals_release(const struct rec_signals *signals); /* keeps errno */

/* "refrain: ", the text (printf-like) and a newline to standard error, in one write, so that lines
 * of several ranks do not mix. Nothing happens when nobody can read it, or when the program has
 * made that descriptor another file. */
void rec_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum { REC_MESSAGE = 1024 }; /* bytes of a line; the rest is cut */

/* "1,234,567", in text. */
const char *rec_message_number(uint64_t value, char text[32]);

#endif
