/* A counter that never gives a number twice, whatever instruction the power fails at.
 *
 * Numbers are reserved in blocks, the node's of WS_COUNTER_BLOCK: a record in non-volatile memory says which number is the first that is
 * not reserved, and numbers are given out only below it, once the record stands there and was read back. After a start the
 * rest of a block is left: the next one begins where the last record ends.
 *
 * Records lie in two segments (nonvolatile.h), 12 bytes each, one behind the other, big-endian:
 *    0   4  the first number that is not reserved
 *    4   4  starts: how many there were that came to reserve numbers
 *    8   4  CRC-32 (ISO 3309: reflected polynomial 0xedb88320, begun with and complemented by ones) of "WSC1" and bytes 0 to 7
 * The valid record with the highest number counts. What a power failure leaves of a record is not valid, and numbers of
 * its block were never given out; or it is, and a block is skipped.
 *
 * Bits whose programming or erasing was cut short may read 1 now and 0 later. So the first reservation after a start
 * programs the newest record once more with the same bytes, which makes such bits firm, before it erases the other
 * segment and begins there: a record goes only where the segment was erased to the end since that start. What is left of a
 * record in the segment that is being erased has a lower number than the firm one in the other.
 *
 * Wear: one erasure for each start that comes to reserve, and for each 10 blocks, 640 messages. SLAS655, "Flash Memory",
 * has 10^4 program and erase cycles at least, typically 10^5 (from memory, not yet compared), for each of the two
 * segments: 20,000 starts at least, or 54 years with one a day; or 12.8 million messages without one, 24 years with one a minute.
 * A word is programmed once, and once more for each start that finds the newest record in it: a few times where the power
 * keeps failing while a block is being reserved, which the gate (power.h) is to prevent.
 *
 * Not from random bytes: nonces of the signatures are deterministic (RFC 6979), so that the node needs no entropy at all. */
#ifndef WS_NODE_COUNTER_H
#define WS_NODE_COUNTER_H

#include <stdint.h>

#define WS_COUNTER_BLOCK 64
#define WS_COUNTER_RECORD 12

/* The members are the implementation's, but for starts. */
typedef struct {
    /* The next number to be given out, and the first that is not reserved. */
    uint32_t next;
    uint32_t limit;
    /* As the newest record has it; with the start under way once it has reserved numbers. */
    uint32_t starts;
    /* The segment that records go to, and the slot there; only once reserved. */
    uint8_t segment;
    uint8_t slot;
    uint8_t reserved;
    uint8_t block;
} ws_counter;

/* Reads the newest record. Nothing is written yet, so that a supply that comes and goes wears nothing.
 *
 * in: first: the number to begin with where there is no record, or a lower one; block: how many numbers are reserved with a record, 1 or more.
 * out: counter. */
void ws_counter_start(ws_counter *counter, uint32_t first, uint8_t block);

/* Gives out a number, and reserves a block where none is left; the caller has seen that there is the energy for that.
 *
 * in/out: counter. out: number. Returns 0; or -1, and no number, where the memory does not keep what is written, or
 * where all numbers are used: 2^32 less one block. */
int ws_counter_take(ws_counter *counter, uint32_t *number);

#endif
