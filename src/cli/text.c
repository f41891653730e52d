#include "cli/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int print_error;

void rfn_text_release(struct rfn_text *text)
{
    free(text->data);
    *text = (struct rfn_text){0};
}

bool rfn_text_grow(struct rfn_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity * 2 : 256;
    if (text->failed || more > SIZE_MAX / 4)
        return false;
    while (capacity < text->n + more)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void rfn_text_unsigned(struct rfn_text *text, uint64_t value)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char digits[20];
    size_t at = sizeof digits;
    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * value, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    rfn_text_bytes(text, digits + at, sizeof digits - at);
}

void rfn_text_signed(struct rfn_text *text, int64_t value)
{
    if (value < 0) {
        rfn_text_char(text, '-');
        rfn_text_unsigned(text, 0 - (uint64_t)value);
    } else {
        rfn_text_unsigned(text, (uint64_t)value);
    }
}

void rfn_text_spaces(struct rfn_text *text, size_t n)
{
    if (!rfn_text_reserve(text, n))
        return;
    memset(text->data + text->n, ' ', n);
    text->n += n;
}

void rfn_text_format(struct rfn_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n >= 0 && rfn_text_reserve(text, (size_t)n + 1)) {
        vsnprintf(text->data + text->n, (size_t)n + 1, format, again);
        text->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

static void escape(struct rfn_text *text, char c, bool spaces)
{
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\\ \t\n", to[] = "\\stn";
    const char *at = c ? strchr(from, c) : NULL;
    if (at && !(spaces && c == ' ')) {
        rfn_text_char(text, '\\');
        rfn_text_char(text, to[at - from]);
    } else if ((unsigned char)c < 0x20 || c == 0x7f) {
        rfn_text_string(text, "\\x");
        rfn_text_char(text, hex[(unsigned char)c >> 4]);
        rfn_text_char(text, hex[(unsigned char)c & 15]);
    } else {
        rfn_text_char(text, c);
    }
}

void rfn_text_escaped(struct rfn_text *text, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        escape(text, bytes[i], false);
}

void rfn_text_printable(struct rfn_text *text, const char *string)
{
    for (; *string; string++)
        escape(text, *string, true);
}

int rfn_text_print(struct rfn_text *text)
{
    size_t n = text->n;
    text->n = 0;
    if (n == 0 || fwrite(text->data, 1, n, stdout) == n)
        return 0;
    print_error = print_error ? print_error : errno;
    return -1;
}

int rfn_text_print_error(void)
{
    return print_error;
}

int rfn_text_write(struct rfn_text *text)
{
    size_t at = 0;
    while (at < text->n) {
        ssize_t n = write(STDOUT_FILENO, text->data + at, text->n - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        at += (size_t)n;
    }
    text->n = 0;
    return 0;
}
