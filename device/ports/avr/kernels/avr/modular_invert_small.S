/* The fast kernel is smaller than what the compiler makes of modular_invert.c, too. */
#include "modular_invert_fast.S"
