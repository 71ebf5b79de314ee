#include "forged.h"

#include "../meter/message.c"
