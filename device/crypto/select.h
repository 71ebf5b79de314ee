/* Entries of a table, the index a secret: every entry is read, in the same order, whichever is wanted.
 *
 * A table holds field elements (p256_field.h, secp160r1_field.h), several to an entry, as words: as wide as the processor
 * reads best, and the same bytes in memory as limbs. */
#ifndef WS_SELECT_H
#define WS_SELECT_H

#include "limb.h"
#include "table.h"

#include <stdint.h>

/* WS_TABLE_WORD(word) is 32 bits, a literal without suffix, as the initialisers of words, the lowest first. Cortex-M0 and
 * M3 have limbs of 16 bits, and words of 32. */
#if defined(__arm__)
typedef uint32_t __attribute__((may_alias)) ws_word;
#define WS_WORDS(bytes) ((bytes) / 4)
#define WS_TABLE_WORD(word) word##ul
#else
typedef ws_limb ws_word;
#define WS_WORDS(bytes) WS_LIMBS(bytes)
#define WS_TABLE_WORD(word) WS_WORD(word)
#endif

/* What a table of constants is in (table.h), as part of a pointer's type. */
#if defined(__SDCC_mcs51)
#define WS_IN_CONSTANTS __code
#else
#define WS_IN_CONSTANTS
#endif

/* r, of so many words, = entry index of a table of so many entries in RAM.
 *
 * in: words: 4 or more; entries: 1 to 32; index: below it, the secret. out: r, outside the table.
 * Constant time for given words and entries. */
void ws_select(ws_word *r, const ws_word *table, uint8_t words, uint8_t entries, uint8_t index);

/* The same of a table of constants. */
#if defined(__AVR__) || defined(__SDCC_mcs51)
void ws_select_constant(ws_word *r, const WS_IN_CONSTANTS ws_word *table, uint8_t words, uint8_t entries, uint8_t index);
#else
WS_INLINE void ws_select_constant(ws_word *r, const ws_word *table, uint8_t words, uint8_t entries, uint8_t index)
{
    ws_select(r, table, words, entries, index);
}
#endif

#endif
