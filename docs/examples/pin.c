/* A check of a PIN that one fault passes: docs/how-to/faults.md. */
#include <stdint.h>

static volatile uint8_t entered[4] = { 1, 2, 3, 5 }, pin[4] = { 1, 2, 3, 4 };
static volatile uint8_t door;

__attribute__((noinline, noreturn)) void denied(void)
{
    for (;;)
        door = 0;
}

__attribute__((noinline, noreturn)) void unlocked(void)
{
    for (;;)
        door = 1;
}

__attribute__((noinline)) void check_pin(void)
{
    uint8_t differences = 0;
    for (uint8_t i = 0; i < 4; i++)
        differences |= entered[i] ^ pin[i];
    if (differences)
        denied();
    unlocked();
}

int main(void)
{
    check_pin();
}
