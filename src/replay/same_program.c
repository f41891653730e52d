#include "replay/same_program.h"

#include <stdbool.h>
#include <string.h>

/* n bytes of a path, without its folders. */
struct name {
    const char *text;
    size_t n;
};

static struct name name_in(const char *path, size_t n)
{
    size_t start = n;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return (struct name){path + start, n - start};
}

static bool same_name(struct name a, struct name b)
{
    return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static bool same_programs(const char *a, const char *b)
{
    return same_name(name_in(a, strlen(a)), name_in(b, strlen(b)));
}

/* Whether both start the same file, with the same arguments; true if they start different ones. */
static bool same_arguments(const char *a, const char *b)
{
    size_t first_a = strcspn(a, " "), first_b = strcspn(b, " ");
    return !same_name(name_in(a, first_a), name_in(b, first_b)) ||
           strcmp(a + first_a, b + first_b) == 0;
}

int rpl_check_same_program(const char *file, const struct rfn_run *first,
                           const struct rfn_run *second, struct rfn_diag *diag)
{
    const char *a = text_of(first->program), *b = text_of(second->program);
    if (!same_programs(a, b))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "it is of another program, '%.80s', than %.200s, of '%.80s'", b, file, a);
    a = text_of(first->command), b = text_of(second->command);
    if (!same_arguments(a, b))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "it is of another command, '%.80s', than %.200s, of '%.80s'", b, file, a);
    if (first->ranks != second->ranks)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "it is of %u ranks, %.200s of %u", second->ranks,
                        file, first->ranks);
    return 0;
}
