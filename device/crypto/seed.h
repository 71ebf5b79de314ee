/* A seed that survives restarts, in non-volatile memory.
 *
 * The port defines two functions over two slots of WS_SEED_RECORD bytes each, in EEPROM, or in flash of two erase units. A
 * write may be cut off by power loss at any byte and leave what it will in the bytes that it had begun, or erased and not
 * reached, but what is read of them once is read again; bytes of the other slot it never changes.
 *
 * A record is: counter, 4 bytes big-endian || seed, 48 bytes || check, the first 8 bytes of SHA-256(counter || seed). It
 * counts when the check fits; of two that count, the one with the later counter is the seed. Each start
 *
 *   1. reads the seed S of counter c, makes the generator of S, fresh entropy where there is some, and the part's name;
 *   2. draws the next seed from it, writes it to the other slot with counter c + 1, reads it back and compares;
 *   3. erases the slot of S, writing 0xff, and sees that it counts no more;
 *   4. and only now the generator is handed out.
 *
 * Why no seed serves twice, and none is ever missing. Before step 2 begins, the slot of S counts. While step 2 goes on, it is
 * not touched; when power fails, the new record is whole, or its check does not fit but with probability 2^-64, and S, which
 * has given out nothing, is used again. When step 2 is over, the new record counts, and is later than S: it is the seed from
 * now on, whatever becomes of step 3. Outputs of the generator exist only after step 3, when S is gone, so that not even a new
 * record that decays later brings S back. If the two do not count at once, that is wear or tampering: the part then starts
 * with fresh entropy or not at all.
 *
 * Whoever reads the memory knows the outputs after the next start, where no fresh entropy comes to it, but not those before:
 * the generator does not run backwards. Each start writes each slot once; with an EEPROM of 100,000 writes that is one start
 * an hour for 11 years.
 *
 * Stack: 120 bytes and a hash context, beside the frames. Times depend on nothing secret. */
#ifndef WS_SEED_H
#define WS_SEED_H

#include "drbg.h"

#define WS_SEED_RECORD 60

/* The port's: a slot, 0 or 1. ws_seed_write is done when it returns. */
void ws_seed_read(uint8_t slot, uint8_t record[WS_SEED_RECORD]);
void ws_seed_write(uint8_t slot, const uint8_t record[WS_SEED_RECORD]);

/* Gives a part its first seed, with counter 0, and erases whatever there was. To be done again when power fails meanwhile.
 *
 * in: seed: 48 bytes that are nowhere else, from another generator.
 * Returns 0, or -1 when the memory does not hold what is written. */
int ws_seed_install(const uint8_t seed[WS_DRBG_SEED_BYTES]);

/* Starts a generator, as said above.
 *
 * in:  fresh: fresh_len bytes of entropy (entropy.h), anything when that is 0; where no record counts, at least
 *      WS_DRBG_SEED_BYTES. name: name_len bytes that no other part has (a serial number), anything when that is 0.
 * out: drbg, overlapping nothing.
 * Returns 0, or -1, drbg without a seed, when there is no seed and too little entropy, or the memory does not hold what is
 * written. */
int ws_seed_start(ws_drbg *drbg, const uint8_t *fresh, size_t fresh_len, const uint8_t *name, size_t name_len);

#endif
