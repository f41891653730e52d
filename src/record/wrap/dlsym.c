/* dlsym.c - MPI functions that a program asks for by name.
 *
 * Interpreters (ctypes and cffi of Python, Julia) and plugins fetch functions from a handle of
 * MPI's library: dlsym(handle, "MPI_Send"). The recorder, which is another library, would not be
 * asked. So it exports dlsym. The answer is the recorder's function where the real dlsym's would be
 * MPI's own, from the library that the recorder passes calls on to. PMPI names, other names,
 * RTLD_NEXT (what lies behind the caller, on purpose), and calls from the recorder and MPI's
 * libraries get what they always did.
 *
 * RTLD_DEFAULT finds the recorder's functions anyway, also where no MPI is loaded. Programs ask
 * that way whether they run under MPI. So if the program would not find MPI without the recorder,
 * the question goes to a library that has none of MPI's names.
 *
 * The meaning of RTLD_NEXT depends on who calls. Therefore the exported function is a few
 * instructions that ask rec_symbol_for and then jump to the real one, with the caller's return
 * address still in its place. They are written for x86-64; elsewhere dlsym is left alone.
 */
#include "record/core/message.h"
#include "record/core/recorder.h"
#include "record/wrap/fortran.h"
#include "record/wrap/weak_references.h"

/* A sanitizer's runtime calls dlsym before instrumented code may run. */
#if defined __x86_64__ && !defined RFN_FLAVOUR_SMPI && !defined __SANITIZE_THREAD__

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void *symbol_finder(void *handle, const char *name);

#define HIDDEN __attribute__((visibility("hidden"), used))

/* For the instructions below: the real dlsym, and what to answer instead (NULL: ask the real one,
 * by the handle *asked). */
HIDDEN symbol_finder *rec_real_dlsym;
HIDDEN void *rec_symbol_for(void *handle, const char *name, const void *caller, void **asked);

__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    movq 24(%rsp), %rdx\n" /* the return address */
        "    leaq 16(%rsp), %rcx\n" /* the handle */
        "    call rec_symbol_for\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    testq %rax, %rax\n"
        "    jne 1f\n"
        "    jmp *rec_real_dlsym(%rip)\n"
        "1:  ret\n"
        "    .cfi_endproc\n"
        ".size dlsym, . - dlsym\n");

/* This library from its first byte to its last. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static bool is_own(const void *address)
{
    return (const char *)address >= &__ehdr_start && (const char *)address < &_end;
}

static void find_real_dlsym(void)
{
    /* The older name is there in all versions: a lookup that fails would allocate memory, which the
     * caller may be the first to do. */
    void *address = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!address)
        address = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!address) {
        rec_message("this C library has no dlsym that the recorder knows; the program cannot be "
                    "recorded here");
        abort();
    }
    memcpy(&rec_real_dlsym, &address, sizeof address);
}

static void *own_library(void)
{
    static void *library;
    Dl_info info;
    if (!library && dladdr(&__ehdr_start, &info))
        library = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    return library;
}

/* Whether the caller would find MPI without the recorder, in what is loaded for all, or with the
 * caller: by a function that the recorder does not have. */
static bool is_found_without(const void *caller)
{
    static const char only_mpis[] = "PMPI_Wtime";
    Dl_info of_caller;
    if (rec_real_dlsym(RTLD_DEFAULT, only_mpis))
        return true;
    void *library = dladdr(caller, &of_caller)
                        ? dlopen(of_caller.dli_fname, RTLD_NOLOAD | RTLD_LAZY)
                        : NULL;
    const bool found = library && rec_real_dlsym(library, only_mpis);
    if (library)
        dlclose(library);
    return found;
}

void *rec_symbol_for(void *handle, const char *name, const void *caller, void **asked)
{
    if (!rec_real_dlsym)
        find_real_dlsym();
    if (!name || (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "mpi_", 4) != 0) ||
        handle == RTLD_NEXT || is_own(caller))
        return NULL;
    void *own = own_library(), *wrapper = own ? rec_real_dlsym(own, name) : NULL;
    if (!wrapper || !is_own(wrapper))
        return NULL;
    /* Handles of the program itself find what is preloaded, too. */
    if (handle == RTLD_DEFAULT || rec_real_dlsym(handle, name) == wrapper) {
        void *without = rec_is_linked() || is_found_without(caller)
                            ? NULL
                            : dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
        *asked = without ? without : handle;
        return NULL;
    }
    /* What MPI, as far as it is loaded, has under this name. */
    void *library = rec_mpi_loaded(), *mpis = library ? rec_real_dlsym(library, name) : NULL;
    if (!mpis)
        mpis = rec_fortran_loaded(name);
    Dl_info of_mpi, of_caller;
    if (!mpis || (dladdr(mpis, &of_mpi) && dladdr(caller, &of_caller) &&
                  of_mpi.dli_fbase == of_caller.dli_fbase))
        return NULL;
    /* The question itself comes last: no failure of those before is left for dlerror. */
    return rec_real_dlsym(handle, name) == mpis ? wrapper : NULL;
}

#endif
