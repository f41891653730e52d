/* path_names.h - whether the names in a call path are those that somebody asked for, while the
 * program runs.
 *
 * Names come from the files of the modules, which takes microseconds to milliseconds: callers
 * remember the answer by site.
 */
#ifndef RFN_RECORD_CALLPATH_PATH_NAMES_H
#define RFN_RECORD_CALLPATH_PATH_NAMES_H

#include "record/callpath/sites.h"
#include "reduce/samples/where.h"

/* Whether the site's call path has a function and a file that the conditions name; of conditions
 * that are not there any will do. program: as it was called. Of any thread. */
bool rec_path_names_fit(const struct rfn_sample_where *where, const struct rec_sites *sites,
                        uint32_t site, const char *program);
void rec_path_names_release(void);

#endif
