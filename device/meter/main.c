/* The secure meter as a program. What is written into it, and what the host reads: docs/reference/protocol.md, meter.h. */
#include "meter.h"

#include "../drivers/board.h"
#include "../drivers/clock.h"
#include "../drivers/sampler.h"

extern struct ws_meter_status ws_meter_status;

struct ws_meter_status ws_meter_status;

static ws_metering_sums sums;

void ws_metering_sample(uint16_t voltage, uint16_t current)
{
    ws_metering_add(&sums, voltage, current);
}

int main(void)
{
    static ws_meter meter;

    ws_board_start();
    ws_clock_start();
    ws_metering_begin(&sums);
    if (ws_meter_start(&meter, &sums, &ws_meter_status) != 0) {
        ws_clock_stop();
    }
    ws_sampler_start();
    for (;;) {
        ws_meter_turn(&meter);
    }
}
