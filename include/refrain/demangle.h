/* demangle.h - names of functions as the programmer wrote them.
 *
 * Call paths have the names that the linker sees, because only they are unique. The C++ run-time
 * library demangles C++ names: the process's own library, or else, if it may be loaded, the
 * machine's, when the first such name comes. So the tool does not need it. Names of gfortran's
 * module procedures are simple enough to be demangled here: __solver_MOD_step is solver::step.
 */
#ifndef REFRAIN_DEMANGLE_H
#define REFRAIN_DEMANGLE_H

#pragma GCC visibility push(default)

#include <stdbool.h>

/* The name, without the list of arguments, to be freed; NULL if it is not mangled, or memory is
 * short, or no library is there to demangle it: then it can be shown as it is. may_load: a library
 * may be loaded for it. */
char *rfn_demangle(const char *name, bool may_load);

#pragma GCC visibility pop

#endif
