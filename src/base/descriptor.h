/* descriptor.h - descriptors that are not those of standard input, output and error. */
#ifndef RFN_BASE_DESCRIPTOR_H
#define RFN_BASE_DESCRIPTOR_H

/* A descriptor that was just opened (it is taken), or another one of the same file: the three may
 * be free, but whoever reads or writes there must not hit this file. -1 with errno if there is no
 * other, or fd is negative. */
int rfn_above_standard(int fd);

#endif
