/* demangle.h - names of functions as the programmer wrote them.
 *
 * Archives hold the names that the linker sees, because only they are unique. C++ names are undone
 * by the C++ run-time library, if the machine has one; it is loaded when the first such name comes,
 * so that the tool does not need it. Names of gfortran's module procedures are simple enough to be
 * undone here: __solver_MOD_step is solver::step.
 */
#ifndef RFN_CLI_DEMANGLE_H
#define RFN_CLI_DEMANGLE_H

/* The name, without the list of arguments, to be freed; NULL if it is not mangled (or memory is
 * short): then it can be shown as it is. */
char *rfn_demangle(const char *name);

#endif
