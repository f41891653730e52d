#include "cli/text/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static size_t columns_of(const char *text)
{
    char *end;
    long columns = text ? strtol(text, &end, 10) : 0;
    return columns > 0 && columns < 10000 && *end == '\0' ? (size_t)columns : 0;
}

size_t rfn_terminal_columns(void)
{
    struct winsize size;
    size_t columns = columns_of(getenv("COLUMNS"));
    if (!columns && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (!columns)
        columns = 100;
    return columns < 60 ? 60 : columns;
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
