/* page_reader.h - what the files of a page's reader share. */
#ifndef RFN_VIEW_WASM_PAGE_READER_H
#define RFN_VIEW_WASM_PAGE_READER_H

#include "refrain/archive.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

extern struct rfn_archive *page_archive;
extern struct rfn_diag page_diag;

/* Notes an error in words for page_error, unless there are some; returns it. */
int page_fail(int error);
void page_forget_error(void);

#endif
