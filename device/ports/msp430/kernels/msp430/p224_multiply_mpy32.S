/* With the 32-bit multiplier as one of 16 bits. */
#include "p224_multiply_mpy16.S"
