#include "modular.h"

#include "division_steps.h"
#include "secret.h"

/* The two sizes of moduli that there are. */
#define LARGE_DIGITS DIGITS(256)
#define LARGE_BATCHES BATCHES(590)
#define SMALL_BITS 161
#define SMALL_DIGITS DIGITS(SMALL_BITS)
#define SMALL_BATCHES BATCHES(372)

#define INVERT ws_modular_invert
#define MOST_DIGITS LARGE_DIGITS
#define DIGITS_OF(m) ((m)->bits > SMALL_BITS ? LARGE_DIGITS : SMALL_DIGITS)
#define BATCHES_OF(m) ((m)->bits > SMALL_BITS ? LARGE_BATCHES : SMALL_BATCHES)
#include "modular_invert.inc"
