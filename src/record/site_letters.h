/* site_letters.h - what a call path is to the signature of a stream (reduce/elastic_signature.h),
 * whatever the process.
 */
#ifndef RFN_RECORD_SITE_LETTERS_H
#define RFN_RECORD_SITE_LETTERS_H

#include <stdint.h>

/* The hash of a site's function and frames, the same on all ranks: rfn_stream_options.letter, whose
 * context are the stream's struct rec_sites. */
uint64_t rec_site_letter(const void *sites, uint32_t site);

#endif
