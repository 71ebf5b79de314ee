/* Times work by the part's own counter, and says so by its UART, for ever: what
 * `wattseal verify-board` compares with the model.
 *
 *   ws-begin                  a round
 *   ws-row aes128-encrypt 812 a row of it: its name, its cycles
 *   ws-end 8                  rows that there were */
#include "../crypto/aes.h"
#include "../crypto/ascon_hash.h"
#include "../crypto/chacha20.h"
#include "../crypto/compiler.h"
#include "../crypto/sha256.h"
#include "port.h"

#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint8_t round_keys[WS_AES128_ROUND_KEYS] WS_ALIGNED;
static uint8_t key[32] WS_ALIGNED;
static uint8_t block[64] WS_ALIGNED;
static uint8_t other[64] WS_ALIGNED;
static uint32_t state[8];
static volatile uint32_t number = 0x12345678;

static void do_nothing(void)
{
    WS_BARRIER();
}

static void copy_64(void)
{
    uint8_t i;

    for (i = 0; i < sizeof other; i++) {
        other[i] = block[i];
        WS_BARRIER();
    }
}

static void multiply_32(void)
{
    uint32_t product = number;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        product = product * number + i;
    }
    number = product | 1;
}

static void expand_aes128(void)
{
    ws_aes_expand(round_keys, key, 4);
}

static void encrypt_aes128(void)
{
    ws_aes_encrypt(round_keys, 10, block, other);
}

static void hash_sha256(void)
{
    ws_sha256_blocks(state, block, 1);
}

static void hash_ascon(void)
{
    ws_ascon_hash256(block, 8, other);
}

static void encrypt_chacha20(void)
{
    ws_chacha20(key, block, 1, block, other, sizeof other);
}

static const struct row {
    const char *name;
    void (*run)(void);
} rows[] = {
    {"nothing", do_nothing},
    {"copy-64", copy_64},
    {"multiply-32", multiply_32},
    {"aes128-expand", expand_aes128},
    {"aes128-encrypt", encrypt_aes128},
    {"sha256-block", hash_sha256},
    {"ascon-hash256-8", hash_ascon},
    {"chacha20-64", encrypt_chacha20},
};

static void say(const char *text)
{
    while (*text != 0) {
        ws_verify_send((uint8_t)*text++);
    }
}

/* In decimal; without a division, which is a routine of its own on small parts. */
static void say_number(uint32_t left)
{
    static const uint32_t powers[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    uint8_t begun = 0;
    uint8_t i;

    for (i = 0; i < COUNT(powers); i++) {
        uint8_t digit = 0;

        while (left >= powers[i]) {
            left -= powers[i];
            digit++;
        }
        begun |= digit;
        if (begun != 0 || powers[i] == 1) {
            ws_verify_send((uint8_t)('0' + digit));
        }
    }
}

int main(void)
{
    uint8_t i;

    ws_verify_start();
    for (;;) {
        say("ws-begin\n");
        for (i = 0; i < COUNT(rows); i++) {
            uint32_t cycles;

            say("ws-row ");
            say(rows[i].name);
            say(" ");
            ws_verify_flush();
            ws_verify_begin();
            rows[i].run();
            cycles = ws_verify_end();
            say_number(cycles);
            say("\n");
        }
        say("ws-end ");
        say_number(COUNT(rows));
        say("\n");
    }
}
