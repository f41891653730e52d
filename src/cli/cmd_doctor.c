/* cmd_doctor.c - refrain doctor: which MPIs are here, which of them can be recorded, what of the
 * machine changes what a recording tells, and what to type.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "cli/args/command.h"
#include "cli/launch/launch.h"
#include "cli/launch/library_search.h"
#include "cli/launch/mpi_environment.h"
#include "cli/launch/recorders.h"
#include "cli/text/print_text.h"
#include "refrain/text.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names under which programs need an MPI. */
static const char *const libraries[] = {"libmpi.so.40",    "libmpich.so.12", "libmpi.so.12",
                                        "libmpi_abi.so.1", "libmpi.so.20",   "libmpt.so"};

enum { COLUMN = 24 };

static void line(struct rfn_text *page, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void line(struct rfn_text *page, const char *what, const char *format, ...)
{
    char told[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(told, sizeof told, format, args);
    va_end(args);
    rfn_text_format(page, "  %-*s ", COLUMN, what);
    rfn_text_printable(page, told);
    rfn_text_string(page, "\n");
}

/* ---- MPIs ---- */

/* One library that a program would load. Whether it can be recorded. */
static bool tell_library(struct rfn_text *page, const char *name, const char *path)
{
    char recorder[PATH_MAX];
    const struct rfn_recorder *of = rfn_recorder_of(rfn_mpi_of_library(name, path));
    if (of && rfn_recorder_find(of, recorder)) {
        line(page, of->text, "%s: can be recorded", path);
        return true;
    }
    if (of)
        line(page, of->text, "%s: has no recorder here; install %s and build Refrain again", path,
             of->package ? of->package : "Refrain");
    else
        line(page, "an unknown MPI",
             "%s: if it has the binary interface of Open MPI or MPICH, try --mpi=openmpi or "
             "--mpi=mpich",
             path);
    return false;
}

/* How many can be recorded. */
static int tell_libraries(struct rfn_text *page, bool *all)
{
    struct rfn_library_search search;
    struct rfn_elf_file own;
    char path[PATH_MAX];
    int n = 0, n_found = 0;
    if (!rfn_own_path(path, sizeof path) || rfn_elf_file_read(&own, path) < 0)
        return -1;
    const struct rfn_loaded by = {.file = &own};
    rfn_library_search_init(&search, "/etc/ld.so.cache");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        char *found = rfn_library_find(&search, &by, libraries[i]);
        if (found) {
            const bool fits = tell_library(page, libraries[i], found);
            n += fits;
            *all &= fits;
            n_found++;
        }
        free(found);
    }
    rfn_library_search_release(&search);
    rfn_elf_file_release(&own);
    if (n_found == 0)
        line(page, "none",
             "no MPI library is where programs look for it (ld.so.cache, LD_LIBRARY_PATH): install "
             "one, or load its module");
    return n;
}

static void tell_launchers(struct rfn_text *page)
{
    static const char *const names[] = {"mpirun", "mpiexec", "srun", "prterun", "aprun"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char real[PATH_MAX];
        bool denied;
        char *path = rfn_launch_find(names[i], &denied);
        if (path)
            line(page, names[i], "%s", realpath(path, real) ? real : path);
        free(path);
    }
}

/* ---- the machine ---- */

/* The first line of a small file, or "". */
static const char *line_of(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    text[0] = 0;
    if (file) {
        if (!fgets(text, (int)size, file))
            text[0] = 0;
        fclose(file);
    }
    text[strcspn(text, "\n")] = 0;
    return text;
}

static void tell_cores(struct rfn_text *page)
{
    cpu_set_t mask;
    char text[128];
    long quota = 0, period = 0;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int own = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : (int)online;
    line(page, "cores", "%d of %ld; more ranks than that share cores, and wait for them", own,
         online);
    if (sscanf(line_of("/sys/fs/cgroup/cpu.max", text, sizeof text), "%ld %ld", &quota, &period) ==
            2 &&
        period > 0)
        line(page, "limit of the container",
             "%.1f cores: processes that use more are stopped for a while, as if they waited for a "
             "core",
             (double)quota / (double)period);
}

static void tell_counters(struct rfn_text *page)
{
    char text[128];
    const char *level = line_of("/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    if (!level[0])
        line(page, "counters", "the system has none: --volume can only count with PAPI");
    else if (atoi(level) > 2 && geteuid() != 0)
        line(page, "counters",
             "perf_event_paranoid is %s: --volume=instructions works from 2 down (ask the "
             "administrator)",
             level);
    else
        line(page, "counters", "may be read, if the processor has them (--volume=instructions)");
}

static void tell_clock(struct rfn_text *page)
{
    char text[128];
    const char *source = line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                 text, sizeof text);
#if defined __x86_64__
    if (source[0] && strcmp(source, "tsc") != 0) {
        line(page, "clock",
             "the system does not trust the processor's counter and uses %s: times that the "
             "recorder takes may cost more, and differ between cores",
             source);
        return;
    }
#endif
    line(page, "clock", "%s", source[0] ? source : "unknown");
}

static void tell_places(struct rfn_text *page)
{
    if (access("/dev/shm", W_OK) != 0)
        line(page, "/dev/shm",
             "cannot be written: MPIs are slow or fail, and ranks that are not recorded are waited "
             "for");
    if (access("/proc/self/maps", R_OK) != 0)
        line(page, "/proc", "is missing: archives have no names of functions");
}

/* ---- a program ---- */

/* What the program needs. Whether it can be recorded. */
static bool tell_needs(struct rfn_text *page, const struct rfn_needs *needs)
{
    char recorder[PATH_MAX];
    const struct rfn_recorder *of = rfn_recorder_of(needs->mpi);
    const bool fits = of && needs->native && needs->dynamic && rfn_recorder_find(of, recorder);
    if (of)
        rfn_text_format(page, "needs %s, which is %s; %s", needs->library, of->text,
                        fits ? "it can be recorded"
                             : "'refrain record' says why it cannot be recorded");
    else if (needs->library[0])
        rfn_text_format(page, "needs %s, an MPI that Refrain has no recorder for", needs->library);
    else
        rfn_text_format(
            page,
            "%s: name the MPI that it loads by --mpi, or start it by the launcher of that MPI",
            needs->elf ? "needs no MPI library" : "is a script");
    return fits;
}

static int tell_program(struct rfn_text *page, const char *program)
{
    struct rfn_needs needs;
    bool denied;
    char *file = rfn_launch_find(program, &denied);
    const int error = file ? rfn_elf_needs(file, &needs) : RFN_E_NOTFOUND;
    free(file);
    if (error < 0)
        return rfn_command_fail(program, error, NULL);
    rfn_text_printable(page, program);
    rfn_text_char(page, ' ');
    const bool fits = tell_needs(page, &needs);
    rfn_text_char(page, '\n');
    if (fits) {
        rfn_text_string(page, "Next: mpirun -n 4 refrain record ");
        rfn_text_printable(page, program);
        rfn_text_char(page, '\n');
    }
    return fits ? RFN_EXIT_OK : RFN_EXIT_FAILURE;
}

/* ---- the verb ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const char **program = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (*program)
        argp_error(state, "one program at a time");
    *program = arg;
    return 0;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct rfn_text page = {0};
    const char *program = NULL;
    bool all = true;
    rfn_command_parse(command, parse, argc, argv, &program);
    if (program) {
        const int status = tell_program(&page, program);
        return rfn_command_print(&page, NULL, status);
    }
    rfn_text_string(&page, "MPI libraries:\n");
    const int n = tell_libraries(&page, &all);
    rfn_text_string(&page, "Launchers:\n");
    tell_launchers(&page);
    rfn_text_string(&page, "This machine:\n");
    tell_cores(&page);
    tell_clock(&page);
    tell_counters(&page);
    tell_places(&page);
    rfn_text_string(&page, n > 0 ? "Next: mpirun -n 4 refrain record ./app\n"
                                 : "No program can be recorded here yet.\n");
    return rfn_command_print(&page, NULL, n > 0 && all ? RFN_EXIT_OK : RFN_EXIT_FAILURE);
}

const struct rfn_command rfn_cmd_doctor = {
    .name = "doctor",
    .summary = "Lists the MPIs here, and says whether Refrain can record them",
    .usage = "[PROGRAM]",
    .about = "Lists the MPI libraries that programs would load here, whether Refrain has a "
             "recorder for each, the launchers, and what of this machine changes what a recording "
             "tells. With a program: which MPI that needs. Exits with 0 if all can be recorded, "
             "else with 1.",
    .run = run,
};
