#include "cli/text/wrap.h"

/* Bytes of the escape sequence that begins here (ESC [ ... letter); 0: none does. */
static size_t escape_length(const char *text, size_t n)
{
    size_t i = 2;
    if (n < 2 || text[0] != '\033' || text[1] != '[')
        return 0;
    while (i < n && (unsigned char)text[i] < 0x40)
        i++;
    return i < n ? i + 1 : n;
}

size_t rfn_text_columns(const char *text, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0, escape; i < n; i += escape ? escape : 1) {
        escape = escape_length(text + i, n - i);
        columns += !escape && ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return columns;
}

static void new_line(struct rfn_text *out, size_t indent)
{
    rfn_text_char(out, '\n');
    rfn_text_spaces(out, indent);
}

/* A word of bytes whose characters may have to be spread over lines; the column behind it. */
static size_t append_word(struct rfn_text *out, const char *word, size_t n, size_t at, size_t width,
                          size_t indent)
{
    for (size_t i = 0, taken; i < n; i += taken) {
        size_t escape = escape_length(word + i, n - i);
        bool begins = !escape && ((unsigned char)word[i] & 0xc0) != 0x80;
        taken = escape ? escape : 1;
        if (begins && at >= width && at > indent) {
            new_line(out, indent);
            at = indent;
        }
        rfn_text_bytes(out, word + i, taken);
        at += begins;
    }
    return at;
}

/* Whether a space stands between a number and its unit, which stay on one line. */
static bool glued(const struct rfn_text *text, size_t space)
{
    static const char *const units[] = {"%", "ns", "us", "ms", "s"};
    const char *next = text->data + space + 1;
    size_t left = text->n - space - 1;
    bool number = space > 0 && text->data[space - 1] >= '0' && text->data[space - 1] <= '9';
    for (size_t i = 0; number && i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i]);
        if (left >= n && memcmp(next, units[i], n) == 0 &&
            (left == n || strchr(" ,;:.)", next[n]) != NULL))
            return true;
    }
    return false;
}

void rfn_text_wrap(struct rfn_text *out, const struct rfn_text *text, size_t width, size_t indent)
{
    size_t start = out->n, at, n;
    bool first = true; /* of its line */
    while (start > 0 && out->data[start - 1] != '\n')
        start--;
    at = out->n > start ? rfn_text_columns(out->data + start, out->n - start) : 0;
    out->failed |= text->failed;
    for (size_t i = 0; !out->failed && i < text->n; i += n + 1) {
        const char *word = text->data + i;
        for (n = 0; i + n < text->n && (word[n] != ' ' || (n > 0 && glued(text, i + n)));)
            n++;
        if (n > 0 && !first && at + 1 + rfn_text_columns(word, n) > width) {
            new_line(out, indent);
            at = indent;
        } else if (n > 0 && !first) {
            rfn_text_char(out, ' ');
            at++;
        }
        at = append_word(out, word, n, at, width, indent);
        first = first && n == 0;
    }
    rfn_text_char(out, '\n');
}

size_t rfn_text_lines(const struct rfn_text *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->n; i++)
        n += text->data[i] == '\n';
    return n;
}
