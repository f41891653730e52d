/* python.h - the frames of a Python script on the call path of a call.
 *
 * The interpreter runs a script's functions in its own stack of frames. One frame of C (of the
 * function that interprets) runs one frame of the script or several that call each other. It has a
 * mark on the C stack, from which the innermost of them is found: so a walk of the C stack knows
 * which frames of the script belong where. Until Python 3.11 the mark is a record of its own, from
 * 3.12 on a frame without code (an entry), behind the outermost of these frames.
 *
 * The thread need not hold the interpreter's lock (bindings give it up before they call MPI): only
 * the thread itself changes its frames, and frames keep the code that they run. Nothing of the
 * interpreter is called that allocates, counts references or looks at a current thread.
 *
 * Where the fields lie depends on the interpreter's version (the table in python.c). For versions
 * that are not in the table, and where a field does not hold what it should, there are no frames:
 * call paths then name the functions of the interpreter.
 */
#ifndef RFN_RECORD_CALLPATH_PYTHON_H
#define RFN_RECORD_CALLPATH_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a walk is: the interpreter's next mark further out on the C stack, or 0, and the word that
 * holds the innermost frame of the script that belongs to it. */
struct rec_python_stack {
    uintptr_t mark;
    const uintptr_t *innermost;
};

/* At the innermost mark of the calling thread. False: there is no interpreter that is known here,
 * or it does not run on this thread. */
bool rec_python_begin(struct rec_python_stack *stack);

/* Whether the mark lies in the frame of C between these addresses. If so, *frame becomes its word,
 * and the stack goes on to the next mark. */
bool rec_python_enter(struct rec_python_stack *stack, uintptr_t start, uintptr_t end,
                      const uintptr_t **frame);

enum { REC_PYTHON_WORDS = 10 };

/* A frame of a script. */
struct rec_python_frame {
    uintptr_t caller; /* the next frame further out that the same frame of C runs, or 0 */
    uint32_t module;  /* of rec_module: its file and function */
    uint32_t line;
    bool frozen; /* of what the interpreter contains, as its importer */
    /* While these words are as they are, the frame stands in the same instruction of the same code,
     * and has the same caller. Each may be read if those before it have not changed. */
    const uintptr_t *words[REC_PYTHON_WORDS];
};

/* Reads the frame at an address. False: it does not look like one, or memory is short. */
bool rec_python_read(uintptr_t at, struct rec_python_frame *frame);

/* The line of an instruction (in units of two bytes, -1 before the first) by a table of locations,
 * as CPython's Objects/locations.md has it. */
uint32_t rec_python_line(const uint8_t *table, size_t size, uint32_t first_line,
                         int64_t instruction);

enum { REC_PYTHON_CHARACTER = 4 };

/* Bytes of a character in a text: UTF-8, but for half surrogates, which stand for bytes of file
 * names that are no UTF-8, and are these again. */
size_t rec_python_character(uint32_t character, char bytes[REC_PYTHON_CHARACTER]);

#endif
