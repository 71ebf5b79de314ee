/* The fast kernel is hardly larger than what the compiler makes of modular.c, and wants no limb.c. */
#include "modular_fast.S"
