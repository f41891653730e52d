#include "cli/text/print_text.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int print_error;

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
