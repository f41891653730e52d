/* page_template.h - the page without archives, as gen_page.py makes it. */
#ifndef RFN_VIEW_PAGE_TEMPLATE_H
#define RFN_VIEW_PAGE_TEMPLATE_H

#include <stddef.h>

/* The Debian packages that a build with a page needs and this one lacked; NULL: it has a page. */
extern const char *const rfn_page_template_missing;
/* What stands before the archives, and behind them. */
extern const unsigned char rfn_page_head[], rfn_page_tail[];
extern const size_t rfn_page_head_size, rfn_page_tail_size;

#endif
