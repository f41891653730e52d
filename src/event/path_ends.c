#include "refrain/recording.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES_MAX = 1000 };

/* "O,I" with 0 <= O, 1 <= I: numbers of frames. */
static bool read_numbers(const char *text, struct rfn_path_ends *ends)
{
    unsigned outer, inner;
    int used = 0;
    if (strspn(text, "0123456789,") != strlen(text) || strlen(text) > sizeof "1000,1000" - 1 ||
        sscanf(text, "%u,%u%n", &outer, &inner, &used) != 2 || text[used])
        return false;
    *ends = (struct rfn_path_ends){outer, inner};
    return inner > 0 && outer <= FRAMES_MAX && inner <= FRAMES_MAX;
}

bool rfn_path_match_parse(const char *text, struct rfn_path_ends *ends)
{
    static const char with_numbers[] = "ends:";
    *ends = (struct rfn_path_ends){0};
    if (strcmp(text, "all") == 0)
        return true;
    if (strcmp(text, "ends") == 0) {
        *ends = (struct rfn_path_ends){1, 1};
        return true;
    }
    struct rfn_path_ends read;
    if (strncmp(text, with_numbers, sizeof with_numbers - 1) != 0 ||
        !read_numbers(text + sizeof with_numbers - 1, &read))
        return false;
    *ends = read;
    return true;
}
