/* A look-up at a secret address, a comparison that ends early, and one that does not. */
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <stdint.h>

uint8_t key[4] = { 1, 2, 3, 4 }, tag[4], table[256];
volatile uint8_t out[4], sink;

__attribute__((noinline)) void look_up(void)
{
    for (uint8_t i = 0; i < 4; i++)
        out[i] = table[key[i]]; /* ADDRESS */
}

__attribute__((noinline)) uint8_t differs(void)
{
    for (uint8_t i = 0; i < 4; i++)
        if (key[i] != tag[i]) /* BRANCH */
            return 1;
    return 0;
}

__attribute__((noinline)) uint8_t differs_constantly(void)
{
    uint8_t all = 0;
    for (uint8_t i = 0; i < 4; i++)
        all |= key[i] ^ tag[i];
    return all;
}

/* Its caller has read the secret. */
__attribute__((noinline, noclone)) void look_up_in_registers(uint8_t secret)
{
    sink = table[secret];
}

int main(void)
{
    look_up_in_registers(key[0]);
    look_up();
    sink = differs();
    sink = differs_constantly();
    cli();
    sleep_mode();
    return 0;
}
