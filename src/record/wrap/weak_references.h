/* weak_references.h - MPI functions that a program without MPI asks for.
 *
 * Libraries that work with and without MPI ask whether it is there: by a weak reference
 * (extern int MPI_Initialized(int *) __attribute__((weak)); if (MPI_Initialized) ...), or by
 * dlsym(RTLD_DEFAULT, "MPI_Initialized"). The recorder, which is preloaded, has all functions of
 * MPI, so both would find MPI where there is none. dlsym.c answers the second question. For the
 * first one the loader has filled in addresses before any code ran. So before main, if no MPI is
 * loaded, weak references to the recorder's functions are set back to 0, in all that is loaded
 * then.
 *
 * Weak references in libraries that the program loads later, before it loads MPI, still find the
 * recorder's functions, which say that MPI is not initialized.
 */
#ifndef RFN_RECORD_WRAP_WEAK_REFERENCES_H
#define RFN_RECORD_WRAP_WEAK_REFERENCES_H

#include <stdbool.h>

/* Whether the program, or a library of it, is linked with the recorder: it has MPI's functions from
 * the recorder on purpose. */
bool rec_is_linked(void);

#endif
