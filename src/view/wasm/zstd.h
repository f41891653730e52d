/* zstd.h - in place of zstd's: what a page reads is not compressed by zstd, so every function
 * fails. */
#ifndef RFN_VIEW_WASM_ZSTD_H
#define RFN_VIEW_WASM_ZSTD_H

#include <stddef.h>

#define ZSTD_FAILURE ((size_t)-1)

typedef struct rfn_no_zstd ZSTD_DCtx;
typedef struct rfn_no_zstd ZSTD_CCtx;
typedef struct {
    const void *src;
    size_t size, pos;
} ZSTD_inBuffer;
typedef struct {
    void *dst;
    size_t size, pos;
} ZSTD_outBuffer;
typedef int ZSTD_EndDirective;
enum { ZSTD_e_continue, ZSTD_e_end, ZSTD_c_compressionLevel };

#define ZSTD_isError(code)                       ((code) == ZSTD_FAILURE)
#define ZSTD_getFrameContentSize(data, size)     ((void)(data), (void)(size), (unsigned long long)-2)
#define ZSTD_findFrameCompressedSize(data, size) ((void)(data), (void)(size), ZSTD_FAILURE)
#define ZSTD_createDCtx()                        NULL
#define ZSTD_freeDCtx(context)                   ((void)(context))
#define ZSTD_decompressStream(context, out, in) \
    ((void)(context), (void)(out), (void)(in), ZSTD_FAILURE)
#define ZSTD_decompress(to, room, from, size) \
    ((void)(to), (void)(room), (void)(from), (void)(size), ZSTD_FAILURE)
#define ZSTD_compressBound(size) (size)
#define ZSTD_compress(to, room, from, size, level) \
    ((void)(to), (void)(room), (void)(from), (void)(size), (void)(level), ZSTD_FAILURE)
#define ZSTD_createCCtx()                            NULL
#define ZSTD_freeCCtx(context)                       ((void)(context))
#define ZSTD_CCtx_setParameter(context, what, value) ((void)(context), ZSTD_FAILURE)
#define ZSTD_CCtx_setPledgedSrcSize(context, size)   ((void)(context), (void)(size), ZSTD_FAILURE)
#define ZSTD_compressStream2(context, out, in, end) \
    ((void)(context), (void)(out), (void)(in), (void)(end), ZSTD_FAILURE)

#endif
