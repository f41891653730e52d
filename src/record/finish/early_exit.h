/* early_exit.h - a program that ends without MPI_Finalize, or without MPI; and what becomes of the
 * journals.
 */
#ifndef RFN_RECORD_FINISH_EARLY_EXIT_H
#define RFN_RECORD_FINISH_EARLY_EXIT_H

#include <stdbool.h>

/* Removes all files of this process's journals, as an archive has all; or, if there is none, leaves
 * those of which one can be made. */
void rec_journals_end(bool has_archive);
/* In MPI_Abort: saves what there is, and says so. false: no journal was kept. */
bool rec_journals_abort(void);

#endif
