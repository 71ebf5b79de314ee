#include "commands.h"

#include "../drivers/provision.h"

#include <stddef.h>

/* Offsets in what is provisioned: docs/protocol.md, "Provisioning". */
#define FORMAT 0
#define METER 2
#define INTERVAL 8
#define SUITE 10
#define CALIBRATION 12

/* Voltage, current and phase stand one behind the other in settings, in commands and in what is provisioned; so do the meter
 * and the addresses. */
#define CALIBRATION_BYTES 10
#define NAME_BYTES 4

#define CALIBRATION_OF(settings) ((uint8_t *)(settings) + offsetof(ws_settings, voltage))
#define NAME_OF(settings) ((uint8_t *)(settings) + offsetof(ws_settings, meter))

static void copy(uint8_t *out, const uint8_t *in, uint8_t len)
{
    uint8_t i;

    for (i = 0; i < len; i++) {
        out[i] = in[i];
    }
}

uint8_t ws_command_possible(const ws_settings *settings)
{
    return settings->suite < WS_SUITES && (settings->interval[0] | settings->interval[1]) != 0 &&
           (settings->meter[0] | settings->meter[1]) != 0 && settings->address != 0 && settings->collector != 0;
}

int ws_command_provisioned(ws_settings *settings)
{
    uint8_t format[2];
    uint8_t *bytes = (uint8_t *)settings;
    uint8_t i;

    for (i = 0; i < sizeof *settings; i++) {
        bytes[i] = 0;
    }
    ws_provision_read(FORMAT, format, 2);
    ws_provision_read(SUITE, &settings->suite, 1);
    ws_provision_read(INTERVAL, settings->interval, 2);
    ws_provision_read(METER, NAME_OF(settings), NAME_BYTES);
    ws_provision_read(CALIBRATION, CALIBRATION_OF(settings), CALIBRATION_BYTES);
    return ws_message_read_16(format) == 1 && ws_command_possible(settings) ? 0 : -1;
}

int ws_command_calibrate(const ws_settings *settings, ws_metering *metering)
{
    return ws_metering_calibrate(metering, ws_message_read_32(settings->voltage), ws_message_read_32(settings->current),
                                 (int16_t)ws_message_read_16(settings->phase));
}

uint8_t ws_command_carry_out(const uint8_t plain[WS_PLAIN], ws_settings *settings, ws_metering *metering)
{
    const uint8_t *arguments = plain + WS_COMMAND_ARGUMENTS;
    ws_settings changed = *settings;
    uint8_t result = WS_RESULT_DONE;

    switch (plain[WS_COMMAND_CODE]) {
    case WS_COMMAND_CONFIGURE:
        copy(changed.interval, arguments, 2);
        changed.suite = arguments[2];
        break;
    case WS_COMMAND_CALIBRATE:
        copy(CALIBRATION_OF(&changed), arguments, CALIBRATION_BYTES);
        if (ws_command_calibrate(&changed, metering) != 0) {
            result = WS_RESULT_RANGE;
        }
        break;
    case WS_COMMAND_REGISTER:
        copy(NAME_OF(&changed), arguments, NAME_BYTES);
        break;
    case WS_COMMAND_READ_STATUS:
        if (arguments[0] > 1) {
            result = WS_RESULT_RANGE;
        }
        break;
    case WS_COMMAND_SET_TIME:
    case WS_COMMAND_REBOOT:
        break;
    default:
        result = WS_RESULT_UNKNOWN;
    }
    if (result == WS_RESULT_DONE && !ws_command_possible(&changed)) {
        result = WS_RESULT_RANGE;
    }
    if (result == WS_RESULT_DONE) {
        *settings = changed;
    }
    copy(settings->m, plain, 4);
    settings->result = result;
    return result;
}
