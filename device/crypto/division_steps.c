#include "division_steps.h"

#include "secret.h"

#define SIGN_BIT (8 * sizeof(ws_digit) - 1)

ws_digit ws_division_steps(ws_digit zeta, ws_unsigned_digit f, ws_unsigned_digit g, ws_transition *step)
{
    ws_unsigned_digit u = 1;
    ws_unsigned_digit v = 0;
    ws_unsigned_digit q = 0;
    ws_unsigned_digit r = 1;
    uint8_t i;

    for (i = 0; i < WS_DIVISION_STEPS; i++) {
        const uint8_t positive = ws_secret_bit((uint8_t)((ws_unsigned_digit)zeta >> SIGN_BIT));
        const ws_unsigned_digit odd = (ws_unsigned_digit)(0 - (ws_unsigned_digit)ws_secret_bit((uint8_t)(g & 1)));
        ws_unsigned_digit swap = (ws_unsigned_digit)(0 - (ws_unsigned_digit)positive);

        /* g, if odd, plus f, or minus f where delta is positive. */
        g += (ws_unsigned_digit)(((f ^ swap) - swap) & odd);
        q += (ws_unsigned_digit)(((u ^ swap) - swap) & odd);
        r += (ws_unsigned_digit)(((v ^ swap) - swap) & odd);
        /* Where delta is positive and g was odd, f becomes what g was: f + (g - f). */
        swap &= odd;
        f += g & swap;
        u += q & swap;
        v += r & swap;
        /* delta + 1, or 1 - delta: zeta - 1, or -zeta - 2. */
        zeta = (ws_digit)((ws_unsigned_digit)zeta ^ swap);
        zeta--;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    step->u = (ws_digit)u;
    step->v = (ws_digit)v;
    step->q = (ws_digit)q;
    step->r = (ws_digit)r;
    return zeta;
}
