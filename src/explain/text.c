#include "refrain/text.h"

#include "base/c_numbers.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
    if (n == 0 || !rfn_text_reserve(text, n))
        return;
    memset(text->data + text->n, ' ', n);
    text->n += n;
}

void rfn_text_format(struct rfn_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = rfn_c_vprint(NULL, 0, format, args);
    if (n >= 0 && rfn_text_reserve(text, (size_t)n + 1)) {
        rfn_c_vprint(text->data + text->n, (size_t)n + 1, format, again);
        text->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

static void append_byte(struct rfn_text *text, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    rfn_text_string(text, "\\x");
    rfn_text_char(text, hex[byte >> 4]);
    rfn_text_char(text, hex[byte & 15]);
}

/* Appends the character or byte that the n bytes begin with; how many bytes it was. */
static size_t escape(struct rfn_text *text, const char *bytes, size_t n, bool spaces)
{
    static const char from[] = "\\ \t\n", to[] = "\\stn";
    const unsigned char first = (unsigned char)bytes[0], next = n > 1 ? (unsigned char)bytes[1] : 0;
    const char *at = first ? strchr(from, first) : NULL;
    size_t length = rfn_utf8_length(bytes, n);
    bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && next < 0xa0);
    if (at && !(spaces && first == ' ')) {
        rfn_text_char(text, '\\');
        rfn_text_char(text, to[at - from]);
    } else if (!control && length) {
        rfn_text_bytes(text, bytes, length);
    } else {
        length = length ? length : 1;
        for (size_t i = 0; i < length; i++)
            append_byte(text, (unsigned char)bytes[i]);
    }
    return length;
}

void rfn_text_escaped(struct rfn_text *text, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;)
        i += escape(text, bytes + i, n - i, false);
}

void rfn_text_printable(struct rfn_text *text, const char *string)
{
    for (size_t i = 0, n = strlen(string); i < n;)
        i += escape(text, string + i, n - i, true);
}

void rfn_text_utf8(struct rfn_text *text, const char *string)
{
    for (size_t i = 0, n = strlen(string), length; i < n; i += length ? length : 1) {
        length = rfn_utf8_length(string + i, n - i);
        if (length)
            rfn_text_bytes(text, string + i, length);
        else
            append_byte(text, (unsigned char)string[i]);
    }
}

void rfn_text_csv(struct rfn_text *text, const char *cell)
{
    const bool quoted = cell[strcspn(cell, ",\"\r\n")] != '\0';
    if (quoted)
        rfn_text_char(text, '"');
    for (; *cell; cell++) {
        if (*cell == '"')
            rfn_text_char(text, '"');
        rfn_text_char(text, *cell);
    }
    if (quoted)
        rfn_text_char(text, '"');
}

void rfn_text_ranks(struct rfn_text *text, const uint32_t *ranks, size_t n)
{
    for (size_t i = 0, length; i < n; i += length) {
        uint32_t stride = i + 1 < n ? ranks[i + 1] - ranks[i] : 1;
        for (length = 1; i + length < n && ranks[i + length] - ranks[i + length - 1] == stride;)
            length++;
        if (length == 2 && stride != 1)
            length = 1;
        if (i)
            rfn_text_char(text, ',');
        rfn_text_unsigned(text, ranks[i]);
        if (length > 1)
            rfn_text_format(text, "-%u", ranks[i + length - 1]);
        if (length > 1 && stride != 1)
            rfn_text_format(text, " by %u", stride);
    }
}

const char *rfn_text_terminated(struct rfn_text *text)
{
    rfn_text_char(text, '\0');
    if (text->failed)
        return "?";
    text->n--;
    return text->data;
}

/* ---- quantities ---- */

/* Three significant digits of a value below 1024; whole numbers from 100 on. */
static struct rfn_quantity scaled(double value, const char *unit)
{
    struct rfn_quantity quantity;
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    rfn_c_print(quantity.text, sizeof quantity.text, "%.*f %s", digits, value, unit);
    return quantity;
}

static struct rfn_quantity whole(uint64_t value, const char *unit)
{
    struct rfn_quantity quantity;
    snprintf(quantity.text, sizeof quantity.text, "%llu%s", (unsigned long long)value, unit);
    return quantity;
}

struct rfn_quantity rfn_time_text(int64_t ns)
{
    static const char *const units[] = {"us", "ms"};
    double value = (double)ns;
    if (ns == 0)
        return whole(0, " s");
    if (ns < 0) {
        struct rfn_quantity positive = rfn_time_text(ns == INT64_MIN ? INT64_MAX : -ns), negative;
        snprintf(negative.text, sizeof negative.text, "-%.30s", positive.text);
        return negative;
    }
    if (ns < 1000)
        return whole((uint64_t)ns, " ns");
    for (unsigned i = 0; i < 2; i++) {
        value /= 1000;
        if (value < 999.5)
            return scaled(value, units[i]);
    }
    value /= 1000;
    if (value < 999.5)
        return scaled(value, "s");
    struct rfn_quantity seconds = rfn_count_text((uint64_t)(value + 0.5));
    strcat(seconds.text, " s");
    return seconds;
}

struct rfn_quantity rfn_bytes_text(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024)
        return whole(bytes, " B");
    double value = (double)bytes / 1024;
    unsigned i = 0;
    while (value >= 1023.5 && i < 5) {
        value /= 1024;
        i++;
    }
    return scaled(value, units[i]);
}

struct rfn_quantity rfn_bytes_short(uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    struct rfn_quantity quantity = {"."};
    if (bytes == 0)
        return quantity;
    if (bytes < 1000)
        return whole(bytes, "");
    double value = (double)bytes / 1024;
    unsigned i = 0;
    while (value >= 999.5 && i < 5) {
        value /= 1024;
        i++;
    }
    rfn_c_print(quantity.text, sizeof quantity.text, "%.*f%c", value < 9.95 ? 1 : 0, value,
                units[i]);
    return quantity;
}

struct rfn_quantity rfn_count_text(uint64_t count)
{
    struct rfn_quantity plain = whole(count, ""), separated;
    size_t n = strlen(plain.text), at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            separated.text[at++] = ',';
        separated.text[at++] = plain.text[i];
    }
    separated.text[at] = '\0';
    return separated;
}

struct rfn_quantity rfn_share_text(double share)
{
    struct rfn_quantity quantity;
    double percent = share * 100;
    if (percent > 0 && percent < 0.005)
        snprintf(quantity.text, sizeof quantity.text, "<0.01 %%");
    else
        rfn_c_print(quantity.text, sizeof quantity.text, "%.*f %%", percent < 9.95 ? 2 : 1,
                    percent);
    return quantity;
}
