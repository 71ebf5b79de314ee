#include "modular_wide.h"

#include "division_steps.h"
#include "secret.h"

#define INVERT ws_modular_wide_invert
#define MOST_DIGITS DIGITS(384)
#define DIGITS_OF(m) MOST_DIGITS
#define BATCHES_OF(m) BATCHES(885)
#include "modular_invert.inc"
