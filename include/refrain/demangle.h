/* demangle.h - names of functions as the programmer wrote them.
 *
 * Call paths have the names that the linker sees, because only they are unique. The C++ run-time
 * library demangles C++ names: the process's own library, or else, if it may be loaded, the
 * machine's, when the first such name comes. So the tool does not need it. Names of gfortran's
 * module procedures are simple enough to be demangled here: __solver_MOD_step is solver::step.
 *
 * Where a program was stripped, a function may have no name. Then it goes by the last exported
 * function before it, and how far behind that it begins: "solve+0x1f40", or "+0x1f40" from the
 * begin of the module. No name of C, C++ or Fortran has a "+".
 */
#ifndef REFRAIN_DEMANGLE_H
#define REFRAIN_DEMANGLE_H

#pragma GCC visibility push(default)

#include <stdbool.h>
#include <stddef.h>

/* The name, without the list of arguments, to be freed; NULL if it is not mangled, or memory is
 * short, or no library is there to demangle it: then it can be shown as it is. may_load: a library
 * may be loaded for it. */
char *rfn_demangle(const char *name, bool may_load);

/* A function's name for tables and sentences, to be freed; NULL: memory is short. Of a C++ name the
 * last two parts stay, "PCG::scalarSolve", without what is returned, template arguments, and inline
 * and unnamed namespaces; a lambda is "lambda in PCG::scalarSolve". What a compiler puts behind a
 * name goes (rfn_name_length). A function without a name is "code after solve()+0x1f40" or "code at
 * +0x1f40". */
char *rfn_short_name(const char *name, bool may_load);

/* The short name for lists that name nothing else of a function: that of a library, or one whose
 * source is not known, comes behind its module: "libsolver.so: PCG::scalarSolve". Of program and
 * module, which may be NULL where they are not known, folders do not matter. A script is the module
 * of its functions. To be freed; NULL: memory is short. */
char *rfn_function_label(const char *function, const char *file, const char *module,
                         const char *program);

/* How long a name is without what a compiler puts behind it when it makes several functions of one:
 * "step.isra.0" is step. */
size_t rfn_name_length(const char *name);

/* Where "+0x1f40" begins in the name of a function that has none; NULL: it has one. */
const char *rfn_name_distance(const char *name);

#pragma GCC visibility pop

#endif
