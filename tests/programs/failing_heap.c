/* To be preloaded before the recorder: some allocations of the recorder, and of the libraries that
 * only it uses, fail.
 *
 *   FAIL_AT     the number of the first that fails, from 1 on; 0: none
 *   FAIL_TIMES  how many fail in a row; 1 unless given
 *   FAIL_RANK   only in the process of this rank, by the launcher's variables; else in all
 *   FAIL_COUNT  a file to which each of these processes appends how many there were
 *
 * Who allocates is known by the address that the call returns to. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

static struct {
    uintptr_t begin, end;
} ranges[MOST];
static int n_ranges, is_recorded, is_meant;
static long first, times, allocations;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int add_range(struct dl_phdr_info *info, size_t size, void *unused)
{
    static const char *const names[] = {"/librefrain-", "/libzstd", "/libunwind"};
    is_recorded |= strstr(info->dlpi_name, names[0]) != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int part = 0; part < info->dlpi_phnum && strstr(info->dlpi_name, names[i]); part++) {
            const ElfW(Phdr) *header = &info->dlpi_phdr[part];
            if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || n_ranges == MOST)
                continue;
            ranges[n_ranges].begin = info->dlpi_addr + header->p_vaddr;
            ranges[n_ranges].end = ranges[n_ranges].begin + header->p_memsz;
            n_ranges++;
        }
    }
    return 0;
}

static long number(char **environment, const char *variable, long otherwise)
{
    const size_t length = strlen(variable);
    for (; *environment; environment++) {
        if (strncmp(*environment, variable, length) == 0 && (*environment)[length] == '=')
            return atol(*environment + length + 1);
    }
    return otherwise;
}

/* Linked with -z initfirst: before the constructors of the recorder and of libc, which only
 * then knows the environment. */
__attribute__((constructor)) static void prepare(int argc, char **argv, char **environment)
{
    const long rank = number(environment, "OMPI_COMM_WORLD_RANK",
                             number(environment, "PMI_RANK", 0));
    dl_iterate_phdr(add_range, NULL);
    first = number(environment, "FAIL_AT", 0), times = number(environment, "FAIL_TIMES", 1);
    is_meant = is_recorded && rank == number(environment, "FAIL_RANK", rank);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAIL_COUNT");
    char text[32];
    int fd = path && is_meant && allocations ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd < 0)
        return;
    write(fd, text, (size_t)sprintf(text, "%ld\n", allocations));
    close(fd);
}

static int fails(void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    for (int i = 0; i < n_ranges && is_meant; i++) {
        if (at < ranges[i].begin || at >= ranges[i].end)
            continue;
        const long which = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
        if (first == 0 || which < first || which - first >= times)
            return 0;
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
