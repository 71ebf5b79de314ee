#include "message.h"

#include "../crypto/aes.h"
#include "../crypto/ascon_aead128.h"
#include "../crypto/ecies.h"
#include "../crypto/ecies_ecdsa.h"
#include "../crypto/gcm.h"
#include "../crypto/secret.h"
#include "../drivers/provision.h"

/* Offsets in what is provisioned: docs/reference/protocol.md, "Provisioning". */
#define METER 2
#define OWN_PUBLIC_KEY 22
#define KEY_128 32
#define KEY_256 48
#define PRIVATE_KEY 80
#define COLLECTOR_KEY 112

/* A context: where the two keys are named in it, by so many of their bytes, and how long it is. */
#define SENDER 8
#define RECIPIENT 16
#define KEY_NAME 8
#define CONTEXT 24
#define NONCE 12
/* Ascon's nonce is that of AES-GCM, and zeros. */
#define ASCON_NONCE 16
#define TAG 16

/* For who provisions: the suites of this build, as the value of a symbol, which takes no memory. */
#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
__asm__(".global ws_meter_suites\n.set ws_meter_suites, " TEXT(WS_METER_SUITES));

typedef char ws_message_has_aes128_gcm[WS_HAS_SUITE(WS_SUITE_AES128_GCM) ? 1 : -1];

#include "bytes.inc"

uint8_t ws_message_bytes(uint8_t kind, uint8_t suite)
{
    /* Any byte: beyond the suites there is no bit to be shifted to. */
    if (kind > WS_KIND_COMMAND || suite > WS_SUITE_AES256_GCM_REKEYED || !WS_HAS_SUITE(suite)) {
        return 0;
    }
    if (kind == WS_KIND_ACKNOWLEDGEMENT) {
        return suite == WS_SUITE_NONE ? 4 : 4 + TAG;
    }
    if (suite == WS_SUITE_NONE) {
        return WS_PLAINTEXT_BYTES;
    }
    if (!ws_message_has_curve(suite) || kind == WS_KIND_ANSWER) {
        return 4 + WS_PLAINTEXT_BYTES + TAG;
    }
    return suite == WS_SUITE_ECIES ? WS_PLAINTEXT_BYTES + WS_ECIES_OVERHEAD : WS_PLAINTEXT_BYTES + WS_ECIES_ECDSA_OVERHEAD;
}

/* What an AEAD needs, in a frame that is wiped. */
typedef struct {
    uint8_t key[32];
    uint8_t nonce[WS_HAS_SUITE(WS_SUITE_ASCON_AEAD128) ? ASCON_NONCE : NONCE];
} aead_secrets;

/* Beside the kinds of messages: a command's nonce, but for what is where an answer's has the address. */
#define KIND_PIECE (0x80 | WS_KIND_COMMAND)
/* What pieces and replies have there is above what renewals have. */
#define PIECES_FROM 0x0200

/* Kind, suite, meter as provisioned: what a nonce begins with, and a context has behind its name. */
static void write_origin(const ws_message_header *header, uint8_t out[4])
{
    out[0] = WS_HAS_UPDATES ? header->kind & WS_KIND_COMMAND : header->kind;
    out[1] = header->suite;
    ws_provision_read(METER, out + 2, 2);
}

/* Ascon's key: the block of AES under key128 that this text encrypts to. It is no block of AES-GCM's, which begin with a kind, below
 * 4, or are zero: docs/reference/protocol.md, "How it is sealed". */
static WS_NOINLINE void derive_ascon_key(uint8_t key[16])
{
    static const uint8_t label[16] = {'W', 'a', 't', 't', 'S', 'e', 'a', 'l', ' ', 's', 'u', 'i', 't', 'e', ' ', '5'};
    union {
        uint8_t bytes[WS_AES128_ROUND_KEYS];
        uint32_t align;
    } round_keys;

    ws_provision_read(KEY_128, key, 16);
    ws_aes128_expand(round_keys.bytes, key);
    ws_aes128_encrypt(round_keys.bytes, label, key);
    ws_wipe(&round_keys, sizeof round_keys);
}

/* Seals (in, len bytes, to text, its tag behind), or where in is a null pointer opens (from text to out), with the suite's AEAD.
 *
 * message: its bytes 0 to 3 are n (m), and text is behind them. Returns as ws_aes_gcm_... */
static WS_NOINLINE int aead(const ws_message_header *header, uint8_t *message, const uint8_t *in, uint8_t *out, uint8_t len)
{
    aead_secrets secrets;
    uint8_t *const text = message + 4;
    uint8_t *const tag = text + len;
    int result = 0;

    write_origin(header, secrets.nonce);
    if (header->kind == WS_KIND_ANSWER || (WS_HAS_UPDATES && header->kind == KIND_PIECE)) {
        ws_message_copy(secrets.nonce + 4, (const uint8_t *)header->address, sizeof *header->address);
    } else {
        ws_message_write_32(secrets.nonce + 4, 0);
    }
    ws_message_copy(secrets.nonce + 8, message, 4);
    if (WS_HAS_SUITE(WS_SUITE_ASCON_AEAD128) && header->suite == WS_SUITE_ASCON_AEAD128) {
        derive_ascon_key(secrets.key);
        ws_message_write_32(secrets.nonce + NONCE, 0);
        if (in != 0) {
            ws_ascon_aead128_seal(secrets.key, secrets.nonce, 0, 0, in, len, text, tag);
        } else {
            result = ws_ascon_aead128_open(secrets.key, secrets.nonce, 0, 0, text, len, tag, out);
        }
    } else {
        const uint8_t *key = secrets.key;
        uint8_t words = 8;

#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
        if (header->suite == WS_SUITE_AES256_GCM_REKEYED) {
            key = header->key;
        } else
#endif
            if (WS_HAS_SUITE(WS_SUITE_AES256_GCM) && header->suite == WS_SUITE_AES256_GCM) {
            ws_provision_read(KEY_256, secrets.key, 32);
        } else {
            ws_provision_read(KEY_128, secrets.key, 16);
            words = 4;
        }
        if (in != 0) {
            result = ws_aes_gcm_seal(key, words, secrets.nonce, 0, 0, in, len, text, tag);
        } else {
            result = ws_aes_gcm_open(key, words, secrets.nonce, 0, 0, text, len, tag, out);
        }
    }
    ws_wipe(&secrets, sizeof secrets);
    return result;
}

/* Opens a message, of 4, len and 16 bytes, with the suite's AEAD. Returns as aead, which writes to no message that it opens. */
static int open_aead(const ws_message_header *header, const uint8_t *message, uint8_t *out, uint8_t len)
{
    return aead(header, (uint8_t *)message, 0, out, len);
}

#if WS_HAS_UPDATES
uint8_t ws_message_has_pieces(uint8_t suite)
{
    return suite != WS_SUITE_NONE && !ws_message_has_curve(suite);
}

/* Seals or opens, as aead, with this where an answer's nonce has the address: no name is 0, so that it is none. */
static int seal_at(const ws_message_header *header, uint8_t kind, uint16_t at, uint8_t *message, uint8_t *out, uint8_t len)
{
    const ws_message_address address = {{0, 0}, (uint8_t)(at >> 8), (uint8_t)at};
    ws_message_header sealed = *header;

    sealed.kind = kind;
    sealed.address = &address;
    ws_message_write_32(message, sealed.number);
    return aead(&sealed, message, out != 0 ? 0 : message, out, len);
}

int ws_message_open_piece(const ws_message_header *header, uint16_t index, uint8_t *message, uint8_t data[WS_PIECE_DATA])
{
    return seal_at(header, KIND_PIECE, (uint16_t)(PIECES_FROM + index), message, data, WS_PIECE_DATA);
}

void ws_message_seal_reply(const ws_message_header *header, uint16_t state, uint8_t *message)
{
    (void)seal_at(header, WS_KIND_ANSWER, (uint16_t)(PIECES_FROM + state), message, 0, 0);
}
#endif

/* Whether any suite of this build has a curve: else nothing of it is linked. */
#define CURVES (WS_HAS_SUITE(WS_SUITE_ECIES) || WS_HAS_SUITE(WS_SUITE_ECIES_ECDSA))

/* What ECIES needs, in a frame that is wiped: the context; behind it key128, which is authenticated with it, or with ECDSA a key of
 * 32 bytes; and another key, of 64 bytes or of 32. */
#define BEHIND_AT CONTEXT
#define KEY_AT (BEHIND_AT + 32)
#define CURVE_SECRETS (KEY_AT + 64)

/* own_at: where the meter's key is named: SENDER or RECIPIENT; the collector's is at the other. */
static void write_context(const ws_message_header *header, uint8_t own_at, uint8_t context[CONTEXT])
{
    context[0] = 'W';
    context[1] = 'S';
    context[2] = 'M';
    context[3] = '2';
    write_origin(header, context + 4);
    ws_provision_read(OWN_PUBLIC_KEY, context + own_at, KEY_NAME);
    ws_provision_read(COLLECTOR_KEY, context + (SENDER + RECIPIENT - own_at), KEY_NAME);
}

/* Seals plain, to sealed, or opens message, to out; the other two are null pointers. Returns as ws_ecies_... */
static WS_NOINLINE int curve(const ws_message_header *header, ws_drbg *random, const uint8_t *plain, uint8_t *sealed,
                             const uint8_t *message, uint8_t *out)
{
    uint8_t secrets[CURVE_SECRETS];
    uint8_t *const context = secrets;
    uint8_t *const behind = secrets + BEHIND_AT;
    uint8_t *const key = secrets + KEY_AT;
    const uint8_t signs = !WS_HAS_SUITE(WS_SUITE_ECIES) ||
                          (WS_HAS_SUITE(WS_SUITE_ECIES_ECDSA) && header->suite == WS_SUITE_ECIES_ECDSA);
    int result;

    write_context(header, sealed != 0 ? SENDER : RECIPIENT, context);
    if (signs || sealed != 0) {
        ws_provision_read(COLLECTOR_KEY, key, 64);
    } else {
        ws_provision_read(PRIVATE_KEY, key, 32);
    }
    if (signs) {
        ws_provision_read(PRIVATE_KEY, behind, 32);
        if (sealed != 0) {
            result = ws_ecies_ecdsa_seal(random, key, behind, context, CONTEXT, plain, WS_PLAINTEXT_BYTES, sealed);
        } else {
            result = ws_ecies_ecdsa_open(behind, key, context, CONTEXT, message, WS_PLAINTEXT_BYTES + WS_ECIES_ECDSA_OVERHEAD, out);
        }
    } else {
        ws_provision_read(KEY_128, behind, 16);
        if (sealed != 0) {
            result = ws_ecies_seal(random, key, context, CONTEXT + 16, plain, WS_PLAINTEXT_BYTES, sealed);
        } else {
            result = ws_ecies_open(key, context, CONTEXT + 16, message, WS_PLAINTEXT_BYTES + WS_ECIES_OVERHEAD, out);
        }
    }
    ws_wipe(secrets, sizeof secrets);
    return result;
}

uint8_t ws_message_prepare(const ws_message_header *header, ws_drbg *random, const uint8_t plain[WS_PLAINTEXT_BYTES], uint8_t *message)
{
    const uint8_t bytes = ws_message_bytes(header->kind, header->suite);
    int result = 0;

    if (header->kind > WS_KIND_ANSWER || bytes == 0) {
        return 0;
    }
    if (bytes == WS_PLAINTEXT_BYTES) {
        ws_message_copy(message, plain, WS_PLAINTEXT_BYTES);
    } else if (!CURVES || bytes == 4 + WS_PLAINTEXT_BYTES + TAG) {
        ws_message_write_32(message, header->number);
        result = aead(header, message, plain, 0, WS_PLAINTEXT_BYTES);
    } else {
        result = curve(header, random, plain, message, 0, 0);
    }
    return result == 0 ? bytes : 0;
}

int ws_message_unpack(ws_message_header *header, const uint8_t *message, uint8_t plain[WS_PLAINTEXT_BYTES])
{
    const uint8_t bytes = ws_message_bytes(header->kind, header->suite);
    int result = 0;

    if (header->kind != WS_KIND_COMMAND || bytes == 0) {
        return -1;
    }
    if (bytes == WS_PLAINTEXT_BYTES) {
        ws_message_copy(plain, message, WS_PLAINTEXT_BYTES);
    } else if (!CURVES || bytes == 4 + WS_PLAINTEXT_BYTES + TAG) {
        result = open_aead(header, message, plain, WS_PLAINTEXT_BYTES);
        /* The number is authentic in both places, as part of the nonce and of the plaintext. */
        if (result == 0 && !ws_equal(message, plain, 4)) {
            ws_wipe(plain, WS_PLAINTEXT_BYTES);
            result = -1;
        }
    } else {
        result = curve(header, 0, 0, 0, message, plain);
    }
    if (result == 0) {
        header->number = ws_message_read_32(plain);
    }
    return result;
}

int ws_message_acknowledges(const ws_message_header *report, const uint8_t *message)
{
    ws_message_header header = *report;

    if (ws_message_read_32(message) != report->number) {
        return -1;
    }
    if (header.suite == WS_SUITE_NONE) {
        return 0;
    }
    header.kind = WS_KIND_ACKNOWLEDGEMENT;
    return open_aead(&header, message, 0, 0);
}
