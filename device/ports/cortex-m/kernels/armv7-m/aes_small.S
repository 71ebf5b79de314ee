@ ARMv7-M executes ARMv6-M's instructions, and nothing of its own would make these shorter.
#include "../armv6-m/aes_small.S"
