/* Exposes one operation to be measured.
 *
 * The host stops at ws_bench_ready, writes the inputs into the ws_bench_* variables, and resumes: ws_bench_run executes
 * the operation once, and the program is back at ws_bench_ready. WS_BENCH_HEADER and WS_BENCH_CALL come from ops.toml;
 * without them this is the empty program that sizes are compared with. */
#include "compiler.h"

#include <stddef.h>
#include <stdint.h>

#ifdef WS_BENCH_HEADER
#include WS_BENCH_HEADER
#else
#define WS_BENCH_CALL ((void)0)
#endif

#ifdef WS_BENCH_RANDOM
/* For operations that draw random bytes; the call seeds it from its inputs. */
static ws_drbg random;
#endif

/* A quarter of the RAM, so that message and output leave half of it to the stack and the rest. Public-key operations have
 * short messages and need most of 2 kB for themselves: there, room for a sealed packet of 16 bytes, and as much for the
 * keys, which are no longer. */
#if defined(WS_ML_KEM_BENCH_H)
/* Public key and ciphertext are elsewhere: 2 kB of RAM are the stack's. */
#define WS_BENCH_KEY_CAPACITY WS_ML_KEM_512_SEED
#define WS_BENCH_CAPACITY 32
#define WS_BENCH_OUTPUT_CAPACITY 64
#define WS_BENCH_AAD_CAPACITY 4
#elif defined(WS_P256_ML_KEM_512_H)
/* A salt and a private key; an offer; a private key, or a response and what is shared. */
#define WS_BENCH_KEY_CAPACITY (32 + WS_P256_ML_KEM_512_PRIVATE_KEY)
#define WS_BENCH_CAPACITY WS_P256_ML_KEM_512_OFFER
#define WS_BENCH_OUTPUT_CAPACITY WS_P256_ML_KEM_512_PRIVATE_KEY
#define WS_BENCH_AAD_CAPACITY 16
#elif defined(WS_X25519_ML_KEM_H)
/* The same of the parameter sets that fit. */
#if WS_RAM_SIZE < 12288
#define WS_BENCH_KEY_CAPACITY (32 + WS_X25519_ML_KEM_512_PRIVATE_KEY)
#define WS_BENCH_CAPACITY WS_X25519_ML_KEM_512_OFFER
#define WS_BENCH_OUTPUT_CAPACITY WS_X25519_ML_KEM_512_PRIVATE_KEY
#else
#define WS_BENCH_KEY_CAPACITY (32 + WS_X25519_ML_KEM_768_PRIVATE_KEY)
#define WS_BENCH_CAPACITY WS_X25519_ML_KEM_768_OFFER
#define WS_BENCH_OUTPUT_CAPACITY WS_X25519_ML_KEM_768_PRIVATE_KEY
#endif
#define WS_BENCH_AAD_CAPACITY 16
#elif defined(WS_ML_KEM_H)
/* The longest key of the parameter sets that fit, ciphertext, and both keys of a pair. */
#if WS_RAM_SIZE < 12288
#define WS_BENCH_KEY_CAPACITY WS_ML_KEM_512_PRIVATE_KEY
#define WS_BENCH_CAPACITY WS_ML_KEM_512_CIPHERTEXT
#define WS_BENCH_OUTPUT_CAPACITY (WS_ML_KEM_512_PUBLIC_KEY + WS_ML_KEM_512_PRIVATE_KEY)
#else
#define WS_BENCH_KEY_CAPACITY WS_ML_KEM_768_PRIVATE_KEY
#define WS_BENCH_CAPACITY WS_ML_KEM_768_CIPHERTEXT
#define WS_BENCH_OUTPUT_CAPACITY (WS_ML_KEM_768_PUBLIC_KEY + WS_ML_KEM_768_PRIVATE_KEY)
#endif
#define WS_BENCH_AAD_CAPACITY 16
#elif defined(WS_ML_DSA_H)
/* A public key and a signature; a private key, and a signature; seeds, and both keys of a pair. Of ML-DSA-65 16 kB hold one of these and the stack, and 8 kB
 * none. */
#define WS_BENCH_CAPACITY 128
#if WS_RAM_SIZE < 16384
#define WS_BENCH_KEY_CAPACITY (WS_ML_DSA_44_PUBLIC_KEY + WS_ML_DSA_44_SIGNATURE)
#define WS_BENCH_OUTPUT_CAPACITY 32
#elif defined(WS_BENCH_ACTION_verify)
#define WS_BENCH_KEY_CAPACITY (WS_ML_DSA_65_PUBLIC_KEY + WS_ML_DSA_65_SIGNATURE)
#define WS_BENCH_OUTPUT_CAPACITY 32
#elif defined(WS_BENCH_ACTION_sign)
#define WS_BENCH_KEY_CAPACITY WS_ML_DSA_65_PRIVATE_KEY
#define WS_BENCH_OUTPUT_CAPACITY WS_ML_DSA_65_SIGNATURE
#else
#define WS_BENCH_KEY_CAPACITY 128
#define WS_BENCH_OUTPUT_CAPACITY (WS_ML_DSA_65_PUBLIC_KEY + WS_ML_DSA_65_PRIVATE_KEY)
#endif
#define WS_BENCH_AAD_CAPACITY 32
#elif (defined(WS_BENCH_PUBLIC_KEY) || defined(WS_BENCH_RANDOM)) && WS_RAM_SIZE < 4096
#define WS_BENCH_CAPACITY 144
#define WS_BENCH_KEY_CAPACITY 144
/* One-time signatures have the key pair's name and the randomizer there. */
#ifdef WS_ONE_TIME_BENCH_H
#define WS_BENCH_AAD_CAPACITY 52
#else
#define WS_BENCH_AAD_CAPACITY 16
#endif
#elif WS_RAM_SIZE < 1024
/* Round keys of AES-128, a message of 32 bytes and a digest: the rest of 512 bytes is the stack's. */
#define WS_BENCH_CAPACITY 32
#ifdef WS_AES_H
#define WS_BENCH_KEY_CAPACITY 176
#else
#define WS_BENCH_KEY_CAPACITY 32
#endif
#define WS_BENCH_AAD_CAPACITY 16
#else
/* HKDF's and hash-based signatures' variables at fixed addresses, as sdcc has them, fit into what an eighth each leaves. */
#if defined(WS_HKDF_H) || defined(WS_LMS_H) || defined(WS_SLH_DSA_BENCH_H)
#define SHARE (WS_RAM_SIZE / 8)
#else
#define SHARE (WS_RAM_SIZE / 4)
#endif
#define WS_BENCH_CAPACITY (SHARE < 4096 ? SHARE : 4096)
#define WS_BENCH_KEY_CAPACITY 240
#define WS_BENCH_AAD_CAPACITY 64
#endif
#ifndef WS_BENCH_OUTPUT_CAPACITY
#define WS_BENCH_OUTPUT_CAPACITY WS_BENCH_CAPACITY
#endif

uint8_t ws_bench_key[WS_BENCH_KEY_CAPACITY] WS_ALIGNED;
uint16_t ws_bench_key_len;
uint8_t ws_bench_nonce[16] WS_ALIGNED;
uint8_t ws_bench_aad[WS_BENCH_AAD_CAPACITY] WS_ALIGNED;
uint16_t ws_bench_aad_len;
uint8_t ws_bench_message[WS_BENCH_CAPACITY] WS_ALIGNED;
uint16_t ws_bench_message_len;
uint8_t ws_bench_output[WS_BENCH_OUTPUT_CAPACITY] WS_ALIGNED;
uint8_t ws_bench_tag[32] WS_ALIGNED;
int16_t ws_bench_result;
/* What would have come by radio and lie in flash. */
#ifdef WS_BENCH_STORED
WS_CONSTANT("ws_bench_stored")
const uint8_t ws_bench_stored[WS_BENCH_STORED] = {0};
#endif

void ws_bench_ready(void);
void ws_bench_run(void);

WS_NOINLINE void ws_bench_ready(void)
{
    WS_BARRIER();
}

WS_NOINLINE void ws_bench_run(void)
{
    uint8_t *const key = ws_bench_key;
    const size_t key_len = ws_bench_key_len;
    uint8_t *const nonce = ws_bench_nonce;
    uint8_t *const aad = ws_bench_aad;
    const size_t aad_len = ws_bench_aad_len;
    uint8_t *const message = ws_bench_message;
    const size_t len = ws_bench_message_len;
    uint8_t *const output = ws_bench_output;
    uint8_t *const tag = ws_bench_tag;
    int result = 0;

    (void)key, (void)key_len, (void)nonce, (void)aad, (void)aad_len, (void)message, (void)len, (void)output, (void)tag;
    WS_BENCH_CALL;
    ws_bench_result = (int16_t)result;
    /* What follows the call keeps it from becoming a jump. */
    WS_BARRIER();
}

int main(void)
{
    for (;;) {
        ws_bench_ready();
        ws_bench_run();
    }
}
