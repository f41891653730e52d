#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "refrain/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the C++ ABI says: the result is to be freed, and NULL if the name is not mangled. */
typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

/* The one that is there may come with a library that is loaded later, so it is looked for until it
 * is found; where one may be loaded, once. */
static demangler *find_demangler(bool may_load)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    static demangler *found;
    static bool loaded;
    if (found || loaded)
        return found;
    void *function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !function && may_load; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY);
        function = library ? dlsym(library, "__cxa_demangle") : NULL;
        loaded = true;
    }
    memcpy(&found, &function, sizeof found); /* ISO C has no cast from object to function */
    return found;
}

/* Where the list of arguments begins, which is the last pair of parentheses, or the end. */
static size_t start_of_arguments(const char *name)
{
    const char *close = strrchr(name, ')');
    size_t depth = 0;
    for (const char *at = close; at && at > name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0)
            return (size_t)(at - name);
    }
    return strlen(name);
}

static char *demangle_fortran(const char *name)
{
    static const char middle[] = "_MOD_";
    const char *module = name + 2, *at = strstr(module, middle);
    if (!at || at == module)
        return NULL;
    size_t size = strlen(name);
    char *plain = malloc(size);
    if (plain)
        snprintf(plain, size, "%.*s::%s", (int)(at - module), module, at + sizeof middle - 1);
    return plain;
}

char *rfn_demangle(const char *name, bool may_load)
{
    if (strncmp(name, "_Z", 2) != 0)
        return strncmp(name, "__", 2) == 0 ? demangle_fortran(name) : NULL;
    demangler *demangle = find_demangler(may_load);
    int status = 0;
    char *plain = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (plain)
        plain[start_of_arguments(plain)] = 0;
    return plain;
}
