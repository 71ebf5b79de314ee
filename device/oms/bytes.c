/* The part of meter/message.h that numbers and records use. */
#include "../meter/message.h"

#include "../meter/bytes.inc"
