/* The fast kernel, being a loop of one round, is also smaller than what the compiler makes: 1,118 bytes with the constants. */
#include "sha256_blocks_fast.S"
