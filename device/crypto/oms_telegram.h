/* Telegrams of wireless M-Bus that a meter sends by itself (SND-NR), sealed with a security
 * profile of OMS, for receivers such as crates/wire's wireless_mbus. OMS specification, volume
 * 2, issue 5.0.1, as docs/reference/wireless-mbus.md names it; EN 13757 is cited and not compared.
 *
 * Records of EN 13757-3: energy (04 02, in 0.1 Wh), mean power (02 2B, in W), hours since the
 * start (02 22, on time: a meter that hears nothing has no clock to set). With the two
 * check bytes of AES-CBC they are one block. The energy has 31 bits, because its record has a
 * sign.
 *
 * Keys are wiped from the frames. Times depend on no secret. Stack: beside the frames what
 * aes_ccm.h needs, or aes_cmac.h. */
#ifndef WS_OMS_TELEGRAM_H
#define WS_OMS_TELEGRAM_H

#include <stdint.h>

/* Security profiles by the modes that they have (OMS volume 2, Table 43). */
#define WS_OMS_PROFILE_A 5
#define WS_OMS_PROFILE_B 7
#define WS_OMS_PROFILE_D 10

/* Frame formats of EN 13757-4. */
#define WS_OMS_FORMAT_A 0
#define WS_OMS_FORMAT_B 1

/* Bits of the status byte (OMS volume 2, section 7.2.3). */
#define WS_OMS_PERMANENT_ERROR 0x08

/* M and A fields: maker, identification number, version, device type, as they are sent. */
#define WS_OMS_ADDRESS 8

/* The longest frame: profile B in format A. */
#define WS_OMS_FRAME_MAX 60

/* The contents of a telegram. */
typedef struct {
    /* The message counter, of which the lowest byte is the access number. With one key it never
     * comes twice. */
    uint32_t counter;
    /* In 0.1 Wh: the lower 31 bits are sent. */
    uint32_t energy;
    /* In W. */
    int16_t power;
    /* Up to 32,767. */
    uint16_t hours;
    uint8_t status;
} ws_oms_reading;

/* Returns 1 if there is a security profile of this number, else 0. */
uint8_t ws_oms_has_profile(uint8_t profile);

/* Makes a telegram.
 *
 * in:  profile: one that there is. format: 0 or 1. address: of the meter. key: the meter's.
 * reading. out: frame: WS_OMS_FRAME_MAX bytes, that overlap nothing; behind the frame anything.
 * Returns the length of the frame, with its CRCs. */
uint8_t ws_oms_telegram(uint8_t profile, uint8_t format, const uint8_t address[WS_OMS_ADDRESS],
                        const uint8_t key[16], const ws_oms_reading *reading, uint8_t *frame);

#endif
