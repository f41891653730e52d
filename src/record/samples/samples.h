/* samples.h - sampling of messages in the recorder. */
#ifndef RFN_RECORD_SAMPLES_SAMPLES_H
#define RFN_RECORD_SAMPLES_SAMPLES_H

/* The program wishes another strategy. 1: it is taken; 0: nobody samples; -1: it is none. Any
 * thread, at any time. */
int rec_sample_wish(const char *text);

#endif
