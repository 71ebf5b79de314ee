/* A tag that is checked, with marks for `wattseal ct` of what is secret, and of what is not any
 * more. */

#include "ws_ct.h"

#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <stdint.h>

/* 1 where the tag is right. */
volatile uint8_t answer;

/* Returns 1 if a tag of `len` bytes is right. The caller is told, so the answer is public. */
__attribute__((noinline)) uint8_t check(const uint8_t *expected, const uint8_t *given, uint8_t len)
{
    uint8_t difference = 0;
    uint8_t i;

    ws_ct_secret(expected, len);
    for (i = 0; i < len; i++) {
        difference |= expected[i] ^ given[i];
    }
    ws_ct_public(&difference, sizeof difference);
    return difference ? 0 : 1;
}

int main(void)
{
    uint8_t expected[16] = { 1, 2, 3 };
    uint8_t given[16] = { 1, 2, 3 };

    answer = check(expected, given, sizeof expected);
    cli();
    sleep_mode();
    return 0;
}
