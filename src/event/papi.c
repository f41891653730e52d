#define _POSIX_C_SOURCE 200809L
#include "event/papi.h"

#ifdef RFN_HAVE_PAPI
#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The functions used, with the types that the header gives them. */
#define FUNCTIONS(X)    \
    X(library_init)     \
    X(thread_init)      \
    X(register_thread)  \
    X(create_eventset)  \
    X(add_named_event)  \
    X(start)            \
    X(read)             \
    X(stop)             \
    X(cleanup_eventset) \
    X(destroy_eventset) \
    X(strerror)

static struct {
#define POINTER(name) __typeof__(PAPI_##name) *name;
    FUNCTIONS(POINTER)
#undef POINTER
} papi;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

/* dlsym gives a pointer to an object: ISO C has no conversion, but the bytes are the same. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* A program that counts with PAPI itself has initialized it before, or will find it so. */
static int load(struct rfn_diag *diag)
{
    char name[64];
    snprintf(name, sizeof name, "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION));
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libpapi.so", RTLD_NOW | RTLD_LOCAL);
    bool complete = library;
#define FIND(name) complete = complete && find(library, "PAPI_" #name, &papi.name);
    FUNCTIONS(FIND)
#undef FIND
    if (!complete)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "PAPI's library, %s, is not there", name);
    if (papi.library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "PAPI's library is of another version, or cannot start");
    int error = papi.thread_init((unsigned long (*)(void))pthread_self);
    if (error != PAPI_OK)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "PAPI cannot count threads: %s",
                        papi.strerror(error));
    loaded = true;
    return 0;
}

int rfn_papi_open(const char *event, int *set, struct rfn_diag *diag)
{
    pthread_mutex_lock(&loading);
    int error = loaded ? 0 : load(diag);
    pthread_mutex_unlock(&loading);
    if (error)
        return error;
    *set = PAPI_NULL;
    error = papi.register_thread();
    if (error == PAPI_OK)
        error = papi.create_eventset(set);
    if (error == PAPI_OK)
        error = papi.add_named_event(*set, event);
    if (error == PAPI_OK)
        error = papi.start(*set);
    if (error == PAPI_OK)
        return 0;
    if (*set != PAPI_NULL) {
        papi.cleanup_eventset(*set);
        papi.destroy_eventset(set);
    }
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "PAPI does not count %s: %s", event,
                    papi.strerror(error));
}

int rfn_papi_read(int set, uint64_t *value)
{
    long long count;
    if (papi.read(set, &count) != PAPI_OK)
        return -1;
    *value = (uint64_t)count;
    return 0;
}

void rfn_papi_close(int set)
{
    papi.stop(set, NULL);
    papi.cleanup_eventset(set);
    papi.destroy_eventset(&set);
}

#else
int rfn_papi_open(const char *event, int *set, struct rfn_diag *diag)
{
    (void)event, (void)set;
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                    "Refrain was built without PAPI (libpapi-dev)");
}

int rfn_papi_read(int set, uint64_t *value)
{
    (void)set, (void)value;
    return -1;
}

void rfn_papi_close(int set)
{
    (void)set;
}
#endif
