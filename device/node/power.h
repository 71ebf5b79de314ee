/* The gate: whether there is enough energy stored for a signature and its transmission.
 *
 * The host computes the threshold from equation (6.1) of Mane and others (2014), C V^2 / 2 = 2 (Ec + Erf) + Eov: twice the energy of
 * computing and sending, and the harvester's overhead. What a message takes from the capacitor can thus not bring it below
 * what the regulator needs, and the firmware need not watch the voltage while it signs. Should the supply fall all the
 * same, the supervisor that start-up sets for the core's level (SVSH, ports/msp430/clock_f5xx.c) resets the part. */
#ifndef WS_NODE_POWER_H
#define WS_NODE_POWER_H

#include "../crypto/compiler.h"

#include <stdint.h>

/* 1 where the stored voltage is enough, else 0. A threshold of 0 lets everything pass. */
WS_INLINE uint8_t ws_power_suffices(uint16_t stored_mv, uint16_t threshold_mv)
{
    return stored_mv >= threshold_mv;
}

#endif
