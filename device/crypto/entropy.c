#include "entropy.h"

#include "secret.h"
#include "sha256.h"

/* SP 800-90B section 4.4.2: W where samples are not binary. */
#define WINDOW 512
/* Section 4.3, requirement 4. */
#define START_UP 1024
/* Bits that 256 bits of full entropy take. */
#define BITS 320

/* The lowest numbers of equal samples that fail, for H bits a sample. By steps, because a table would be in RAM on some
 * processors. */
static uint8_t repetition_cutoff(uint8_t h)
{
    return (uint8_t)(1 + (20 + h - 1) / h);
}

static uint16_t proportion_cutoff(uint8_t h)
{
    switch (h) {
    case 1:
        return 311;
    case 2:
        return 177;
    case 3:
        return 103;
    case 4:
        return 62;
    case 5:
        return 39;
    case 6:
        return 25;
    case 7:
        return 18;
    default:
        return 13;
    }
}

/* Reads and tests a sample. Returns 0 or -1, and the failure stays. */
static int next(ws_entropy *entropy, uint8_t *sample)
{
    uint8_t h = entropy->min_entropy;
    int failed = h == 0 || ws_entropy_read(sample) != 0;

    if (!failed) {
        /* Section 4.4.1. A count of 0 is that before the first sample. */
        if (entropy->repeated == 0 || *sample != entropy->last) {
            entropy->last = *sample;
            entropy->repeated = 0;
        }
        entropy->repeated++;
        failed = entropy->repeated >= repetition_cutoff(h);

        /* Section 4.4.2. */
        if (entropy->window == 0) {
            entropy->first = *sample;
            entropy->count = 0;
        }
        if (*sample == entropy->first) {
            entropy->count++;
        }
        failed |= entropy->count >= proportion_cutoff(h);
        entropy->window++;
        if (entropy->window == WINDOW) {
            entropy->window = 0;
        }
    }
    if (failed) {
        ws_wipe(entropy, sizeof *entropy);
        return -1;
    }
    return 0;
}

int ws_entropy_start(ws_entropy *entropy, uint8_t min_entropy)
{
    uint16_t i;
    uint8_t sample = 0;
    int failed = 0;

    ws_wipe(entropy, sizeof *entropy);
    if (min_entropy == 0 || min_entropy > 8) {
        return -1;
    }
    entropy->min_entropy = min_entropy;
    for (i = 0; i < START_UP && !failed; i++) {
        failed = next(entropy, &sample);
    }
    ws_wipe(&sample, 1);
    return failed;
}

int ws_entropy_gather(ws_entropy *entropy, uint8_t out[32])
{
    ws_sha256_ctx hash;
    uint16_t bits = 0;
    uint8_t sample = 0;
    int failed = 0;

    ws_sha256_init(&hash);
    while (bits < BITS && !failed) {
        failed = next(entropy, &sample);
        ws_sha256_update(&hash, &sample, 1);
        bits += entropy->min_entropy;
    }
    ws_sha256_final(&hash, out);
    ws_wipe(&sample, 1);
    if (failed) {
        ws_wipe(out, 32);
    }
    return failed;
}
