/* Entropy from a noise source of the part, with the health tests of NIST SP 800-90B.
 *
 * The port defines ws_entropy_read: one sample of the source as it is, a byte. Samples that carry little are joined before:
 * the noisy bits of several conversions make a byte. What a sample is worth, its min-entropy in whole bits, is an assessment
 * of that source on that part (section 3.1), and is stated when the source is started; rounded down.
 *
 * All samples go through the two tests of section 4.4, with a probability of a false alarm of 2^-20 a sample or window:
 *   4.4.1, repetition count: 1 + ceil(20 / H) equal samples in a row fail;
 *   4.4.2, adaptive proportion: in windows of 512 samples, the first one 1 + critbinom(512, 2^-H, 1 - 2^-20) times fails.
 * At the start 1024 samples are tested and dropped (section 4.3). A failure stays, until the source is started anew: from then on
 * nothing is given out, and what was gathered for the request under way is wiped.
 *
 * Samples are conditioned by SHA-256 (a vetted component, section 3.1.5.1.1): 32 bytes of as many samples as carry 320 bits,
 * 64 more than come out, which makes the output full entropy (SP 800-90C). Two of those seed a generator (drbg.h).
 *
 * Stack: one hash context, beside the frames. The source's samples are secrets; the time of reading them is the port's. */
#ifndef WS_ENTROPY_H
#define WS_ENTROPY_H

#include <stdint.h>

/* The port's: reads one sample. out: sample. Returns 0, or -1 when the source gives none; that counts as a failure. */
int ws_entropy_read(uint8_t *sample);

/* A source. Its members are the implementation's; all zeros is one that was not started: it gives nothing. */
typedef struct {
    /* Bits of min-entropy a sample, 1 to 8; 0 when not started, or failed. */
    uint8_t min_entropy;
    /* The last sample, and how often it came in a row. */
    uint8_t last;
    uint8_t repeated;
    /* The first sample of the window, how often it came, and how many samples the window has had. */
    uint8_t first;
    uint16_t count;
    uint16_t window;
} ws_entropy;

/* Starts the source with its start-up test.
 *
 * in:  min_entropy: bits a sample, 1 to 8.
 * out: entropy.
 * Returns 0, or -1, and entropy as failed, when a test or the source fails or min_entropy is another number. */
int ws_entropy_start(ws_entropy *entropy, uint8_t min_entropy);

/* Gathers 256 bits of entropy.
 *
 * in/out: entropy.
 * out:    out: outside entropy.
 * Returns 0, or -1, out zeroed, when a test or the source fails, or failed before. */
int ws_entropy_gather(ws_entropy *entropy, uint8_t out[32]);

#endif
