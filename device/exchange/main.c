/* A station of a radio, for tests on the model: the host writes ws_exchange, its field what last, and finds what at 0 when it is done.
 * Meanwhile the sampler's interrupts come, as long as the host wants them. */
#include "../drivers/board.h"
#include "../drivers/clock.h"
#include "../drivers/radio.h"
#include "../drivers/sampler.h"

#include <stdint.h>

enum {
    START = 1, /* in: bytes: address, channel, power. out: result */
    SEND, /* in: len, bytes. out: result */
    LISTEN, /* in: ticks from now on. out: result, bytes */
    SLEEP,
    SAMPLE
};

struct exchange {
    uint32_t ticks;
    int16_t result;
    uint8_t len;
    uint8_t what;
    uint8_t bytes[WS_RADIO_PACKET];
    /* Turns of a loop of four cycles in each of the sampler's calls. */
    volatile uint16_t load;
};

struct exchange ws_exchange;

void ws_metering_sample(uint16_t voltage, uint16_t current);

void ws_metering_sample(uint16_t voltage, uint16_t current)
{
    uint16_t turns;

    (void)voltage;
    (void)current;
    for (turns = ws_exchange.load; turns != 0; turns--) {
        __asm__ volatile("");
    }
}

static int16_t call(struct exchange *e, uint8_t what)
{
    switch (what) {
    case START:
        return (int16_t)ws_radio_start(e->bytes[0], e->bytes[1], e->bytes[2]);
    case SEND:
        return (int16_t)ws_radio_send(e->bytes, e->len);
    case LISTEN:
        return (int16_t)ws_radio_listen(ws_clock_ticks() + e->ticks, e->bytes);
    case SLEEP:
        ws_radio_sleep();
        return 0;
    case SAMPLE:
        ws_sampler_start();
        return 0;
    default:
        return -2;
    }
}

int main(void)
{
    volatile uint8_t *what = &ws_exchange.what;

    ws_board_start();
    ws_clock_start();
    for (;;) {
        if (*what == 0) {
            ws_clock_sleep(ws_clock_ticks() + 1, 0);
        } else {
            ws_exchange.result = call(&ws_exchange, *what);
            *what = 0;
        }
    }
}
