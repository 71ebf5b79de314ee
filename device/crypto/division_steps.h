/* Division steps: D. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and modular inversion", TCHES 2019(3). For
 * an odd f, a number g and a delta that is an integer and a half,
 *
 *     if delta > 0 and g is odd: (delta, f, g) = (1 - delta, g, (g - f) / 2)
 *     else:                      (delta, f, g) = (1 + delta, f, (g + (g mod 2) f) / 2)
 *
 * What n steps do is decided by the lowest n bits of f and g. */
#ifndef WS_DIVISION_STEPS_H
#define WS_DIVISION_STEPS_H

#include "compiler.h"
#include "limb.h"
#include "secret.h"

#include <stdint.h>

/* How many steps are taken at once, and numbers of two bits more. */
#if WS_LIMB_BITS == 32
#define WS_DIVISION_STEPS 30
typedef int32_t ws_digit;
typedef uint32_t ws_unsigned_digit;
#else
#define WS_DIVISION_STEPS 14
typedef int16_t ws_digit;
typedef uint16_t ws_unsigned_digit;
#endif

/* Times 2^WS_DIVISION_STEPS, what the steps make of (f, g): u f + v g, q f + r g. The absolute values of each row add up to
 * 2^WS_DIVISION_STEPS at most. On ARM aligned to 4. */
typedef struct {
    ws_digit u;
    ws_digit v;
    ws_digit q;
    ws_digit r;
} ws_transition;

/* WS_DIVISION_STEPS steps, from that many of the lowest bits of f and g, or more. zeta is -(delta + 1/2): delta > 0 is
 * zeta < 0. A kernel replaces division_steps.c, which is this function.
 *
 * out: step. Returns zeta after the steps. Constant time. */
ws_digit ws_division_steps(ws_digit zeta, ws_unsigned_digit f, ws_unsigned_digit g, ws_transition *step);

/* Two long numbers side by side, (f, g) or (d, e): digits of WS_DIVISION_STEPS bits, the lowest first and each of
 * 0 <= digit < 2^WS_DIVISION_STEPS, but the highest, which has the sign of the number. On ARM aligned to 4. */
typedef struct {
    ws_digit first;
    ws_digit second;
} ws_digits;

/* All bits set if the number that has this highest digit is negative, else none. */
WS_INLINE ws_digit ws_digit_sign(ws_digit highest)
{
    return (ws_digit)(0 - (ws_digit)ws_secret_bit((uint8_t)((ws_unsigned_digit)highest >> (8 * sizeof(ws_digit) - 1))));
}

/* (f, g) = step (f, g) / 2^WS_DIVISION_STEPS, which leaves no remainder. digits: at least 2. Constant time for given
 * digits. A kernel replaces division_apply.c, which is this function and the next. */
void ws_division_apply(ws_digits *fg, const ws_transition *step, uint8_t digits);

/* (d, e) = step (d, e) / 2^WS_DIVISION_STEPS modulo the modulus; between -2 and 1 times the modulus before and after.
 * inverse is 1 / modulus modulo 2^WS_DIVISION_STEPS. Constant time for a given modulus. */
void ws_division_apply_modulo(ws_digits *de, const ws_transition *step, const ws_digit *modulus,
                              ws_unsigned_digit inverse, uint8_t digits);

#endif
