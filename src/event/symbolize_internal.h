/* symbolize_internal.h - what symbolize.c finds in debug information, for source_calls.c. */
#ifndef RFN_EVENT_SYMBOLIZE_INTERNAL_H
#define RFN_EVENT_SYMBOLIZE_INTERNAL_H

#include "event/symbolize.h"

#include <elfutils/libdw.h>

/* The functions around an address, outermost first: one that has code of its own, then those that
 * were inlined, each into the one before. Of too many the outermost are dropped. */
struct rfn_scopes {
    Dwarf_Die unit;
    Dwarf_Addr bias; /* of addresses in the debug information against those in the module */
    Dwarf_Die functions[RFN_SOURCES_MAX];
    size_t n;
};

/* False: there is no debug information of the address. */
bool rfn_symbolizer_scopes(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                           struct rfn_scopes *scopes);

/* The name that the linker sees, before the plain one; NULL. */
const char *rfn_die_name(Dwarf_Die *die);
/* File and line of an address of the debug information; they stay as they are where not known. */
void rfn_die_line(Dwarf_Die *unit, Dwarf_Addr address, struct rfn_source *source);
/* Where an inlined function is called. */
void rfn_die_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct rfn_source *source);

#endif
