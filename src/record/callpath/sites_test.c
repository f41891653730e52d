/* Call paths against an independent walk: after every call of a wrapper the site's frames are
 * compared with what libunwind finds from scratch, whether the site came from the cache or not, and
 * whether the recorder walked by the rules alone or with libunwind. The functions walked through
 * are of all kinds that compilers make: with and without frame pointer, with alloca,
 * variable-length arrays, realigned stacks, without unwind information. */
#define UNW_LOCAL_ONLY
#include "record/callpath/modules.h"
#include "record/callpath/sites.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#define NOINLINE __attribute__((noinline))
/* Keeps what is before it from becoming a tail call, or one with what is before another text. */
#define BARRIER(text) __asm__ volatile("# " text ::: "memory")
/* Keeps memory on the stack. */
#define TOUCH(memory) __asm__ volatile("" : : "r"(memory) : "memory")

enum { PATH_MAX_FRAMES = 1200 };

/* ---- the independent walk ---- */

extern const char entry_point[] __asm__("_start");
int main(void);

/* Raw return addresses from the caller of the wrapper with this frame on, to the end. */
static size_t fresh_walk(const uintptr_t *frame, uintptr_t *ips)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    size_t n = 0;
    bool outside = false;
    while (n < PATH_MAX_FRAMES && unw_step(&cursor) > 0) {
        unw_word_t ip, sp;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        outside |= sp == (uintptr_t)(frame + 2);
        if (outside && ip)
            ips[n++] = ip;
    }
    return n;
}

static struct link_map *object_of(uintptr_t ip)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1((void *)(ip - 1), &info, (void **)&map, RTLD_DL_LINKMAP))
        return NULL;
    return map;
}

static size_t cut_outside(const uintptr_t *ips, size_t n)
{
    if (ips[n - 1] - (uintptr_t)entry_point < 64)
        n--;
    while (n > 1 && strstr(object_of(ips[n - 1])->l_name, "/libc.so"))
        n--;
    return n < REC_SITE_FRAMES ? n : REC_SITE_FRAMES;
}

static void check_site(const struct rec_sites *sites, uint32_t site, uint32_t function,
                       const uintptr_t *frame)
{
    static __thread uintptr_t ips[PATH_MAX_FRAMES];
    size_t n_found, n = cut_outside(ips, fresh_walk(frame, ips));
    const struct rec_frame *frames = rec_sites_frames(sites, site, &n_found);
    assert_int_equal(rec_sites_function(sites, site), function);
    assert_int_equal(n_found, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(frames[i].offset, ips[i] - object_of(ips[i])->l_addr);
}

/* ---- wrappers ---- */

static uintptr_t last_frame; /* of the last wrapper, to see whether two calls were alike */

NOINLINE static uint32_t call_mpi(struct rec_sites *sites, uint32_t function)
{
    void *frame = __builtin_frame_address(0);
    uint32_t site = rec_site(sites, function, frame);
    check_site(sites, site, function, frame);
    __atomic_store_n(&last_frame, (uintptr_t)frame, __ATOMIC_RELAXED);
    return site;
}

NOINLINE static uint32_t call_unchecked(struct rec_sites *sites, uint32_t function)
{
    uint32_t site = rec_site(sites, function, __builtin_frame_address(0));
    BARRIER("");
    return site;
}

/* n, which the compiler cannot know: unrolled loops would be several places. */
NOINLINE static unsigned times(unsigned n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static int setup(void **state)
{
    struct rec_sites *sites = malloc(sizeof *sites);
    assert_int_equal(rec_sites_init(sites), 0);
    *state = sites;
    return 0;
}

static int teardown(void **state)
{
    rec_sites_release(*state);
    free(*state);
    return 0;
}

/* From here on functions keep no frame pointer unless they need one (gcc; with clang that depends
 * on the command line). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("omit-frame-pointer")
#endif

/* ---- single cases ---- */

static void test_same_place_is_same_site(void **state)
{
    struct rec_sites *sites = *state;
    uint32_t site[3];
    for (unsigned i = 0; i < times(3); i++)
        site[i] = call_mpi(sites, 7);
    assert_int_equal(site[0], site[1]);
    assert_int_equal(site[0], site[2]);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 1 : 3);
    assert_int_not_equal(call_mpi(sites, 7), site[0]); /* another line */
    assert_int_equal(rec_sites_count(sites), 2);
}

static void test_function_is_part_of_site(void **state)
{
    uint32_t site[2];
    for (uint32_t i = 0; i < times(2); i++)
        site[i] = call_mpi(*state, i);
    assert_int_not_equal(site[0], site[1]);
}

/* The path ends in main, in this executable; its modules have the build-ids of their files. */
static void test_path_ends_in_main(void **state)
{
    struct rec_sites *sites = *state;
    size_t n;
    const struct rec_frame *frames = rec_sites_frames(sites, call_mpi(sites, 0), &n);
    uintptr_t bias = object_of((uintptr_t)main + 1)->l_addr;
    uintptr_t offset = frames[n - 1].offset - ((uintptr_t)main - bias);
    assert_true(offset < 4096);
    const struct rec_module *module = rec_module(frames[n - 1].module);
    char path[4096] = "";
    assert_non_null(realpath("/proc/self/exe", path));
    assert_string_equal(module->path, path);
    assert_int_equal(frames[0].module, frames[n - 1].module);
    assert_true(n > 2); /* through the test library */
    assert_int_not_equal(frames[1].module, frames[0].module);
    assert_null(rec_module(1000000));
}

/* ---- frames that lie elsewhere ---- */

typedef uint32_t inner_function(struct rec_sites *, size_t);

/* Two allocas whose sizes together are always the same, and a function between them that is called
 * from two places: at the wrapper everything is equal but for the frames between. */
NOINLINE static uint32_t inner_alloca(struct rec_sites *sites, size_t size)
{
    char *memory = __builtin_alloca(size);
    TOUCH(memory);
    uint32_t site = call_mpi(sites, 1);
    TOUCH(memory);
    return site;
}

NOINLINE static uint32_t inner_vla(struct rec_sites *sites, size_t size)
{
    char memory[size];
    TOUCH(memory);
    uint32_t site = call_mpi(sites, 1);
    TOUCH(memory);
    return site;
}

static inner_function *volatile inner;

NOINLINE static uint32_t between(struct rec_sites *sites, size_t size)
{
    uint32_t site = inner(sites, size);
    BARRIER("");
    return site;
}

static inner_function *volatile middle = between;

NOINLINE static uint32_t outer_alloca(struct rec_sites *sites, size_t size, bool other)
{
    char *memory = __builtin_alloca(size);
    TOUCH(memory);
    uint32_t site;
    if (other) {
        BARRIER("this place");
        site = middle(sites, 1024 - size);
        BARRIER("this place");
    } else {
        BARRIER("other place");
        site = middle(sites, 1024 - size);
        BARRIER("other place");
    }
    TOUCH(memory);
    return site;
}

NOINLINE static uint32_t outer_vla(struct rec_sites *sites, size_t size, bool other)
{
    char memory[size];
    TOUCH(memory);
    uint32_t site;
    if (other) {
        BARRIER("this place");
        site = middle(sites, 1024 - size);
        BARRIER("this place");
    } else {
        BARRIER("other place");
        site = middle(sites, 1024 - size);
        BARRIER("other place");
    }
    TOUCH(memory);
    return site;
}

static void check_compensating(struct rec_sites *sites,
                               uint32_t (*volatile outer)(struct rec_sites *, size_t, bool))
{
    uintptr_t frame[4];
    for (unsigned round = times(50); round-- > 0;) {
        for (unsigned i = 0; i < times(4); i++) {
            outer(sites, 256 + 64 * (i / 2), i % 2);
            frame[i] = last_frame;
        }
        for (int i = 1; i < 4; i++)
            assert_int_equal(frame[i], frame[0]); /* else this would test nothing */
    }
    assert_int_equal(rec_sites_count(sites), 2);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 4 : 200);
}

static void test_compensating_alloca(void **state)
{
    inner = inner_alloca;
    check_compensating(*state, outer_alloca);
}

static void test_compensating_vla(void **state)
{
    inner = inner_vla;
    check_compensating(*state, outer_vla);
}

/* A function that realigns its stack hides up to 48 bytes of difference in its caller's frame: all
 * lies where it was, but the return address out of it, and its old place still holds the old one.
 */
NOINLINE static uint32_t realigned_between(struct rec_sites *sites, size_t size)
{
    char aligned[64] __attribute__((aligned(64)));
    char memory[1 + size % 2];
    TOUCH(aligned);
    TOUCH(memory);
    uint32_t site = inner(sites, 64);
    TOUCH(memory);
    return site;
}

static void test_realigned_stack(void **state)
{
    uint32_t (*volatile outer)(struct rec_sites *, size_t, bool) = outer_alloca;
    uintptr_t frame[8];
    inner = inner_alloca;
    middle = realigned_between;
    for (unsigned round = times(50); round-- > 0;) {
        for (unsigned i = 0; i < times(8); i++) {
            outer(*state, 256 + 16 * i, i % 2);
            frame[i] = last_frame;
        }
        unsigned alike = 0;
        for (unsigned i = 1; i < 8; i++)
            alike += frame[i] == frame[i - 1];
        assert_true(alike >= 4); /* else this would test nothing */
    }
    middle = between;
    assert_int_equal(rec_sites_count(*state), 2);
}

/* ---- recursion ---- */

static uint32_t recurse(struct rec_sites *sites, unsigned depth);
static uint32_t (*volatile again)(struct rec_sites *, unsigned) = recurse;

NOINLINE static uint32_t recurse(struct rec_sites *sites, unsigned depth)
{
    uint32_t site = depth ? again(sites, depth - 1) : call_mpi(sites, 2);
    BARRIER("");
    return site;
}

/* A compiler may make the loop two places, hence the upper bound. */
static void test_recursion(void **state)
{
    struct rec_sites *sites = *state;
    for (unsigned round = times(3); round-- > 0;) {
        for (unsigned depth = 0; depth < times(30); depth++)
            recurse(sites, depth);
    }
    assert_in_range(rec_sites_count(sites), 30, 60);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? rec_sites_count(sites) : 90);
}

static uint32_t to_the_left(struct rec_sites *sites, uint64_t path, unsigned depth);
static uint32_t to_the_right(struct rec_sites *sites, uint64_t path, unsigned depth);
static uint32_t (*volatile const ways[])(struct rec_sites *, uint64_t, unsigned) = {to_the_left,
                                                                                    to_the_right};

NOINLINE static uint32_t to_the_left(struct rec_sites *sites, uint64_t path, unsigned depth)
{
    const uint32_t site = depth ? ways[path & 1](sites, path >> 1, depth - 1)
                                : call_unchecked(sites, 2);
    BARRIER("left");
    return site;
}

NOINLINE static uint32_t to_the_right(struct rec_sites *sites, uint64_t path, unsigned depth)
{
    const uint32_t site = depth ? ways[path & 1](sites, path >> 1, depth - 1)
                                : call_unchecked(sites, 2);
    BARRIER("right");
    return site;
}

/* 2^12 paths, where 100 sites have room: these keep their paths and numbers; the others are cut to
 * the last frames, the more the later they come. */
static void test_cut(void **state)
{
    (void)state;
    enum { DEPTH = 12, FULL = 100 };
    struct rec_sites sites;
    uint32_t first[FULL];
    size_t n;
    assert_int_equal(rec_sites_init(&sites), 0);
    sites.cut.at = FULL;
    for (uint64_t i = 0; i < (1 << DEPTH) + FULL; i++) { /* the first ones once more at the end */
        const uint64_t path = i % (1 << DEPTH);
        const uint32_t site = to_the_left(&sites, path, DEPTH);
        if (i < FULL)
            first[path] = site;
        else if (i >= 1 << DEPTH)
            assert_int_equal(site, first[path]);
        if (i % (1 << DEPTH) < FULL) {
            rec_sites_frames(&sites, site, &n);
            assert_true(n > DEPTH);
        }
    }
    assert_in_range(rec_sites_count(&sites), FULL, 2 * FULL + 64);
    assert_true(sites.cut.walks > (1 << DEPTH) / 2);
    rec_sites_frames(&sites, rec_sites_count(&sites) - 1, &n);
    assert_true(n <= REC_SITE_CUT);
    rec_sites_release(&sites);
}

static void test_deep_recursion(void **state)
{
    struct rec_sites *sites = *state;
    size_t n;
    for (unsigned round = times(3); round-- > 0;) {
        rec_sites_frames(sites, recurse(sites, REC_SITE_FRAMES - 20), &n);
        assert_true(n > REC_SITE_FRAMES - 20 && n < REC_SITE_FRAMES);
    }
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 1 : 3);
}

/* Only the innermost frames are kept, so that further depth makes no difference. */
static void test_truncated_recursion(void **state)
{
    struct rec_sites *sites = *state;
    size_t n;
    uint32_t site = recurse(sites, REC_SITE_FRAMES + 80);
    rec_sites_frames(sites, site, &n);
    assert_int_equal(n, REC_SITE_FRAMES);
    assert_int_equal(recurse(sites, REC_SITE_FRAMES + 90), site);
}

/* Calls on the way in and out of a deep stack: each but the first goes over into the walk before
 * it. */
static void down(struct rec_sites *sites, unsigned depth);
static void (*volatile deeper)(struct rec_sites *, unsigned) = down;

NOINLINE static void down(struct rec_sites *sites, unsigned depth)
{
    call_mpi(sites, 5);
    if (depth > 0)
        deeper(sites, depth - 1);
    call_mpi(sites, 6);
    BARRIER("");
}

/* Two frames alike but for the place that they return to, which lies outside of all others. */
NOINLINE static void on_the_left(struct rec_sites *sites, unsigned depth)
{
    deeper(sites, depth);
    BARRIER("left");
}

NOINLINE static void on_the_right(struct rec_sites *sites, unsigned depth)
{
    deeper(sites, depth);
    BARRIER("right");
}

static void test_walks_go_over(void **state)
{
    struct rec_sites *sites = *state;
    void (*const volatile sides[])(struct rec_sites *, unsigned) = {on_the_left, on_the_right};
    unsigned depth = REC_SITE_FRAMES + 100;
    for (unsigned round = 0; round < times(4); round++)
        sides[round % 2](sites, depth - round);
    assert_int_equal(sites->by_libunwind, REC_SITE_CACHED ? 0 : sites->walks);
    assert_true(!REC_SITE_CACHED || sites->walks - sites->resumed < sites->walks / 20);
    assert_true(sites->resumed <= sites->walks);
}

/* ---- many paths to one place ---- */

NOINLINE static uint32_t dot_product(struct rec_sites *sites)
{
    uint32_t site = call_mpi(sites, 3);
    BARRIER("");
    return site;
}

static uint32_t (*volatile dot)(struct rec_sites *) = dot_product;

static void test_many_callers_of_one_function(void **state)
{
    struct rec_sites *sites = *state;
    for (unsigned round = times(10); round-- > 0;) {
#define FOUR dot(sites), dot(sites), dot(sites), dot(sites)
        volatile uint32_t found[] = {FOUR, FOUR, FOUR, FOUR, FOUR};
#undef FOUR
        (void)found;
    }
    assert_int_equal(rec_sites_count(sites), 20);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 20 : 200);
}

/* More paths than the cache holds in one set. */
static void test_more_paths_than_the_cache_holds(void **state)
{
    struct rec_sites *sites = *state;
    for (unsigned round = times(2); round-- > 0;) {
#define TEN                                                                             \
    dot(sites), dot(sites), dot(sites), dot(sites), dot(sites), dot(sites), dot(sites), \
        dot(sites), dot(sites), dot(sites)
        volatile uint32_t found[] = {TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN};
#undef TEN
        (void)found;
    }
    assert_int_equal(rec_sites_count(sites), 100);
}

/* ---- jumps and other stacks ---- */

static jmp_buf back;

NOINLINE static void jump_back(struct rec_sites *sites, unsigned depth)
{
    if (times(depth))
        jump_back(sites, depth - 1);
    call_mpi(sites, 4);
    if (times(1))
        longjmp(back, 1);
}

static void test_longjmp(void **state)
{
    volatile unsigned depth = 0;
    setjmp(back);
    call_mpi(*state, 4);
    if (depth < 20) {
        depth++;
        jump_back(*state, depth % 4);
    }
    assert_int_equal(depth, 20);
}

static ucontext_t scheduler, coroutines[2];
static struct rec_sites *coroutine_sites;

static void coroutine(int number)
{
    for (int i = 0; i < 10; i++) {
        if (i % 2)
            recurse(coroutine_sites, (unsigned)(number + i % 3));
        else
            call_mpi(coroutine_sites, 5);
        swapcontext(&coroutines[number], &scheduler);
    }
}

static void make_coroutine(int number, void *stack, size_t size)
{
    ucontext_t *context = &coroutines[number];
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = size;
    context->uc_link = &scheduler;
    makecontext(context, (void (*)(void))coroutine, 1, number);
}

static void test_switched_stacks(void **state)
{
    enum { STACK_BYTES = 256 << 10 };
    coroutine_sites = *state;
    char *stacks[2];
    for (int i = 0; i < 2; i++) {
        stacks[i] = malloc(STACK_BYTES);
        make_coroutine(i, stacks[i], STACK_BYTES);
    }
    for (int i = 0; i < 20; i++) {
        swapcontext(&scheduler, &coroutines[i % 2]);
        recurse(*state, 1);
    }
    for (int i = 0; i < 2; i++)
        free(stacks[i]);
}

/* ---- code that compilers do not make ---- */

#ifdef __x86_64__

/* uint32_t without_cfi(sites, callee): a frame pointer, but nothing that says so.
 * uint32_t based_on_rbx(sites, callee, size): moves the stack pointer by size and finds its frame
 * through rbx. */
__asm__(".text\n"
        ".type without_cfi, @function\n"
        "without_cfi:\n"
        "  push %rbp\n  mov %rsp, %rbp\n  call *%rsi\n  pop %rbp\n  ret\n"
        ".size without_cfi, . - without_cfi\n"
        ".type based_on_rbx, @function\n"
        "based_on_rbx:\n"
        "  .cfi_startproc\n"
        "  push %rbx\n  .cfi_def_cfa_offset 16\n  .cfi_offset %rbx, -16\n"
        "  mov %rsp, %rbx\n  .cfi_def_cfa_register %rbx\n"
        "  sub %rdx, %rsp\n  call *%rsi\n  mov %rbx, %rsp\n  .cfi_def_cfa_register %rsp\n"
        "  pop %rbx\n  .cfi_def_cfa_offset 8\n  .cfi_restore %rbx\n  ret\n"
        "  .cfi_endproc\n"
        ".size based_on_rbx, . - based_on_rbx\n");
uint32_t without_cfi(struct rec_sites *, uint32_t (*)(struct rec_sites *));
uint32_t based_on_rbx(struct rec_sites *, uint32_t (*)(struct rec_sites *), size_t);

/* Saves rbx, so that its value can be found in memory. */
NOINLINE static uint32_t uses_rbx(struct rec_sites *sites)
{
    uint32_t site = call_mpi(sites, 6);
    __asm__ volatile("" ::: "rbx");
    return site;
}

static void test_without_unwind_information(void **state)
{
    struct rec_sites *sites = *state;
    for (unsigned i = times(10); i-- > 0;)
        without_cfi(sites, dot_product);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 1 : 10);
    assert_int_equal(sites->by_libunwind, sites->walks);
}

static void test_frame_based_on_another_register(void **state)
{
    struct rec_sites *sites = *state;
    for (unsigned i = times(10); i-- > 0;)
        based_on_rbx(sites, uses_rbx, 64 + i % 2 * 64);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 2 : 10);
    for (unsigned i = times(10); i-- > 0;)
        based_on_rbx(sites, dot_product, 64);
}

#endif

#ifdef __x86_64__
static bool may_return_to(const void *place)
{
    struct rec_code code;
    assert_int_equal(rec_code_find((uintptr_t)place - 1, &code), 0);
    return rec_code_is_return(&code, (uintptr_t)place);
}

NOINLINE static const void *caller(void)
{
    return __builtin_return_address(0);
}

/* Calls in all forms, each followed by what it returns to. */
__asm__(".text\n"
        ".type forms_of_calls, @object\n"
        "forms_of_calls:\n"
        "  nop\n  call *%rax\n  nop\n  call *%r11\n  nop\n  call *(%rax)\n  nop\n"
        "  call *8(%rax)\n  nop\n  call *800(%rax)\n  nop\n  call *8(%rsp)\n  nop\n"
        "  call *800(%rsp)\n  nop\n  call *(%rax,%rbx,8)\n  nop\n  call *8(,%rbx,8)\n  nop\n"
        "  call *forms_of_calls(%rip)\n  nop\n  call forms_of_calls\n  nop\n  hlt\n"
        ".size forms_of_calls, . - forms_of_calls\n");
extern const uint8_t forms_of_calls[] __attribute__((visibility("hidden")));

static void test_what_calls_return_to(void **state)
{
    (void)state;
    static const uint8_t data[] = {0xe8, 0, 0, 0, 0, 0x90};
    const uint8_t *volatile stack = data;
    unsigned found = 0;
    assert_true(may_return_to(caller()));
    assert_false(may_return_to((const void *)&stack));
    assert_false(may_return_to(data + 5));
    assert_false(may_return_to((const void *)(uintptr_t)2));
    for (const uint8_t *at = forms_of_calls + 1; *at != 0xf4; at++)
        found += *at == 0x90 && may_return_to(at);
    assert_int_equal(found, 11);
    assert_false(may_return_to(forms_of_calls + 1));
}
#endif

/* ---- random programs ---- */

/* A program that calls itself through a table of functions of all kinds. The path comes from one
 * sequence of random numbers, the sizes of what is on the stack from another, so that paths come
 * again in other places of the stack. */
struct program {
    struct rec_sites *sites;
    uint64_t path, sizes;
    unsigned calls;
};

typedef void step_function(struct program *, unsigned depth);

static uint32_t next_random(uint64_t *sequence)
{
    *sequence = *sequence * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*sequence >> 33);
}

static size_t random_size(struct program *program)
{
    return 64 + next_random(&program->sizes) % 4 * 16;
}

static step_function *step_at(unsigned i);

/* One call or two steps on, from two places in the code. */
#define GO_ON(program, depth)                            \
    do {                                                 \
        uint32_t choice = next_random(&(program)->path); \
        if ((depth) == 0 || choice % 4 == 0) {           \
            call_mpi((program)->sites, choice % 2);      \
            (program)->calls++;                          \
        }                                                \
        if ((depth) > 0 && choice % 3) {                 \
            BARRIER("this place");                       \
            step_at(choice >> 8)(program, (depth)-1);    \
            BARRIER("this place");                       \
        } else if ((depth) > 0) {                        \
            BARRIER("other place");                      \
            step_at(choice >> 8)(program, (depth)-1);    \
            BARRIER("other place");                      \
        }                                                \
    } while (0)

static void step_plain(struct program *program, unsigned depth)
{
    GO_ON(program, depth);
}

static void step_large_frame(struct program *program, unsigned depth)
{
    char memory[200];
    TOUCH(memory);
    GO_ON(program, depth);
    TOUCH(memory);
}

static void step_many_registers(struct program *program, unsigned depth)
{
    GO_ON(program, depth);
    __asm__ volatile("" ::
                         : "memory"
#ifdef __x86_64__
                           ,
                           "rbx", "r12", "r13", "r14", "r15"
#endif
    );
}

static void step_alloca(struct program *program, unsigned depth)
{
    char *memory = __builtin_alloca(random_size(program));
    TOUCH(memory);
    GO_ON(program, depth);
    TOUCH(memory);
}

static void step_vla(struct program *program, unsigned depth)
{
    char memory[random_size(program)];
    TOUCH(memory);
    GO_ON(program, depth);
    TOUCH(memory);
}

static void step_realigned(struct program *program, unsigned depth)
{
    char memory[64] __attribute__((aligned(64)));
    TOUCH(memory);
    GO_ON(program, depth);
    TOUCH(memory);
}

/* The address of the incoming arguments lies in a register of its own, saved at rbp - 8. */
static void step_realigned_vla(struct program *program, unsigned depth)
{
    char aligned[64] __attribute__((aligned(64)));
    char memory[random_size(program)];
    TOUCH(aligned);
    TOUCH(memory);
    GO_ON(program, depth);
    TOUCH(aligned);
    TOUCH(memory);
}

#ifdef __x86_64__
__attribute__((target("avx"))) static void step_vectors(struct program *program, unsigned depth)
{
    typedef double vector __attribute__((vector_size(32)));
    volatile vector values;
    char memory[random_size(program)];
    if (__builtin_cpu_supports("avx"))
        values = (vector){1, 2, 3, 4};
    TOUCH(memory);
    GO_ON(program, depth);
    if (__builtin_cpu_supports("avx"))
        values = values + values;
    TOUCH(memory);
}
#endif

static step_function *step_at(unsigned i)
{
    static step_function *const volatile steps[] = {
        step_plain,   step_large_frame, step_many_registers, step_alloca,
        step_vla,     step_realigned,   step_realigned_vla,
#ifdef __x86_64__
        step_vectors,
#endif
    };
    return steps[i % (sizeof steps / sizeof *steps)];
}

static unsigned run_programs(struct rec_sites *sites, uint64_t seed, unsigned n)
{
    struct program program = {.sites = sites, .sizes = seed};
    uint64_t order = seed;
    for (unsigned i = 0; i < n; i++) {
        program.path = next_random(&order) % 40; /* 40 programs, again and again */
        step_alloca(&program, 1 + (unsigned)program.path % 6);
    }
    return program.calls;
}

static void check_random_programs(struct rec_sites *sites)
{
    unsigned calls = run_programs(sites, 1, 4000);
    assert_true(calls > 4000);
    assert_true(!REC_SITE_CACHED || sites->walks < calls * 3 / 4); /* the cache was tested too */
    assert_true(!REC_SITE_CACHED || sites->uncached == 0);
    assert_true(!REC_SITE_CACHED || sites->only_libunwind || sites->resumed > sites->walks / 2);
}

static void test_random_programs(void **state)
{
    struct rec_sites *sites = *state;
    check_random_programs(sites);
    assert_int_equal(sites->by_libunwind, REC_SITE_CACHED ? 0 : sites->walks);
}

static void test_random_programs_with_libunwind(void **state)
{
    struct rec_sites *sites = *state;
    sites->only_libunwind = true;
    check_random_programs(sites);
    assert_int_equal(sites->by_libunwind, sites->walks);
}

static void check_same_facts(const struct rec_site_way *a, const struct rec_site_way *b)
{
    assert_int_equal(a->site, b->site);
    assert_int_equal(a->n_facts, b->n_facts);
    for (uint32_t i = 0; i < a->n_facts; i++) {
        assert_ptr_equal(a->facts[i].where, b->facts[i].where);
        assert_int_equal(a->facts[i].what, b->facts[i].what);
    }
}

/* The same walks made in both ways rest on the same facts. */
static void test_both_walks_have_the_same_facts(void **state)
{
    struct rec_sites other, *tables[] = {*state, &other};
    assert_int_equal(rec_sites_init(&other), 0);
    other.only_libunwind = true;
    for (unsigned i = 0; i < times(2); i++) /* from one place in the code */
        run_programs(tables[i], 5, 1000);
    assert_int_equal(rec_sites_count(tables[0]), rec_sites_count(&other));
    for (size_t set = 0; REC_SITE_CACHED && set < REC_SITE_SETS; set++) {
        for (unsigned w = 0; w < REC_SITE_WAYS; w++)
            check_same_facts(&tables[0]->sets[set][w], &other.sets[set][w]);
    }
    rec_sites_release(&other);
}

/* Through the C library, which is not compiled like the program. */
static struct rec_sites *sorted_sites;

static int compare_and_call(const void *a, const void *b)
{
    call_mpi(sorted_sites, 9);
    return *(const int *)a - *(const int *)b;
}

static int visit_and_call(struct dl_phdr_info *info, size_t size, void *sites)
{
    (void)info, (void)size;
    call_mpi(sites, 10);
    return 0;
}

static void test_through_the_c_library(void **state)
{
    struct rec_sites *sites = *state;
    int numbers[100];
    sorted_sites = sites;
    for (int i = 0; i < 100; i++)
        numbers[i] = i * 37 % 100;
    qsort(numbers, 100, sizeof *numbers, compare_and_call);
    bsearch(&(int){37}, numbers, 100, sizeof *numbers, compare_and_call);
    dl_iterate_phdr(visit_and_call, sites);
    assert_int_equal(sites->by_libunwind, REC_SITE_CACHED ? 0 : sites->walks);
}

static void *thread_main(void *seed)
{
    struct rec_sites sites;
    assert_int_equal(rec_sites_init(&sites), 0);
    assert_true(run_programs(&sites, *(uint64_t *)seed, 500) > 500);
    rec_sites_release(&sites);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    uint64_t seeds[4] = {11, 12, 13, 14};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, &seeds[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void test_hits_need_no_walk(void **state)
{
    struct rec_sites *sites = *state;
    for (unsigned i = times(100000); i-- > 0;)
        call_unchecked(sites, 8);
    assert_int_equal(sites->walks, REC_SITE_CACHED ? 1 : 100000);
}

static uint64_t hash_of(struct rec_sites *sites, uint32_t function, uint64_t offset)
{
    const struct rec_frame frame = {.module = 0, .offset = offset};
    return rec_site_hash(sites, rec_site_of_frames(sites, function, &frame, 1), function, NULL);
}

static NOINLINE uint64_t walked_hash(struct rec_sites *sites)
{
    const uint64_t hash = rec_site_hash(sites, rec_site(sites, 0, __builtin_frame_address(0)), 0,
                                        NULL);
    return hash + (hash == 0); /* no tail call */
}

/* The same wherever a path stands, others for other functions and frames. */
static void test_hashes(void **state)
{
    (void)state;
    enum { FUNCTIONS = 3, OFFSETS = 20, N = FUNCTIONS * OFFSETS };
    struct rec_sites both[2];
    uint64_t hashes[2][N], walked[2];
    const volatile int two = 2; /* not unrolled: there is one place that calls */
    for (int i = 0; i < two; i++) {
        assert_int_equal(rec_sites_init(&both[i]), 0);
        walked[i] = walked_hash(&both[i]); /* there is a module now */
        for (uint32_t k = 0; k < N; k++) {
            uint32_t at = i ? N - 1 - k : k; /* numbers of sites differ */
            hashes[i][at] = hash_of(&both[i], at % FUNCTIONS, at / FUNCTIONS);
        }
    }
    assert_true(walked[0] == walked[1]); /* called from one place */
    for (uint32_t k = 0; k < N; k++) {
        assert_true(hashes[0][k] == hashes[1][k]);
        for (uint32_t l = 0; l < k; l++)
            assert_true(hashes[0][k] != hashes[0][l]);
    }
    for (int i = 0; i < 2; i++)
        rec_sites_release(&both[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_place_is_same_site),
        TEST(test_function_is_part_of_site),
        TEST(test_path_ends_in_main),
        TEST(test_compensating_alloca),
        TEST(test_compensating_vla),
        TEST(test_realigned_stack),
        TEST(test_recursion),
        TEST(test_cut),
        TEST(test_deep_recursion),
        TEST(test_truncated_recursion),
        TEST(test_walks_go_over),
        TEST(test_many_callers_of_one_function),
        TEST(test_more_paths_than_the_cache_holds),
        TEST(test_longjmp),
        TEST(test_switched_stacks),
#ifdef __x86_64__
        TEST(test_without_unwind_information),
        TEST(test_frame_based_on_another_register),
        TEST(test_what_calls_return_to),
#endif
        TEST(test_random_programs),
        TEST(test_random_programs_with_libunwind),
        TEST(test_both_walks_have_the_same_facts),
        TEST(test_through_the_c_library),
        TEST(test_threads),
        TEST(test_hits_need_no_walk),
        TEST(test_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
