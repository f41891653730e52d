#include "cli/text/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static size_t number_of(const char *text)
{
    char *end;
    long number = text ? strtol(text, &end, 10) : 0;
    return number > 0 && number < 10000 && *end == '\0' ? (size_t)number : 0;
}

size_t rfn_terminal_columns(void)
{
    struct winsize size;
    size_t columns = number_of(getenv("COLUMNS"));
    if (!columns && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (!columns)
        columns = 100;
    return columns < 60 ? 60 : columns;
}

size_t rfn_terminal_lines(void)
{
    struct winsize size;
    size_t lines = number_of(getenv("LINES"));
    if (!lines && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        lines = size.ws_row;
    return lines ? lines : 24;
}

bool rfn_terminal_colors(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void rfn_progress_show(void *context, double share)
{
    struct rfn_progress *progress = context;
    if (!isatty(STDERR_FILENO))
        return;
    if (progress->start == 0) {
        progress->start = seconds();
        progress->percent = -1;
    }
    if (!(share < 1)) /* what a damaged file claims may be anything */
        share = 1;
    int percent = (int)(share * 100);
    if (percent == progress->percent || seconds() - progress->start < 0.5)
        return;
    progress->percent = percent;
    fprintf(stderr, "\r%s: %d %%", progress->what, percent);
    fflush(stderr);
}

void rfn_progress_done(struct rfn_progress *progress)
{
    if (progress->start != 0 && progress->percent >= 0)
        fputs("\r\033[K", stderr);
}
