/* Commands of the meter's protocol, as the settings take them (docs/reference/protocol.md, "Command"). */
#ifndef WS_METER_COMMANDS_H
#define WS_METER_COMMANDS_H

#include "message.h"
#include "metering.h"
#include "settings.h"

#include <stdint.h>

#define WS_COMMAND_CONFIGURE 1
#define WS_COMMAND_CALIBRATE 2
#define WS_COMMAND_REGISTER 3
#define WS_COMMAND_SET_TIME 4
#define WS_COMMAND_READ_STATUS 5
#define WS_COMMAND_REBOOT 6
#define WS_COMMAND_RENEW_KEY 7
#define WS_COMMAND_UPDATE 8

#define WS_RESULT_DONE 0
#define WS_RESULT_UNKNOWN 1
#define WS_RESULT_RANGE 2
#define WS_RESULT_STALE 3
/* That, and why an image is refused: boot/image.h, boot/transfer.h, update.h. */
#define WS_RESULT_IMAGE 16

/* Where the code and the arguments of a command are in its plaintext. */
#define WS_COMMAND_CODE 4
#define WS_COMMAND_ARGUMENTS 5

/* Settings of a meter that has taken no command: from provision.h. out: settings. Returns 0; -1, and settings of no use,
 * where the part is not provisioned, or with what is out of range. */
int ws_command_provisioned(ws_settings *settings);

/* Whether settings are in range: suite, which this build has to have, interval, meter, addresses. The calibration is not looked at. */
uint8_t ws_command_possible(const ws_settings *settings);

/* Sets the calibration of the settings. Returns as ws_metering_calibrate. */
int ws_command_calibrate(const ws_settings *settings, ws_metering *metering);

/* How a command stands to the last one that the settings took: above it; the same; below it, or with its m and another one, by the
 * check.
 *
 * in: plain: of a command, any bytes. */
#define WS_COMMAND_NEW 0
#define WS_COMMAND_REPEATED 1
#define WS_COMMAND_STALE 2
uint8_t ws_command_order(const ws_settings *settings, const uint8_t plain[WS_PLAINTEXT_BYTES]);

/* Carries a command out upon settings, with its m, its result and its check, as far as it concerns them.
 *
 * in:     plain: of a command, any bytes. in/out: settings; metering: with a new calibration it begins anew. Returns the
 * result; settings but for these three, and metering, are as they were where that is not WS_RESULT_DONE. */
uint8_t ws_command_carry_out(const uint8_t plain[WS_PLAINTEXT_BYTES], ws_settings *settings, ws_metering *metering);

#endif
