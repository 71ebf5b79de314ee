/* How much memory the host gives the meter's structures. */
#include "../../../../device/meter/meter.h"

#include <stddef.h>

size_t ws_host_meter_bytes(void);
size_t ws_host_sums_bytes(void);

size_t ws_host_meter_bytes(void)
{
    return sizeof(ws_meter);
}

size_t ws_host_sums_bytes(void)
{
    return sizeof(ws_metering_sums);
}
