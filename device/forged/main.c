/* A program for campaigns of faults: the meter opens commands that are forged. An attacker who
 * knows what a recorded command says has changed a bit of it; the tag is the recorded one's.
 * `wattseal fault forged.elf --function ws_open_gcm --good reach:ws_rejected
 * --bad reach:ws_accepted`, and ws_open_ascon. */
#include "forged.h"

#include "../crypto/aes.h"
#include "../crypto/ascon_aead128.h"
#include "../crypto/gcm.h"
#include "../crypto/secret.h"

/* In a plaintext: where the number ends with its last byte, and the code with the changed bit. */
#define NUMBER 3
#define CODE 4
#define BIT 1

/* Offset of the key of 128 bits in the provisioned data. */
#define KEY 32
#define MESSAGE (4 + WS_PLAINTEXT_BYTES + 16)

void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len);
WS_NOINLINE void ws_accepted(void);
WS_NOINLINE void ws_rejected(void);
WS_NOINLINE void ws_open_gcm(const uint8_t *message);
WS_NOINLINE void ws_open_ascon(const uint8_t *message);

static volatile uint8_t ended;

/* Gives each byte of the provisioned data its offset for its value. */
void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len)
{
    while (len-- != 0) {
        *out++ = at++;
    }
}

void ws_rejected(void)
{
    for (;;) {
        ended = 2;
    }
}

/* The key of Ascon, as meter/message.c derives it. */
static void derive_ascon_key(uint8_t key[16])
{
    static const uint8_t label[] = "WattSeal suite 5";
    union {
        uint8_t bytes[WS_AES128_ROUND_KEYS];
        uint32_t align;
    } round_keys;

    ws_aes128_expand(round_keys.bytes, key);
    ws_aes128_encrypt(round_keys.bytes, label, key);
}

/* Seals a command of number 5 and code 0, and changes a bit of its code. */
static WS_NOINLINE void forge(uint8_t suite, uint8_t message[MESSAGE])
{
    uint8_t plain[WS_PLAINTEXT_BYTES];
    uint8_t nonce[16];
    uint8_t key[16];
    uint8_t i;

    for (i = 0; i < 16; i++) {
        plain[i] = 0;
        nonce[i] = 0;
    }
    plain[NUMBER] = 5;
    nonce[0] = WS_KIND_COMMAND;
    nonce[1] = suite;
    ws_provision_read(2, nonce + 2, 2);
    nonce[11] = 5;
    for (i = 0; i < 4; i++) {
        message[i] = plain[i];
    }
    ws_provision_read(KEY, key, 16);
    if (suite == WS_SUITE_AES128_GCM) {
        (void)ws_aes_gcm_seal(key, 4, nonce, 0, 0, plain, sizeof plain, message + 4, message + 20);
    } else {
        derive_ascon_key(key);
        ws_ascon_aead128_seal(key, nonce, 0, 0, plain, sizeof plain, message + 4, message + 20);
    }
    message[4 + CODE] ^= BIT;
}

/* A command is carried out where it is said to be authentic, and is what the attacker wants. */
static WS_NOINLINE void carry_out(uint8_t suite, const uint8_t *message)
{
    uint8_t plain[WS_PLAINTEXT_BYTES];
    ws_message_header header;
    uint8_t i;

    for (i = 0; i < sizeof plain; i++) {
        plain[i] = 0;
    }
    header.kind = WS_KIND_COMMAND;
    header.suite = suite;
    if (ws_message_unpack(&header, message, plain) == 0 && plain[NUMBER] == 5 && plain[CODE] == BIT) {
        ws_accepted();
    }
}

void ws_open_gcm(const uint8_t *message)
{
    carry_out(WS_SUITE_AES128_GCM, message);
}

void ws_open_ascon(const uint8_t *message)
{
    carry_out(WS_SUITE_ASCON_AEAD128, message);
}

int main(void)
{
    uint8_t gcm[MESSAGE];
    uint8_t ascon[MESSAGE];

    forge(WS_SUITE_AES128_GCM, gcm);
    forge(WS_SUITE_ASCON_AEAD128, ascon);
    ws_open_gcm(gcm);
    ws_open_ascon(ascon);
    ws_rejected();
    return 0;
}

/* Behind all others: none that returns falls into it where its return is skipped. */
void ws_accepted(void)
{
    for (;;) {
        ended = 1;
    }
}
