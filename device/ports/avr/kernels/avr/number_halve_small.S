/* The fast kernel is smaller than what the compiler makes of number_halve.c, too. */
#include "number_halve_fast.S"
