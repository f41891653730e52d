#include "record/callpath/python.h"
#include "record/callpath/modules.h"

#include <string.h>

/* The interpreter's, where the program has one. */
extern const unsigned long Py_Version __attribute__((weak));
extern const char PyCode_Type[] __attribute__((weak));
extern const char PyUnicode_Type[] __attribute__((weak));
extern const char PyBytes_Type[] __attribute__((weak));
extern const char _PyRuntime[] __attribute__((weak));
extern int Py_IsInitialized(void) __attribute__((weak));
extern void *PyGILState_GetThisThreadState(void) __attribute__((weak));

enum { FUNCTION_BYTES = 512, FILE_BYTES = 1024 }; /* longer names are cut */

/* Where fields lie, by version of the interpreter. */
struct layout {
    unsigned long version;                  /* major << 8 | minor */
    uint16_t thread_record;                 /* PyThreadState.cframe; from 3.13 on current_frame */
    uint16_t record_frame, record_previous; /* _PyCFrame: current_frame, previous; until 3.12 */
    bool has_entries;                       /* from 3.12 on, see rec_python_begin */
    /* _PyInterpreterFrame: f_code or f_executable, previous, prev_instr or instr_ptr; is_entry or
     * owner, and from which value on that is an entry */
    uint16_t frame_code, frame_previous, frame_instruction, frame_owner;
    uint8_t entry;
    /* PyCodeObject: ob_size (instructions), co_firstlineno, co_filename, co_name, co_qualname,
     * co_linetable, co_code_adaptive */
    uint16_t code_size, code_first_line, code_file, code_name, code_full_name, code_lines,
        code_instructions;
    uint16_t object_type;                        /* PyObject.ob_type */
    uint16_t text_length, text_hash, text_state; /* PyASCIIObject */
    uint16_t text_ascii, text_other;             /* where characters begin */
    uint16_t bytes_size, bytes_content;          /* PyBytesObject */
};

#define SAME_IN_ALL                                                                                \
    .code_size = 16, .code_file = 112, .code_name = 120, .code_full_name = 128, .code_lines = 136, \
    .object_type = 8, .text_length = 16, .text_hash = 24, .text_state = 32, .bytes_size = 16,      \
    .bytes_content = 32, .frame_instruction = 56
#define SAME_FROM_3_12                                                                             \
    SAME_IN_ALL, .has_entries = true, .frame_code = 0, .frame_previous = 8, .code_first_line = 68, \
                 .text_ascii = 40, .text_other = 56

/* Offsets in the headers of each version, on processors with words of 64 bits. 3.12 was not tried.
 */
static const struct layout layouts[] = {
    {.version = 0x030b,
     SAME_IN_ALL,
     .thread_record = 56,
     .record_frame = 8,
     .record_previous = 16,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_owner = 68,
     .entry = 1,
     .code_first_line = 72,
     .code_instructions = 184,
     .text_ascii = 48,
     .text_other = 72},
    {.version = 0x030c,
     SAME_FROM_3_12,
     .thread_record = 56,
     .record_frame = 0,
     .record_previous = 8,
     .frame_owner = 70,
     .entry = 3,
     .code_instructions = 192},
    {.version = 0x030d,
     SAME_FROM_3_12,
     .thread_record = 72,
     .frame_owner = 70,
     .entry = 3,
     .code_instructions = 200},
    {.version = 0x030e,
     SAME_FROM_3_12,
     .thread_record = 72,
     .frame_owner = 74,
     .entry = 3,
     .code_instructions = 208},
};

/* Whether the interpreter has no lock, and other layouts: from 3.13 on _PyRuntime begins with a
 * cookie, the version, and this. */
static bool is_free_threaded(void)
{
    static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    return Py_Version >> 16 >= 0x030d &&
           (!_PyRuntime || memcmp(_PyRuntime, cookie, sizeof cookie) != 0 ||
            ((const uint64_t *)_PyRuntime)[2] != 0);
}

/* Of releases only; NULL: of no known one. */
static const struct layout *find_layout(void)
{
    enum { RELEASE = 0xf };
    if (sizeof(void *) != 8 || !&Py_Version || (Py_Version >> 4 & 0xf) != RELEASE ||
        is_free_threaded())
        return NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (Py_Version >> 16 == layouts[i].version)
            return &layouts[i];
    }
    return NULL;
}

static const uintptr_t *place(uintptr_t object, uint16_t offset)
{
    return (const uintptr_t *)(object + offset);
}

static uintptr_t word(uintptr_t object, uint16_t offset)
{
    return *place(object, offset);
}

/* ---- the stack of C ---- */

static bool is_entry(const struct layout *layout, uintptr_t frame)
{
    return *((const uint8_t *)frame + layout->frame_owner) >= layout->entry;
}

/* The entry that ends the frames which one frame of C runs, from the innermost on; 0: there is
 * none. */
static uintptr_t find_entry(const struct layout *layout, uintptr_t frame)
{
    enum { MOST = 1000000 }; /* more frames than scripts may have */
    for (int i = 0; i < MOST && frame && frame % sizeof frame == 0; i++) {
        if (is_entry(layout, frame))
            return frame;
        frame = word(frame, layout->frame_previous);
    }
    return 0;
}

bool rec_python_begin(struct rec_python_stack *stack)
{
    const struct layout *layout = find_layout();
    *stack = (struct rec_python_stack){0};
    /* After its end the interpreter's key for the thread may be another's. */
    if (!layout || !Py_IsInitialized || !PyGILState_GetThisThreadState || !Py_IsInitialized())
        return false;
    const uintptr_t thread = (uintptr_t)PyGILState_GetThisThreadState();
    if (!thread)
        return false;
    const bool has_records = layout->record_frame || layout->record_previous;
    const uintptr_t record = word(thread, layout->thread_record);
    if (!record)
        return false;
    stack->innermost = has_records ? place(record, layout->record_frame)
                                   : place(thread, layout->thread_record);
    stack->mark = layout->has_entries ? find_entry(layout, *stack->innermost) : record;
    return stack->mark != 0;
}

bool rec_python_enter(struct rec_python_stack *stack, uintptr_t start, uintptr_t end,
                      const uintptr_t **frame)
{
    const uintptr_t mark = stack->mark;
    if (mark < start || mark >= end || mark % sizeof mark)
        return false;
    const struct layout *layout = find_layout();
    *frame = stack->innermost;
    if (layout->has_entries) {
        stack->innermost = place(mark, layout->frame_previous);
        stack->mark = find_entry(layout, *stack->innermost);
    } else {
        stack->mark = word(mark, layout->record_previous);
        stack->innermost = place(stack->mark, layout->record_frame);
    }
    return true;
}

/* ---- texts ---- */

size_t rec_python_character(uint32_t character, char bytes[REC_PYTHON_CHARACTER])
{
    static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
    const bool is_byte = character >= 0xdc80 && character <= 0xdcff;
    size_t more = is_byte || character < 0x80 ? 0
                  : character < 0x800         ? 1
                  : character < 0x10000       ? 2
                                              : 3;
    for (size_t i = more; i > 0; i--, character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)(heads[more] | (character & 0xff));
    return more + 1;
}

/* The characters of a text: n of `width` bytes each (1, 2 or 4). NULL: it is not of this form. */
static const char *characters(const struct layout *layout, uintptr_t text, size_t *n, size_t *width)
{
    enum { WIDTH_SHIFT = 2, COMPACT = 1 << 5, ASCII = 1 << 6 };
    const uintptr_t state = word(text, layout->text_state);
    *n = word(text, layout->text_length);
    *width = state >> WIDTH_SHIFT & 7;
    if (!(state & COMPACT) || (*width != 1 && *width != 2 && *width != 4))
        return NULL;
    return (const char *)text + (state & ASCII ? layout->text_ascii : layout->text_other);
}

/* As much of a text as there is room for. False: it is not of this form. */
static bool copy_text(const struct layout *layout, uintptr_t text, char *to, size_t size)
{
    size_t left, width, n = 0;
    const char *from = characters(layout, text, &left, &width);
    if (!from)
        return false;
    for (; left > 0; left--, from += width) {
        uint32_t character = 0;
        char bytes[REC_PYTHON_CHARACTER];
        memcpy(&character, from, width); /* little-endian */
        const size_t more = rec_python_character(character, bytes);
        if (n + more >= size)
            break;
        memcpy(to + n, bytes, more);
        n += more;
    }
    to[n] = 0;
    return true;
}

/* The word with the last character of a text of this form. */
static const uintptr_t *last_word(const struct layout *layout, uintptr_t text)
{
    size_t n, width;
    const uintptr_t first = (uintptr_t)characters(layout, text, &n, &width);
    const uintptr_t last = n ? first + n * width - 1 : first;
    return (const uintptr_t *)(last - last % sizeof last);
}

/* ---- lines ---- */

/* Six bits per byte, the lowest first; whether more follow says the bit above. */
static uint32_t read_number(const uint8_t **at, const uint8_t *end)
{
    uint32_t value = 0;
    for (unsigned shift = 0; *at < end; shift += 6) {
        const uint8_t byte = *(*at)++;
        if (shift < 32)
            value |= (uint32_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            break;
    }
    return value;
}

uint32_t rec_python_line(const uint8_t *table, size_t size, uint32_t first_line,
                         int64_t instruction)
{
    enum { ENTRY = 0x80, ONE_LINE_FIRST = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    const uint8_t *at = table, *end = table + size;
    uint32_t line = first_line;
    int64_t passed = 0;
    while (at < end && passed <= instruction) {
        const unsigned head = *at++, code = head >> 3 & 15;
        passed += (head & 7) + 1;
        if (code == NO_COLUMNS || code == LONG) {
            const uint32_t delta = read_number(&at, end); /* its sign is the lowest bit */
            line += delta & 1 ? 0 - (delta >> 1) : delta >> 1;
        } else if (code >= ONE_LINE_FIRST && code != NONE) {
            line += code - ONE_LINE_FIRST;
        }
        while (at < end && !(*at & ENTRY)) /* columns */
            at++;
    }
    return line;
}

/* ---- frames ---- */

static bool is_a(const struct layout *layout, uintptr_t object, const char *type)
{
    return type && object && object % sizeof object == 0 &&
           word(object, layout->object_type) == (uintptr_t)type;
}

/* From 3.14 on the lowest bits say who counts the reference. */
static uintptr_t code_of(const struct layout *layout, uintptr_t frame)
{
    return word(frame, layout->frame_code) & ~(uintptr_t)3;
}

/* The frame that called this one, if the same frame of C runs it; else 0. */
static uintptr_t caller_of(const struct layout *layout, uintptr_t frame)
{
    const uintptr_t caller = word(frame, layout->frame_previous);
    if (!layout->has_entries)
        return is_entry(layout, frame) ? 0 : caller;
    return !caller || is_entry(layout, caller) ? 0 : caller;
}

/* The file and the function of a code are a module. */
static bool find_module(const struct layout *layout, uintptr_t code, struct rec_python_frame *frame)
{
    static const char frozen[] = "<frozen ";
    char function[FUNCTION_BYTES], file[FILE_BYTES];
    if (!copy_text(layout, word(code, layout->code_full_name), function, sizeof function) ||
        !copy_text(layout, word(code, layout->code_file), file, sizeof file))
        return false;
    frame->frozen = strncmp(file, frozen, sizeof frozen - 1) == 0;
    return rec_script_find(file, function, &frame->module) == 0;
}

static uint32_t find_line(const struct layout *layout, uintptr_t code, int64_t instruction)
{
    const uintptr_t lines = word(code, layout->code_lines);
    uint32_t first_line;
    memcpy(&first_line, place(code, layout->code_first_line), sizeof first_line);
    return rec_python_line((const uint8_t *)lines + layout->bytes_content,
                           word(lines, layout->bytes_size), first_line, instruction);
}

/* Code that is gone may make room for another one. So not only where the code lies is among the
 * words, but also its first line, its name by the hash, which the interpreter has of each name, and
 * its file by form, length and last characters, as there is no hash of files. */
static void list_words(const struct layout *layout, uintptr_t at, struct rec_python_frame *frame)
{
    const uintptr_t code = code_of(layout, at), name = word(code, layout->code_name);
    const uintptr_t file = word(code, layout->code_file);
    const uintptr_t *const words[REC_PYTHON_WORDS] = {
        place(at, layout->frame_code),        place(at, layout->frame_previous),
        place(at, layout->frame_instruction), place(code, layout->code_first_line),
        place(code, layout->code_name),       place(name, layout->text_hash),
        place(code, layout->code_file),       place(file, layout->text_state),
        place(file, layout->text_length),     last_word(layout, file)};
    memcpy(frame->words, words, sizeof words);
}

bool rec_python_read(uintptr_t at, struct rec_python_frame *frame)
{
    const struct layout *layout = find_layout();
    if (!layout || !at || at % sizeof at)
        return false;
    const uintptr_t code = code_of(layout, at);
    if (!is_a(layout, code, PyCode_Type) ||
        !is_a(layout, word(code, layout->code_name), PyUnicode_Type) ||
        !is_a(layout, word(code, layout->code_full_name), PyUnicode_Type) ||
        !is_a(layout, word(code, layout->code_file), PyUnicode_Type) ||
        !is_a(layout, word(code, layout->code_lines), PyBytes_Type))
        return false;
    const int64_t bytes = (int64_t)(word(at, layout->frame_instruction) - code -
                                    layout->code_instructions);
    if (bytes < -2 || bytes % 2 || bytes / 2 >= (int64_t)word(code, layout->code_size) ||
        !find_module(layout, code, frame))
        return false;
    frame->line = find_line(layout, code, bytes / 2);
    frame->caller = caller_of(layout, at);
    list_words(layout, at, frame);
    return true;
}
