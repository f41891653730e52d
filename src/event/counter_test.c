/* Counters: those that every machine has, count; what the processor's page says is read as the
 * kernel's header tells, from pages made by hand. */
#define _GNU_SOURCE /* syscall, RUSAGE_THREAD */
#include "event/counter.h"

#include <dlfcn.h>
#include <linux/perf_event.h>
#ifdef RFN_HAVE_PAPI
#include <papi.h>
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

enum { SPIN_NS = 20000000, SHORT_SPIN_NS = 1000000, TRIES = 1000 };

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Counts a spin of so much CPU time. */
static uint64_t count_spin(const char *name, int64_t ns)
{
    struct rfn_counter counter;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_counter_open(&counter, name, &diag) < 0)
        fail_msg("%s: %s", name, diag.text);
    uint64_t before = rfn_counter_read(&counter);
    int64_t end = cpu_ns() + ns;
    while (cpu_ns() < end)
        ;
    uint64_t count = rfn_counter_read(&counter) - before;
    rfn_counter_close(&counter);
    assert_int_equal(rfn_counter_read(&counter), 0); /* closed */
    return count;
}

static void test_cpu(void **state)
{
    (void)state;
    assert_true(count_spin("cpu", SPIN_NS) >= SPIN_NS);
}

#ifdef RFN_HAVE_PAPI
static long n_switches(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nivcsw + usage.ru_nvcsw;
}

/* The kernel's counter stands still for some microseconds of CPU time whenever the thread gives the
 * processor away and gets it back, so that what is counted is a spin in one piece. */
static uint64_t count_whole_spin(const char *name)
{
    for (int i = 0; i < TRIES; i++) {
        long before = n_switches();
        uint64_t count = count_spin(name, SHORT_SPIN_NS);
        if (n_switches() == before)
            return count;
    }
    fail_msg("each of %d spins was interrupted", TRIES);
    return 0;
}

#define CLOCK "perf::TASK-CLOCK"

/* Asked of PAPI itself: not all machines have what it takes. */
static bool papi_counts(void)
{
    void *papi = dlopen("libpapi.so", RTLD_NOW);
    int (*init)(int), (*create)(int *), (*add)(int, const char *), set = PAPI_NULL;
    assert_non_null(papi);
    *(void **)&init = dlsym(papi, "PAPI_library_init");
    *(void **)&create = dlsym(papi, "PAPI_create_eventset");
    *(void **)&add = dlsym(papi, "PAPI_add_named_event");
    assert_true(init && create && add);
    assert_int_equal(init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
    assert_int_equal(create(&set), PAPI_OK);
    return add(set, CLOCK) == PAPI_OK;
}

/* Either PAPI counts, then what it counts is right, or it is said that it does not. */
static void test_papi(void **state)
{
    (void)state;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const bool counts = papi_counts();
    for (int i = 0; i < 3 && counts; i++) /* opened and closed again and again */
        assert_true(count_whole_spin("papi:" CLOCK) >= SHORT_SPIN_NS);
    if (!counts) {
        assert_int_equal(rfn_volume_probe("papi:" CLOCK, &diag), RFN_E_UNSUPPORTED);
        assert_non_null(strstr(diag.text, "PAPI does not count " CLOCK));
    }
}
#endif

static void test_names(void **state)
{
    (void)state;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    assert_true(rfn_volume_known("cpu") && rfn_volume_known("instructions"));
    assert_true(rfn_volume_known("papi:x"));
    assert_false(rfn_volume_known("") || rfn_volume_known("papi:") || rfn_volume_known("Cpu"));
    assert_string_equal(rfn_volume_unit("cpu"), "ns");
    assert_string_equal(rfn_volume_unit("papi:perf::PAGE-FAULTS"), "");
    assert_int_equal(rfn_volume_probe("cpu", &diag), 0);
    assert_int_equal(rfn_volume_probe("time", &diag), RFN_E_USAGE);
    assert_string_equal(diag.text, "there is no volume 'time'");
    assert_int_equal(rfn_volume_probe("papi:no::SUCH-EVENT", &diag), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "PAPI"));
}

/* Either the machine counts, then it counts a loop, or the message says what is missing. */
static void test_instructions(void **state)
{
    (void)state;
    struct rfn_counter counter;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = rfn_counter_open(&counter, "instructions", &diag);
    if (error) {
        assert_int_equal(error, RFN_E_UNSUPPORTED);
        assert_non_null(strstr(diag.text, "this machine does not count instructions: "));
        return;
    }
    uint64_t before = rfn_counter_read(&counter);
    for (int i = 0; i < 1000000; i++)
        __asm__ volatile("");
    assert_true(rfn_counter_read(&counter) - before >= 1000000);
    rfn_counter_close(&counter);
}

/* ---- pages ---- */

static struct perf_event_mmap_page page;
static uint64_t processor; /* what its counter says */
static uint32_t asked, rewrites;

/* While it is read, the kernel may write the page anew. */
static uint64_t read_processor(uint32_t number)
{
    asked = number;
    if (rewrites) {
        rewrites--;
        page.lock += 2;
        page.offset += 1000;
    }
    return processor;
}

static void test_page(void **state)
{
    (void)state;
    page = (struct perf_event_mmap_page){.index = 4, .offset = 500, .pmc_width = 48};
    page.cap_user_rdpmc = 1;
    processor = 77;
    assert_int_equal(rfn_counter_page_value(&page, read_processor), 577);
    assert_int_equal(asked, 3);
    processor = (UINT64_C(1) << 48) - 100; /* -100 in 48 bits */
    assert_int_equal(rfn_counter_page_value(&page, read_processor), 400);
    processor = 5;
    rewrites = 2;
    assert_int_equal(rfn_counter_page_value(&page, read_processor), 500 + 2000 + 5);
    page.index = 0; /* not running */
    assert_int_equal(rfn_counter_page_value(&page, read_processor), 2500);
    page.index = 4;
    page.cap_user_rdpmc = 0; /* no longer allowed */
    assert_int_equal(rfn_counter_page_value(&page, read_processor), 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),          cmocka_unit_test(test_names),
        cmocka_unit_test(test_instructions), cmocka_unit_test(test_page),
#ifdef RFN_HAVE_PAPI
        cmocka_unit_test(test_papi),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
