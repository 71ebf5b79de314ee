#include "oms_telegram.h"

#include "aes.h"
#include "aes_ccm.h"
#include "aes_cmac.h"
#include "compiler.h"
#include "oms_kdf.h"
#include "secret.h"

#include <stddef.h>

/* L, C, M and A fields, of which L counts all but itself. */
#define BODY 10
/* The identification number in M and A fields. */
#define IDENTIFICATION 2
/* OMS volume 2, Table 15: a meter sends, and wants no reply. */
#define SND_NR 0x44

/* The extended link layer: CI, communication control, access number. Annex N has it in front of
 * profile B, and not of A. */
#define CI_LINK 0x8c

/* The authentication layer (OMS volume 2, section 6): CI, length, control, then MCL, MCR and
 * MAC. */
#define CI_AUTHENTICATION 0x90
#define AUTHENTICATION_LENGTH 15
#define AUTHENTICATION_CONTROL 0x2c
/* With a message counter, and AES-CMAC of 8 bytes (EN 13757-7, Table 6; not compared). */
#define AUTHENTICATION_MESSAGE 0x25
/* MCL and MCR. */
#define AUTHENTICATION_FIELDS 5
#define MAC 8

/* A short header with records: CI, access number, status, configuration and its extension. */
#define CI_RECORDS 0x7a
/* One block is encrypted. */
#define ONE_BLOCK 0x10
/* All bytes are encrypted; the counter follows the extension. */
#define ALL_BYTES 0xff
#define HAS_COUNTER 0x20
/* The key is derived from the meter's (OMS volume 2, section 9.3); a MAC of 8 bytes (Table 23). */
#define DERIVED 0x10
#define MAC_OF_8 1
/* Bytes of mode 10 that are authenticated: all before the counter. */
#define ASSOCIATED 7
#define NONCE 13

/* The uses of a derived key (OMS volume 2, Table 46). */
#define ENCRYPTION 0
#define AUTHENTICATION 1

/* In front of a plaintext of AES-CBC. */
#define CHECK 0x2f
#define RECORDS 14

uint8_t ws_oms_has_profile(uint8_t profile)
{
    return profile == WS_OMS_PROFILE_A || profile == WS_OMS_PROFILE_B || profile == WS_OMS_PROFILE_D;
}

/* Writes the lowest len bytes of a number, the lowest first. Returns what is behind them. */
static WS_NOINLINE uint8_t *put(uint8_t *out, uint32_t value, uint8_t len)
{
    for (; len != 0; len--) {
        *out++ = (uint8_t)value;
        value >>= 8;
    }
    return out;
}

/* Copies len bytes, the first one first. */
static WS_NOINLINE void copy(uint8_t *to, const uint8_t *from, uint8_t len)
{
    for (; len != 0; len--) {
        *to++ = *from++;
    }
}

/* Writes the records. */
static void put_records(uint8_t *out, const ws_oms_reading *reading)
{
    out = put(out, 0x0204, 2);
    out = put(out, reading->energy & 0x7fffffff, 4);
    out = put(out, 0x2b02, 2);
    out = put(out, (uint16_t)reading->power, 2);
    out = put(out, 0x2202, 2);
    put(out, reading->hours, 2);
}

/* The needs of sealing, in a frame that is wiped: the message's key; the counter, lowest byte
 * first; a nonce, or a code. */
typedef struct {
    uint8_t key[16];
    uint8_t counter[4];
    uint8_t block[16];
} secrets;

/* Encrypts a block in place: AES-CBC with a vector of zeros, or one that was added to it. */
static WS_NOINLINE void encrypt_block(const uint8_t key[16], uint8_t block[16])
{
    union {
        uint8_t bytes[WS_AES128_ROUND_KEYS];
        uint32_t align;
    } round_keys;

    ws_aes128_expand(round_keys.bytes, key);
    ws_aes128_encrypt(round_keys.bytes, block, block);
    ws_wipe(&round_keys, sizeof round_keys);
}

/* Adds the vector of mode 5 to a block: address, and the access number in all bytes behind it (OMS
 * volume 2, section 9, profile A). */
static void add_vector(const uint8_t *address, uint8_t access_number, uint8_t block[16])
{
    uint8_t i;

    for (i = 0; i < WS_OMS_ADDRESS; i++) {
        block[i] ^= address[i];
        block[i + WS_OMS_ADDRESS] ^= access_number;
    }
}

/* Writes MCL, MCR and MAC of mode 7 in front of a message of len bytes, sealed already (OMS
 * volume 2, section 6). */
static void authenticate(const uint8_t *address, const uint8_t *key, secrets *s, uint8_t *message, uint8_t len)
{
    uint8_t *fields = message - AUTHENTICATION_FIELDS;

    /* Its input lies together before the MAC has its place between. */
    fields[0] = AUTHENTICATION_MESSAGE;
    copy(fields + 1, s->counter, 4);
    ws_oms_kdf(key, AUTHENTICATION, s->counter, address + IDENTIFICATION, s->key);
    ws_aes_cmac(s->key, 4, fields, (size_t)AUTHENTICATION_FIELDS + len, s->block);
    copy(fields - MAC, fields, AUTHENTICATION_FIELDS);
    copy(message - MAC, s->block, MAC);
}

/* Seals the records behind a header of mode 10, and writes their MAC behind them: the nonce is
 * address, zero and counter, the highest byte first. */
static void seal_ccm(const uint8_t *address, secrets *s, uint8_t *message, uint8_t *records)
{
    uint8_t *nonce = s->block;
    uint8_t i;

    copy(nonce, address, WS_OMS_ADDRESS);
    nonce[WS_OMS_ADDRESS] = 0;
    for (i = 0; i < 4; i++) {
        nonce[NONCE - 1 - i] = s->counter[i];
    }
    ws_aes_ccm_seal(s->key, 4, nonce, NONCE, message, ASSOCIATED, records, RECORDS, records, records + RECORDS, MAC);
}

/* The CRC of the link layer, of len bytes, behind them: polynomial 3D65h, started at zero,
 * inverted (EN 13757-4; not compared).
 *
 * The remainder of top * x^16 is quotient * 3D65h without its bits from 16 on. The quotient is top
 * and what such products carry into these bits: once by the terms x^13 to x^10, and once more. Its
 * time depends on no byte. */
static WS_NOINLINE void put_crc(uint8_t *bytes, uint8_t len)
{
    uint16_t crc = 0;

    for (; len != 0; len--) {
        uint8_t quotient = (uint8_t)(crc >> 8 ^ *bytes++);
        uint8_t carried = (uint8_t)(quotient ^ quotient >> 1);
        uint16_t twice;

        carried = (uint8_t)((carried ^ carried >> 2) >> 3);
        quotient = (uint8_t)(quotient ^ carried ^ carried >> 3 ^ carried >> 4);
        twice = (uint16_t)(quotient ^ quotient << 1);
        crc = (uint16_t)((uint16_t)(crc ^ quotient ^ (uint16_t)(twice ^ twice << 2) << 2) << 8);
        crc = (uint16_t)(crc ^ quotient ^ quotient << 2 ^ twice << 5);
    }
    bytes[0] = (uint8_t)(~crc >> 8);
    bytes[1] = (uint8_t)~crc;
}

/* Puts the CRCs of a format into a frame of len bytes, and its L field. Returns its length. */
static uint8_t put_crcs(uint8_t format, uint8_t *frame, uint8_t len)
{
    uint8_t block = len;
    uint8_t at = 0;

    /* L counts the CRCs of format B, which has one block of up to 126 bytes. */
    frame[0] = (uint8_t)(len - 1 + 2 * format);
    if (format == WS_OMS_FORMAT_A) {
        block = BODY;
    }
    for (;;) {
        uint8_t *end = frame + at + block;
        uint8_t i;

        for (i = (uint8_t)(len - at - block); i != 0; i--) {
            end[i + 1] = end[i - 1];
        }
        put_crc(frame + at, block);
        at = (uint8_t)(at + block + 2);
        len = (uint8_t)(len + 2);
        if (at == len) {
            return len;
        }
        block = len - at < 16 ? (uint8_t)(len - at) : 16;
    }
}

uint8_t ws_oms_telegram(uint8_t profile, uint8_t format, const uint8_t address[WS_OMS_ADDRESS],
                        const uint8_t key[16], const ws_oms_reading *reading, uint8_t *frame)
{
    secrets s;
    uint8_t *out = frame + 1;
    uint8_t *message;

    put(s.counter, reading->counter, 4);
    *out++ = SND_NR;
    copy(out, address, WS_OMS_ADDRESS);
    out += WS_OMS_ADDRESS;
    if (profile != WS_OMS_PROFILE_A) {
        out = put(out, CI_LINK, 2);
        *out++ = s.counter[0];
        ws_oms_kdf(key, ENCRYPTION, s.counter, address + IDENTIFICATION, s.key);
    }
    if (profile == WS_OMS_PROFILE_B) {
        out = put(out, (uint32_t)AUTHENTICATION_CONTROL << 24 | AUTHENTICATION_LENGTH << 8 | CI_AUTHENTICATION, 4);
        out += AUTHENTICATION_FIELDS + MAC;
    }
    message = out;
    *out++ = CI_RECORDS;
    *out++ = s.counter[0];
    *out++ = reading->status;
    if (profile == WS_OMS_PROFILE_D) {
        out = put(out, (uint32_t)MAC_OF_8 << 24 | (uint32_t)DERIVED << 16 | (HAS_COUNTER | WS_OMS_PROFILE_D) << 8 | ALL_BYTES, 4);
        copy(out, s.counter, 4);
        out += 4;
        put_records(out, reading);
        seal_ccm(address, &s, message, out);
        out += RECORDS + MAC;
    } else {
        out = put(out, (uint32_t)DERIVED << 16 | (uint32_t)profile << 8 | ONE_BLOCK, profile == WS_OMS_PROFILE_B ? 3 : 2);
        *out++ = CHECK;
        *out++ = CHECK;
        put_records(out, reading);
        out += RECORDS;
        if (profile == WS_OMS_PROFILE_B) {
            encrypt_block(s.key, out - 16);
            authenticate(address, key, &s, message, (uint8_t)(out - message));
        } else {
            add_vector(address, s.counter[0], out - 16);
            encrypt_block(key, out - 16);
        }
    }
    ws_wipe(&s, sizeof s);
    return put_crcs(format, frame, (uint8_t)(out - frame));
}
