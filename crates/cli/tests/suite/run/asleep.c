/* Has lost its wake-up: it listens to interrupts, and none is to come. */
#include <avr/interrupt.h>
#include <avr/sleep.h>

int main(void)
{
    sei();
    sleep_mode();
    return 0;
}
