#define _GNU_SOURCE /* syscall */
#include "event/counter.h"

#include "base/system.h"
#include "event/papi.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char papi_prefix[] = "papi:";

/* ---- the processor's counters ---- */

#if defined __x86_64__
static uint64_t rdpmc(uint32_t number)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
    return (uint64_t)high << 32 | low;
}
#else
static uint64_t rdpmc(uint32_t number)
{
    (void)number;
    return 0;
}
#endif

/* `lock` changes whenever the kernel writes to the page. An index of 0 means that the counter is
 * not running, and `offset` is all there is. */
uint64_t rfn_counter_page_value(const void *mapped, uint64_t (*read_counter)(uint32_t number))
{
    const volatile struct perf_event_mmap_page *page = mapped;
    for (;;) {
        uint32_t lock = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint32_t index = page->index;
        uint64_t value = (uint64_t)page->offset;
        if (page->cap_user_rdpmc && index) {
            unsigned unused = 64u - page->pmc_width;
            /* The counter's bits are a signed number. */
            value += (uint64_t)((int64_t)(read_counter(index - 1) << unused) >> unused);
        }
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (page->lock == lock)
            return value;
    }
}

static int paranoia(void)
{
    int level = -2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file && fscanf(file, "%d", &level) != 1)
        level = -2;
    if (file)
        fclose(file);
    return level;
}

static int perf_failed(int error, struct rfn_diag *diag)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the system does not let this user count "
                        "(/proc/sys/kernel/perf_event_paranoid is %d and must be 2 or less; a "
                        "container may forbid it, too)",
                        paranoia());
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the kernel knows of no counters in this processor (many virtual machines "
                        "have none)");
    case ENOSYS:
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "the kernel has no perf_event_open");
    default:
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "perf_event_open: %s", strerror(error));
    }
}

/* The page stays, and the counter with it, when the descriptor is closed. */
static bool use_page(struct rfn_counter *counter, int fd)
{
#if defined __x86_64__
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return false;
    const volatile struct perf_event_mmap_page *first = page;
    if (first->cap_user_rdpmc && first->index && first->pmc_width) {
        *counter = (struct rfn_counter){.kind = RFN_COUNTER_PAGE, .page = page};
        close(fd);
        return true;
    }
    munmap(page, size);
#else
    (void)counter, (void)fd;
#endif
    return false;
}

static int open_perf(struct rfn_counter *counter, struct rfn_diag *diag)
{
    /* Pinned: it counts all the time or not at all, so that no count is an estimate. */
    struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof what,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .pinned = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = rfn_above_standard(
        (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    uint64_t value;
    if (fd < 0)
        return perf_failed(errno, diag);
    if (read(fd, &value, sizeof value) != sizeof value) {
        close(fd);
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "all counters of the processor are in use");
    }
    if (!use_page(counter, fd))
        *counter = (struct rfn_counter){.kind = RFN_COUNTER_FILE, .handle = fd};
    return 0;
}

/* ---- PAPI ---- */

static int open_papi(struct rfn_counter *counter, const char *event, struct rfn_diag *diag)
{
    int set;
    RFN_TRY(rfn_papi_open(event, &set, diag));
    *counter = (struct rfn_counter){.kind = RFN_COUNTER_PAPI, .handle = set};
    return 0;
}

static int open_instructions(struct rfn_counter *counter, struct rfn_diag *diag)
{
    struct rfn_diag perf = {.file_offset = -1, .rank = -1}, papi = perf;
    if (open_perf(counter, &perf) == 0 || open_papi(counter, "PAPI_TOT_INS", &papi) == 0)
        return 0;
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                    "this machine does not count instructions: %s; %s", perf.text, papi.text);
}

/* ---- all kinds ---- */

static const char *papi_event(const char *name)
{
    size_t n = sizeof papi_prefix - 1;
    return strncmp(name, papi_prefix, n) == 0 && name[n] ? name + n : NULL;
}

bool rfn_volume_known(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "instructions") == 0 || papi_event(name);
}

const char *rfn_volume_unit(const char *name)
{
    if (strcmp(name, "cpu") == 0)
        return "ns";
    return strcmp(name, "instructions") == 0 ? "instructions" : "";
}

const char *rfn_volume_preferred(void)
{
    static const char first[] = "instructions";
    return rfn_volume_probe(first, NULL) == 0 ? first : "cpu";
}

int rfn_counter_open(struct rfn_counter *counter, const char *name, struct rfn_diag *diag)
{
    *counter = (struct rfn_counter){.kind = RFN_COUNTER_NONE};
    if (!rfn_volume_known(name))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "there is no volume '%s'", name);
    if (papi_event(name))
        return open_papi(counter, papi_event(name), diag);
    if (strcmp(name, "instructions") == 0)
        return open_instructions(counter, diag);
    counter->kind = RFN_COUNTER_CPU;
    return 0;
}

void rfn_counter_close(struct rfn_counter *counter)
{
    if (counter->kind == RFN_COUNTER_PAGE)
        munmap(counter->page, (size_t)sysconf(_SC_PAGESIZE));
    else if (counter->kind == RFN_COUNTER_FILE)
        close(counter->handle);
    else if (counter->kind == RFN_COUNTER_PAPI)
        rfn_papi_close(counter->handle);
    *counter = (struct rfn_counter){.kind = RFN_COUNTER_NONE};
}

uint64_t rfn_counter_read(struct rfn_counter *counter)
{
    struct timespec now;
    uint64_t value;
    switch (counter->kind) {
    case RFN_COUNTER_CPU:
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    case RFN_COUNTER_PAGE:
        return rfn_counter_page_value(counter->page, rdpmc);
    case RFN_COUNTER_FILE:
        if (read(counter->handle, &value, sizeof value) == sizeof value)
            counter->last = value;
        return counter->last;
    case RFN_COUNTER_PAPI:
        rfn_papi_read(counter->handle, &counter->last);
        return counter->last;
    default:
        return 0;
    }
}

int rfn_volume_probe(const char *name, struct rfn_diag *diag)
{
    struct rfn_counter counter;
    RFN_TRY(rfn_counter_open(&counter, name, diag));
    rfn_counter_read(&counter);
    rfn_counter_close(&counter);
    return 0;
}
