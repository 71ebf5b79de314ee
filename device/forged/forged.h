/* The meter's messages as device/forged has them: with one key, of suites that have no curve. */
#ifndef WS_FORGED_H
#define WS_FORGED_H

#define WS_METER_SUITES (1 << 1 | 1 << 5)
#include "../meter/message.h"

#endif
