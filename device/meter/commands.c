#include "commands.h"

#include "update.h"

#include "../crypto/compiler.h"
#include "../crypto/crc32.h"
#include "../drivers/provision.h"

#include <stddef.h>

/* Offsets in what is provisioned: docs/reference/protocol.md, "Provisioning". */
#define FORMAT 0
#define METER 2
#define INTERVAL 8
#define SUITE 10
#define CALIBRATION 12

/* Voltage, current and phase stand one behind the other in settings, in commands and in what is provisioned; so does what is in
 * the meter's address. */
#define CALIBRATION_BYTES 10

/* Of the status: what an image says of itself is where there is a bootloader. */
#if WS_HAS_UPDATES
#define LAST_PAGE (ws_update_possible() ? 2 : 1)
#else
#define LAST_PAGE 1
#endif

#define CALIBRATION_OF(settings) ((uint8_t *)(settings) + offsetof(ws_settings, voltage))
#define ADDRESS_OF(settings) ((uint8_t *)(settings) + offsetof(ws_settings, address))

uint8_t ws_command_possible(const ws_settings *settings)
{
    const ws_message_address *address = &settings->address;

    return ws_message_bytes(WS_KIND_REPORT, settings->suite) != 0 && (settings->interval[0] | settings->interval[1]) != 0 &&
           (address->meter[0] | address->meter[1]) != 0 && address->own != 0 && address->collector != 0;
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
    ws_provision_read(METER, ADDRESS_OF(settings), sizeof(ws_message_address));
    ws_provision_read(CALIBRATION, CALIBRATION_OF(settings), CALIBRATION_BYTES);
    return ws_message_read_16(format) == 1 && ws_command_possible(settings) ? 0 : -1;
}

int ws_command_calibrate(const ws_settings *settings, ws_metering *metering)
{
    return ws_metering_calibrate(metering, ws_message_read_32(settings->voltage), ws_message_read_32(settings->current),
                                 (int16_t)ws_message_read_16(settings->phase));
}

/* What tells a command from others with its m. */
static WS_NOINLINE uint16_t check_of(const uint8_t plain[WS_PLAINTEXT_BYTES])
{
    return (uint16_t)~ws_crc32(WS_CRC32_BEGIN, plain, WS_PLAINTEXT_BYTES);
}

uint8_t ws_command_order(const ws_settings *settings, const uint8_t plain[WS_PLAINTEXT_BYTES])
{
    const uint32_t m = ws_message_read_32(plain);
    const uint32_t last = ws_message_read_32(settings->m);

    if (m > last) {
        return WS_COMMAND_NEW;
    }
    return m == last && check_of(plain) == ws_message_read_16(settings->command_check) ? WS_COMMAND_REPEATED
                                                                                             : WS_COMMAND_STALE;
}

uint8_t ws_command_carry_out(const uint8_t plain[WS_PLAINTEXT_BYTES], ws_settings *settings, ws_metering *metering)
{
    const uint8_t *arguments = plain + WS_COMMAND_ARGUMENTS;
    ws_settings changed = *settings;
    uint8_t result = WS_RESULT_DONE;

    switch (plain[WS_COMMAND_CODE]) {
    case WS_COMMAND_CONFIGURE:
        ws_message_copy(changed.interval, arguments, 2);
        changed.suite = arguments[2];
        break;
    case WS_COMMAND_CALIBRATE:
        ws_message_copy(CALIBRATION_OF(&changed), arguments, CALIBRATION_BYTES);
        if (ws_command_calibrate(&changed, metering) != 0) {
            result = WS_RESULT_RANGE;
        }
        break;
    case WS_COMMAND_REGISTER:
        ws_message_copy(ADDRESS_OF(&changed), arguments, sizeof(ws_message_address));
        break;
    case WS_COMMAND_READ_STATUS:
        if (arguments[0] > LAST_PAGE) {
            result = WS_RESULT_RANGE;
        }
        break;
    case WS_COMMAND_SET_TIME:
    case WS_COMMAND_REBOOT:
        break;
    case WS_COMMAND_RENEW_KEY:
        if (!WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)) {
            result = WS_RESULT_UNKNOWN;
        } else if (settings->suite != WS_SUITE_AES256_GCM_REKEYED) {
            result = WS_RESULT_RANGE;
        }
        break;
#if WS_HAS_UPDATES
    case WS_COMMAND_UPDATE:
        if (!ws_update_possible()) {
            result = WS_RESULT_UNKNOWN;
        } else if (!ws_message_has_pieces(settings->suite)) {
            result = WS_RESULT_RANGE;
        } else {
            result = ws_update_look(arguments);
            if (result != 0) {
                result = (uint8_t)(WS_RESULT_IMAGE + result);
            }
        }
        break;
#endif
    default:
        result = WS_RESULT_UNKNOWN;
    }
    if (result == WS_RESULT_DONE && !ws_command_possible(&changed)) {
        result = WS_RESULT_RANGE;
    }
    if (result == WS_RESULT_DONE) {
        *settings = changed;
    }
    ws_message_copy(settings->m, plain, 4);
    settings->result = result;
    ws_message_write_16(settings->command_check, check_of(plain));
    return result;
}
