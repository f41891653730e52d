#include "cli/wrap.h"

size_t rfn_text_columns(const char *text, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Columns of the last line. */
static size_t last_line(const struct rfn_text *text)
{
    size_t start = text->n;
    while (start > 0 && text->data[start - 1] != '\n')
        start--;
    return text->n > start ? rfn_text_columns(text->data + start, text->n - start) : 0;
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
    for (size_t i = 0; i < n; i++) {
        bool begins = ((unsigned char)word[i] & 0xc0) != 0x80;
        if (begins && at >= width && at > indent) {
            new_line(out, indent);
            at = indent;
        }
        rfn_text_char(out, word[i]);
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

/* How long the word is that begins at `at`. */
static size_t word_length(const struct rfn_text *text, size_t at)
{
    size_t end = at;
    while (end < text->n && (text->data[end] != ' ' || (end > at && glued(text, end))))
        end++;
    return end - at;
}

void rfn_text_wrap(struct rfn_text *out, const struct rfn_text *text, size_t width, size_t indent)
{
    size_t at = last_line(out), i = 0;
    bool first = true; /* of its line */
    if (text->failed)
        out->failed = true;
    while (!out->failed && i < text->n) {
        const char *word = text->data + i;
        size_t n = word_length(text, i);
        if (n > 0 && !first && at + 1 + rfn_text_columns(word, n) > width) {
            new_line(out, indent);
            at = indent;
        } else if (n > 0 && !first) {
            rfn_text_char(out, ' ');
            at++;
        }
        at = append_word(out, word, n, at, width, indent);
        first = first && n == 0;
        i += n + 1;
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
