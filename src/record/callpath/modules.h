/* modules.h - the executable and the libraries of the process, and which of them an address of code
 * lies in.
 *
 * The table is the process's, shared by all threads and guarded by a lock; it is used only when a
 * call path is walked in full. Modules get their numbers when the first frame in them is seen, so
 * a process with a thousand libraries (SMPI loads a copy of the program per rank) numbers only
 * those that its call paths touch.
 */
#ifndef RFN_RECORD_CALLPATH_MODULES_H
#define RFN_RECORD_CALLPATH_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* The stretch of code that an address lies in. */
struct rec_code {
    uintptr_t start, end; /* of the executable segment; one byte of what is in no module */
    uintptr_t bias;       /* address in memory minus ELF virtual address */
    uint32_t module;      /* see rec_module in sites.h */
    bool runtime; /* of the C library, the loader or the simulator: may lie outside of main */
    bool glue;    /* by which scripts call C; it calls nothing on its own */
    const uint8_t *eh_frame_hdr; /* table of call frame information, or NULL */
};

/* Finds the code at an address. What is in no module (code made at run time) is in a module of its
 * own without a path, with the address itself as bias, so that offsets are 0 in every run and on
 * every rank. Returns 0 or RFN_E_NOMEM. */
int rec_code_find(uintptr_t address, struct rec_code *code);

/* The module that stands for a function of a script: lines are the offsets in it. Its build-id is a
 * hash of both names. Returns 0 or RFN_E_NOMEM. */
int rec_script_find(const char *file, const char *function, uint32_t *module);

/* Whether an address can be where a call returns to: it lies behind a call instruction (x86-64
 * only) or, in no module, in memory that may be executed. code: of the byte before it. Steps that
 * follow no rules may find anything. */
bool rec_code_is_return(const struct rec_code *code, uintptr_t address);

/* How often a library has been unloaded. When this changes, addresses may mean something else. */
uint64_t rec_modules_unloaded(void);

/* Forgets which module is where (not the modules and their numbers). */
void rec_modules_forget(void);

/* First address of the program's entry point (_start), which calls into the C library. */
uintptr_t rec_program_entry(void);

/* For a statically linked program the address of main, otherwise 0. */
uintptr_t rec_static_main(void);

#endif
