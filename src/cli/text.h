/* text.h - a growing piece of text, quick enough to print tens of millions of numbers.
 *
 * Like a struct rfn_buf it remembers failure: after the first allocation that failed, further
 * writes are ignored and `failed` stays set.
 */
#ifndef RFN_CLI_TEXT_H
#define RFN_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Bytes from a file as one word: backslash, space, tab and newline become \\ \s \t \n, other
 * control characters \xNN. */
void rfn_text_escaped(struct rfn_text *text, const char *bytes, size_t n);
/* The same for people: spaces stay. */
void rfn_text_printable(struct rfn_text *text, const char *string);

/* Writes the text to standard output through stdio and empties it: 0, or -1 when the reader has
 * gone or the disk is full (errno says). */
int rfn_text_print(struct rfn_text *text);
/* The errno of the first print that failed; 0: none has. */
int rfn_text_print_error(void);
/* The same past stdio, for large output; nothing may be in stdio's buffer. */
int rfn_text_write(struct rfn_text *text);

#endif
