/* The meter as others read it: it measures as meter/meter.h does, and sends telegrams of wireless
 * M-Bus (crypto/oms_telegram.h). It hears nothing: what it is told stands in what is provisioned.
 *
 * One loop: a telegram that is due has a number (meter/numbers.h), which with one key never comes
 * twice; its register is kept (register.h); it is sealed and sent once. One that is lost is
 * lost, and the next has the register. After a start numbers go on so that access numbers do,
 * one by one.
 *
 * Provisioned, 176 bytes, numbers big-endian; bytes that are not named are 0:
 *    0   2  format: 2. The meter's own protocol has 1 (docs/reference/protocol.md), and neither
 *           firmware takes the other's
 *    6   1  radio channel, and
 *    7   1  power, as the radio has them
 *    8   2  interval in s
 *   10   1  security profile, by its mode: 5, 7 or 10
 *   11   1  frame format: 0 is A, 1 is B
 *   12  10  calibration, as there
 *   22   8  M and A fields, as they are sent
 *   32  16  key
 * The EEPROM has numbers as there, and behind byte 256 the register; all else in it is unused.
 *
 * For the host: ws_oms_status, in RAM, little-endian, all 0 after a reset:
 *    0   4  n of the last telegram
 *    4   4  energy, in 0.1 Wh
 *    8   4  telegrams sent since the start, around at 2^32
 *   12   2  mean power of the last telegram, in W
 *   14   2  starts, as numbers.h has them
 *   16   2  faults of the radio: it did not start, or did not answer
 *   18   1  security profile; 0 of a meter that is not provisioned
 *   19   1  what is wrong: WS_OMS_NO_... below, joined */
#ifndef WS_OMS_OMS_H
#define WS_OMS_OMS_H

#include "register.h"
#include "../crypto/oms_telegram.h"

#include "../meter/metering.h"
#include "../meter/numbers.h"

#include <stdint.h>

/* Nothing is sent: no number is left, or the memory does not keep one; it does not keep the
 * register. Nothing is measured, which the status byte says: no calibration. */
#define WS_OMS_NO_NUMBERS 1
#define WS_OMS_NO_REGISTER 2
#define WS_OMS_NO_CALIBRATION 4

struct ws_oms_status {
    uint32_t number;
    uint32_t energy;
    uint32_t sent;
    int16_t power;
    uint16_t starts;
    uint16_t radio_faults;
    uint8_t profile;
    uint8_t faults;
};

/* The members are the implementation's. */
typedef struct {
    struct ws_oms_status *status;
    const volatile ws_metering_sums *sums;
    /* The second when the next telegram is due. */
    uint32_t due_s;
    uint16_t interval;
    uint8_t format;
    uint8_t radio_ready;
    uint8_t address[WS_OMS_ADDRESS];
    ws_numbers numbers;
    ws_register kept;
    ws_metering metering;
} ws_oms;

/* Starts the meter: the board and the clock are started, and the sampler is not.
 *
 * in:     sums: begun (meter/metering.h). in/out: meter, status: all 0; they and sums stay where
 * they are. Returns 0; -1 where the part is not provisioned, or with what is out of range, for
 * the caller to sleep for ever. */
int ws_oms_start(ws_oms *meter, const volatile ws_metering_sums *sums, struct ws_oms_status *status);

/* One turn of the loop, up to a second. in/out: meter, started. */
void ws_oms_turn(ws_oms *meter);

#endif
