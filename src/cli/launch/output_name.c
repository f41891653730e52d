#define _POSIX_C_SOURCE 200809L /* gethostname, open_memstream */
#include "cli/launch/output_name.h"

#include "cli/launch/mpi_environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUE = 256 };

/* Reads the variable at a percent sign: how many bytes it takes, and the name of one of the
 * environment's, of VALUE bytes. */
static int read_variable(const char *pattern, const char *at, size_t *length, char *name,
                         struct rfn_diag *diag)
{
    const size_t braced = at[1] == '{' ? strcspn(at + 2, "}") : 0;
    *length = 2;
    if (at[1] && strchr("rhje%", at[1]))
        return 0;
    if (braced && braced < VALUE && at[2 + braced]) {
        snprintf(name, VALUE, "%.*s", (int)braced, at + 2);
        *length = braced + 3;
        return 0;
    }
    return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                    "the name %s has no variable at '%.20s': there are %%r (ranks), %%h (host), "
                    "%%j (job), %%e (program) and %%{VAR} of the environment; write %%%% for a "
                    "percent sign",
                    pattern, at);
}

static const char *job_number(char *text)
{
    static const char *const schedulers[] = {"SLURM_JOB_ID", "PBS_JOBID",  "LSB_JOBID", "JOB_ID",
                                             "FLUX_JOB_ID",  "OAR_JOB_ID", NULL};
    for (const char *const *name = schedulers; *name; name++) {
        const char *value = getenv(*name);
        if (value && value[0])
            return value;
    }
    snprintf(text, VALUE, "%ld", (long)getppid());
    return text;
}

/* The value of a variable by its letter, maybe in text, of VALUE bytes; NULL: it is not set. */
static const char *value_of(char letter, const char *name, const char *program, char *text)
{
    const char *slash = strrchr(program, '/');
    switch (letter) {
    case 'r':
        snprintf(text, VALUE, "%ld", rfn_job_size());
        return text;
    case 'h':
        text[VALUE - 1] = 0;
        return gethostname(text, VALUE - 1) == 0 ? text : NULL;
    case 'j':
        return job_number(text);
    case 'e':
        return slash ? slash + 1 : program;
    case '{':
        return getenv(name);
    default:
        return "%";
    }
}

static int expand(const char *pattern, const char *program, FILE *out, struct rfn_diag *diag)
{
    char name[VALUE], text[VALUE];
    size_t length;
    for (const char *at = pattern; *at; at += length) {
        length = strcspn(at, "%");
        if (length > 0) {
            if (out)
                fwrite(at, 1, length, out);
            continue;
        }
        RFN_TRY(read_variable(pattern, at, &length, name, diag));
        const char *value = out ? value_of(at[1], name, program, text) : "";
        if (!value)
            return rfn_fail(diag, RFN_E_USAGE, -1, -1, "the name %s needs %.*s, which is not set",
                            pattern, (int)length, at);
        if (out)
            fputs(value, out);
    }
    return 0;
}

int rfn_output_name(const char *pattern, const char *program, char **name, struct rfn_diag *diag)
{
    size_t size;
    if (!name)
        return expand(pattern, program, NULL, diag);
    *name = NULL;
    FILE *out = open_memstream(name, &size);
    int error = out ? expand(pattern, program, out, diag) : RFN_E_NOMEM;
    if (out && fclose(out) != 0 && !error)
        error = RFN_E_NOMEM;
    if (error) {
        free(*name);
        *name = NULL;
    }
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error))
                                : error;
}

char *rfn_output_quoted(const char *text)
{
    char *quoted = malloc(2 * strlen(text) + 1), *to = quoted;
    for (; quoted && *text; text++) {
        *to++ = *text;
        if (*text == '%')
            *to++ = '%';
    }
    if (quoted)
        *to = 0;
    return quoted;
}
