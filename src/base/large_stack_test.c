#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */
#include "base/large_stack.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Uses what libdw does, and more; says whether a signal could come. */
static void use_much(void *blocked)
{
    volatile char room[512 << 10];
    sigset_t mask;
    for (size_t i = 0; i < sizeof room; i += 1024)
        room[i] = (char)i;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    *(bool *)blocked = sigismember(&mask, SIGALRM) == 1 && room[0] == 0;
}

static void *ask_for_much(void *blocked)
{
    return rfn_on_large_stack(use_much, blocked) ? blocked : NULL;
}

static void test_on_small_stack(void **state)
{
    (void)state;
    enum { SMALL = 64 << 10 };
    bool blocked = false;
    void *done = NULL;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t mask;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL), 0);
    assert_int_equal(pthread_create(&thread, &attributes, ask_for_much, &blocked), 0);
    pthread_join(thread, &done);
    pthread_attr_destroy(&attributes);
    assert_ptr_equal(done, &blocked);
    assert_true(blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGALRM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_on_small_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
