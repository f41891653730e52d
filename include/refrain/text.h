/* text.h - text that grows, and quantities for people to put into it.
 *
 * A text is quick enough to print tens of millions of numbers. It remembers failure: after the
 * first allocation that failed, further writes are ignored and `failed` stays set.
 */
#ifndef REFRAIN_TEXT_H
#define REFRAIN_TEXT_H

#pragma GCC visibility push(default)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Begins as {0}. */
struct rfn_text {
    char *data; /* not zero-terminated */
    size_t n, capacity;
    bool failed;
};

void rfn_text_release(struct rfn_text *text);

/* Makes room for `more` bytes; false when out of memory. */
bool rfn_text_grow(struct rfn_text *text, size_t more);

static inline bool rfn_text_reserve(struct rfn_text *text, size_t more)
{
    return text->capacity - text->n >= more || rfn_text_grow(text, more);
}

static inline void rfn_text_bytes(struct rfn_text *text, const char *bytes, size_t n)
{
    if (n == 0 || !rfn_text_reserve(text, n))
        return;
    memcpy(text->data + text->n, bytes, n);
    text->n += n;
}

static inline void rfn_text_string(struct rfn_text *text, const char *string)
{
    rfn_text_bytes(text, string, strlen(string));
}

static inline void rfn_text_char(struct rfn_text *text, char c)
{
    rfn_text_bytes(text, &c, 1);
}

void rfn_text_unsigned(struct rfn_text *text, uint64_t value);
void rfn_text_signed(struct rfn_text *text, int64_t value);
void rfn_text_spaces(struct rfn_text *text, size_t n);
void rfn_text_format(struct rfn_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes from a file as one word in UTF-8: backslash, space, tab and newline become \\ \s \t \n,
 * other control characters and each byte that is no part of a character \xNN. */
void rfn_text_escaped(struct rfn_text *text, const char *bytes, size_t n);
/* The same for people: spaces stay. */
void rfn_text_printable(struct rfn_text *text, const char *string);
/* The same for JSON, which has escapes of its own: only bytes that are no part of a character are.
 */
void rfn_text_utf8(struct rfn_text *text, const char *string);
/* A cell of comma-separated values (RFC 4180): in quotes where it needs them. */
void rfn_text_csv(struct rfn_text *text, const char *cell);
/* Ranks in ascending order as runs: "0-3,8,12"; with a stride "0-12:4" (every fourth). */
void rfn_text_ranks(struct rfn_text *text, const uint32_t *ranks, size_t n);

/* The text with a zero behind it that is not counted, borrowed until the text changes; "?" where it
 * has failed. */
const char *rfn_text_terminated(struct rfn_text *text);

/* ---- quantities: three significant digits and a unit, thousands separated ---- */

/* Returned by value: several fit in one call of printf. */
struct rfn_quantity {
    char text[32];
};

struct rfn_quantity rfn_time_text(int64_t ns);       /* "1.23 ms", "12.3 s", "0 s" */
struct rfn_quantity rfn_bytes_text(uint64_t bytes);  /* "512 B", "1.21 KiB" */
struct rfn_quantity rfn_bytes_short(uint64_t bytes); /* at most four characters: "1.2M", "." */
struct rfn_quantity rfn_count_text(uint64_t count);  /* "1,234,567" */
struct rfn_quantity rfn_share_text(double share);    /* 0.1234 is "12.3 %" */

#pragma GCC visibility pop

#endif
