#include "division_steps.h"

#define STEPS WS_DIVISION_STEPS
#define MASK (((ws_unsigned_digit)1 << STEPS) - 1)
#if WS_LIMB_BITS == 32
typedef int64_t two_digits;
#else
typedef int32_t two_digits;
#endif

void ws_division_apply(ws_digits *fg, const ws_transition *step, uint8_t digits)
{
    const ws_digit u = step->u;
    const ws_digit v = step->v;
    const ws_digit q = step->q;
    const ws_digit r = step->r;
    two_digits f = (two_digits)u * fg->first + (two_digits)v * fg->second;
    two_digits g = (two_digits)q * fg->first + (two_digits)r * fg->second;

    while (--digits != 0) {
        const ws_digit old_f = fg[1].first;
        const ws_digit old_g = fg[1].second;

        f = (f >> STEPS) + (two_digits)u * old_f + (two_digits)v * old_g;
        g = (g >> STEPS) + (two_digits)q * old_f + (two_digits)r * old_g;
        fg->first = (ws_digit)((ws_unsigned_digit)f & MASK);
        fg->second = (ws_digit)((ws_unsigned_digit)g & MASK);
        fg++;
    }
    fg->first = (ws_digit)(f >> STEPS);
    fg->second = (ws_digit)(g >> STEPS);
}

/* From `more` on down, how often the modulus is added to the number with the lowest digit `low` for 2^STEPS to divide it. */
static ws_digit times_added(ws_digit more, ws_unsigned_digit inverse, two_digits low)
{
    const ws_unsigned_digit remainder = (ws_unsigned_digit)(inverse * (ws_unsigned_digit)low + (ws_unsigned_digit)more);

    return (ws_digit)(more - (ws_digit)(remainder & MASK));
}

void ws_division_apply_modulo(ws_digits *de, const ws_transition *step, const ws_digit *modulus,
                              ws_unsigned_digit inverse, uint8_t digits)
{
    const ws_digit u = step->u;
    const ws_digit v = step->v;
    const ws_digit q = step->q;
    const ws_digit r = step->r;
    const ws_digit d_negative = ws_digit_sign(de[(uint8_t)(digits - 1)].first);
    const ws_digit e_negative = ws_digit_sign(de[(uint8_t)(digits - 1)].second);
    two_digits d = (two_digits)u * de->first + (two_digits)v * de->second;
    two_digits e = (two_digits)q * de->first + (two_digits)r * de->second;
    /* How often the modulus is added: once for each time that a negative d or e is, and then so that 2^STEPS divides. */
    ws_digit d_more = (ws_digit)((u & d_negative) + (v & e_negative));
    ws_digit e_more = (ws_digit)((q & d_negative) + (r & e_negative));

    d_more = times_added(d_more, inverse, d);
    e_more = times_added(e_more, inverse, e);
    d += (two_digits)d_more * *modulus;
    e += (two_digits)e_more * *modulus;
    while (--digits != 0) {
        const ws_digit old_d = de[1].first;
        const ws_digit old_e = de[1].second;

        modulus++;
        d = (d >> STEPS) + (two_digits)u * old_d + (two_digits)v * old_e + (two_digits)d_more * *modulus;
        e = (e >> STEPS) + (two_digits)q * old_d + (two_digits)r * old_e + (two_digits)e_more * *modulus;
        de->first = (ws_digit)((ws_unsigned_digit)d & MASK);
        de->second = (ws_digit)((ws_unsigned_digit)e & MASK);
        de++;
    }
    de->first = (ws_digit)(d >> STEPS);
    de->second = (ws_digit)(e >> STEPS);
}
