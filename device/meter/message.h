/* Messages of the meter's protocol (docs/reference/protocol.md): how they are sealed and opened.
 *
 * Keys come from provision.h as they are needed, and are wiped from the frames; that of suite 6 is the caller's. Times depend on no secret; whether a message
 * was accepted shows. Stack: with ECIES and ECDSA 120 bytes beside the frames and what crypto/ecies_ecdsa.h needs. With Ascon the
 * round keys of AES, 176 bytes, come and go before its state.
 *
 * For whoever measures: ws_message_prepare is all from raw data to a message that is ready to be cut into packets, and
 * ws_message_unpack all from a message to its plaintext. */
#ifndef WS_METER_MESSAGE_H
#define WS_METER_MESSAGE_H

#include "../crypto/compiler.h"
#include "../crypto/drbg.h"

#include <stdint.h>

#define WS_KIND_REPORT 0
#define WS_KIND_ANSWER 1
#define WS_KIND_ACKNOWLEDGEMENT 2
#define WS_KIND_COMMAND 3

#define WS_SUITE_NONE 0
#define WS_SUITE_AES128_GCM 1
#define WS_SUITE_AES256_GCM 2
#define WS_SUITE_ECIES 3
#define WS_SUITE_ECIES_ECDSA 4
#define WS_SUITE_ASCON_AEAD128 5
#define WS_SUITE_AES256_GCM_REKEYED 6

/* The suites that this build has, a bit of each by its number: all of them, where device/Makefile's SUITES says nothing else. Every
 * build has aes128-gcm, which answers are sealed with that are of no other AEAD. What is of another suite is refused as if there were
 * none of its number. */
#ifndef WS_METER_SUITES
#define WS_METER_SUITES 0x7f
#endif
#define WS_HAS_SUITE(suite) (((WS_METER_SUITES) >> (suite) & 1) != 0)

/* Whether this build takes images of its firmware (update.h): one for a slot of the bootloader does. */
#ifdef WS_SLOT
#define WS_HAS_UPDATES 1
#else
#define WS_HAS_UPDATES 0
#endif

#define WS_PLAINTEXT_BYTES 16
#define WS_MESSAGE_MAX 144

/* Where a meter is, as it was registered last: the protocol's *address*, byte by byte. */
typedef struct {
    /* The meter's name. */
    uint8_t meter[2];
    /* Radio addresses: the meter's own, the collector's. */
    uint8_t own;
    uint8_t collector;
} ws_message_address;

/* What a message is, beside its contents and its meter: that is the one that was provisioned. */
typedef struct {
    uint8_t kind;
    uint8_t suite;
    /* n of reports, answers and acknowledgements, m of commands. */
    uint32_t number;
    /* The meter's; looked at for answers alone. */
    const ws_message_address *address;
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    /* Of suite 6: 32 bytes, of an epoch (epoch_key.h); looked at for that suite alone. */
    const uint8_t *key;
#endif
} ws_message_header;

/* Bytes of a message: 4, 16, 20, 36, 112 or 144; 0 for a kind that there is not, or a suite that this build does not have. */
uint8_t ws_message_bytes(uint8_t kind, uint8_t suite);

/* Whether reports and commands of a suite that this build has are sealed with a curve, reports with random numbers. */
WS_INLINE uint8_t ws_message_has_curve(uint8_t suite)
{
    return (WS_HAS_SUITE(WS_SUITE_ECIES) && suite == WS_SUITE_ECIES) ||
           (WS_HAS_SUITE(WS_SUITE_ECIES_ECDSA) && suite == WS_SUITE_ECIES_ECDSA);
}

/* Seals a report or an answer.
 *
 * in:     header: kind, suite and number as they go out; the number is in plain's bytes 0 to 3, too, of a report alone.
 *         plain: outside message.
 * in/out: random: seeded, for suites 3 and 4 and a report; untouched otherwise, and may be a null pointer.
 * out:    message: ws_message_bytes of them.
 * Returns that length; 0, and nothing that could be sent in message, where header names no such message, random refuses, or
 * the collector's public key is none. */
uint8_t ws_message_prepare(const ws_message_header *header, ws_drbg *random, const uint8_t plain[WS_PLAINTEXT_BYTES], uint8_t *message);

/* Opens a command.
 *
 * in:     header: kind WS_KIND_COMMAND, suite. message: ws_message_bytes of any bytes.
 * out:    header: number: m. plain: outside message. Where it is refused, both are untouched, or plain is zero.
 * Returns 0, or -1 where the message is not the collector's. With suite 0 all are taken for its. */
int ws_message_unpack(ws_message_header *header, const uint8_t *message, uint8_t plain[WS_PLAINTEXT_BYTES]);

/* Whether message, ws_message_bytes of any bytes, acknowledges the report of this header: 0, or -1. */
int ws_message_acknowledges(const ws_message_header *report, const uint8_t *message);

#if WS_HAS_UPDATES
/* Bytes of an image in a piece; the first number that is no index of one. */
#define WS_PIECE_DATA 36
#define WS_PIECE_INDICES 0xf000

/* Whether a suite seals pieces of an image: those with a key for all messages. */
uint8_t ws_message_has_pieces(uint8_t suite);

/* Opens a piece of an image: docs/reference/protocol.md, "Firmware by radio".
 *
 * in: header: suite, with pieces; number: m; key. index: below WS_PIECE_INDICES. in/out: message: 4 bytes, which are written over, ciphertext, tag.
 * out: data. Returns 0, or -1 where the piece is not the collector's. */
int ws_message_open_piece(const ws_message_header *header, uint16_t index, uint8_t *message, uint8_t data[WS_PIECE_DATA]);

/* Makes the tag of a reply that says this state, up to 0xfcff. in: header as above. out: message: 4 bytes, tag. */
void ws_message_seal_reply(const ws_message_header *header, uint16_t state, uint8_t *message);
#endif

/* Copies len bytes. in, out: they do not overlap. */
void ws_message_copy(uint8_t *out, const uint8_t *in, uint8_t len);

/* Numbers in messages: big-endian. */
uint16_t ws_message_read_16(const uint8_t *in);
uint32_t ws_message_read_32(const uint8_t *in);
void ws_message_write_16(uint8_t *out, uint16_t value);
void ws_message_write_32(uint8_t *out, uint32_t value);

#endif
