/* Inverses by Bernstein and Yang's division steps (division_steps.h), from delta = 1/2: with f the modulus and g the number,
 * they bring g to 0 and f to 1 or -1 after a number of them that depends on the size of the modulus alone. What STEPS of
 * them do is a matrix of integers, times 2^-STEPS: it is found from the lowest STEPS bits of f and g, and applied to the
 * long numbers at once; and applied likewise, modulo the modulus, to a pair (d, e) with d a = f and e a = g, so that in the
 * end d is the inverse, up to the sign of f. */
#include "modular.h"

#include "division_steps.h"
#include "secret.h"

#define STEPS WS_DIVISION_STEPS
typedef ws_digit digit;
typedef ws_unsigned_digit unsigned_digit;
#if WS_LIMB_BITS == 32
typedef uint64_t bits;
#else
typedef uint32_t bits;
#endif

#define MASK (((unsigned_digit)1 << STEPS) - 1)
/* Numbers here lie between -2 and 1 times the modulus: two bits more than the modulus has. */
#define DIGITS(modulus_bits) (((modulus_bits) + 2) / STEPS + 1)
/* Times STEPS, the division steps after which g is 0 for every modulus of so many bits: bounds by the convex hulls of all
 * (f, g) with 0 <= g <= f < 2^bits, as P. Wuille computes them (sipa/safegcd-bounds), for delta = 1/2. */
#define BATCHES(division_steps) (((division_steps) + STEPS - 1) / STEPS)

/* The two sizes of moduli that there are. */
#define LARGE_DIGITS DIGITS(256)
#define LARGE_BATCHES BATCHES(590)
#define SMALL_BITS 161
#define SMALL_DIGITS DIGITS(SMALL_BITS)
#define SMALL_BATCHES BATCHES(372)

typedef struct {
    ws_digits fg[LARGE_DIGITS];
    ws_digits de[LARGE_DIGITS];
    ws_transition step;
    digit modulus[LARGE_DIGITS];
} workspace;

static void to_digits(digit *out, uint8_t digits, const ws_limb *in, uint8_t limbs)
{
    bits window = 0;
    uint8_t held = 0;

    while (digits != 0) {
        while (held < STEPS && limbs != 0) {
            window |= (bits)*in++ << held;
            held = (uint8_t)(held + WS_LIMB_BITS);
            limbs--;
        }
        *out++ = (digit)(window & MASK);
        window >>= STEPS;
        held = held < STEPS ? 0 : (uint8_t)(held - STEPS);
        digits--;
    }
}

/* From the first of two numbers. */
static void to_limbs(ws_limb *out, uint8_t limbs, const ws_digits *in, uint8_t digits)
{
    bits window = 0;
    uint8_t held = 0;

    while (limbs != 0) {
        while (held < WS_LIMB_BITS) {
            if (digits != 0) {
                window |= (bits)(unsigned_digit)in++->first << held;
                digits--;
            }
            held = (uint8_t)(held + STEPS);
        }
        *out++ = (ws_limb)window;
        window >>= WS_LIMB_BITS;
        held = (uint8_t)(held - WS_LIMB_BITS);
        limbs--;
    }
}

/* Where negate is all ones, d = -d; before that, d plus the modulus if d is negative. */
static void add_and_negate(ws_digits *de, const digit *modulus, digit negate, uint8_t digits)
{
    const digit negative = ws_digit_sign(de[(uint8_t)(digits - 1)].first);
    digit carry = 0;
    uint8_t i;

    for (i = 0; i < digits; i++) {
        carry = (digit)(carry + ((digit)((de[i].first + (modulus[i] & negative)) ^ negate) - negate));
        de[i].first = i + 1 < digits ? (digit)((unsigned_digit)carry & MASK) : carry;
        carry >>= STEPS;
    }
}

void ws_modular_invert(ws_limb *r, const ws_limb *a, const ws_modulus *m)
{
    WS_ALIGNED workspace work;
    const uint8_t limbs = WS_LIMBS(m->bytes);
    const uint8_t digits = m->bits > SMALL_BITS ? LARGE_DIGITS : SMALL_DIGITS;
    const unsigned_digit inverse = (unsigned_digit)((0 - m->negated_inverse) & MASK);
    uint8_t batches = m->bits > SMALL_BITS ? LARGE_BATCHES : SMALL_BATCHES;
    digit zeta = -1;
    uint8_t i;

    to_digits(work.modulus, digits, a, limbs);
    for (i = 0; i < digits; i++) {
        work.fg[i].second = work.modulus[i];
        work.de[i].first = 0;
        work.de[i].second = i == 0;
    }
    to_digits(work.modulus, digits, m->modulus, limbs);
    for (i = 0; i < digits; i++) {
        work.fg[i].first = work.modulus[i];
    }
    while (batches != 0) {
        zeta = ws_division_steps(zeta, (unsigned_digit)work.fg[0].first, (unsigned_digit)work.fg[0].second, &work.step);
        ws_division_apply_modulo(work.de, &work.step, work.modulus, inverse, digits);
        ws_division_apply(work.fg, &work.step, digits);
        batches--;
    }
    add_and_negate(work.de, work.modulus, ws_digit_sign(work.fg[(uint8_t)(digits - 1)].first), digits);
    add_and_negate(work.de, work.modulus, 0, digits);
    to_limbs(r, limbs, work.de, digits);
    ws_wipe(&work, sizeof work);
}
