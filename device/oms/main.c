/* The meter that others read, as a program: oms.h. */
#include "oms.h"

#include "../drivers/board.h"
#include "../drivers/clock.h"
#include "../drivers/sampler.h"

extern struct ws_oms_status ws_oms_status;

struct ws_oms_status ws_oms_status;

static ws_metering_sums sums;

void ws_metering_sample(uint16_t voltage, uint16_t current)
{
    ws_metering_add(&sums, voltage, current);
}

int main(void)
{
    static ws_oms meter;

    ws_board_start();
    ws_clock_start();
    ws_metering_begin(&sums);
    if (ws_oms_start(&meter, &sums, &ws_oms_status) != 0) {
        ws_clock_stop();
    }
    ws_sampler_start();
    for (;;) {
        ws_oms_turn(&meter);
    }
}
