#include "seed.h"

#include "secret.h"
#include "sha256.h"

/* Where the parts of a record are. */
#define SEED 4
#define CHECK 52
#define CHECK_BYTES 8

static void check(const uint8_t *record, uint8_t digest[32])
{
    ws_sha256(record, CHECK, digest);
}

/* Reads a slot. Returns whether its record counts. */
static uint8_t read(uint8_t slot, uint8_t record[WS_SEED_RECORD])
{
    uint8_t digest[32];

    ws_seed_read(slot, record);
    check(record, digest);
    return (uint8_t)ws_equal(digest, record + CHECK, CHECK_BYTES);
}

/* Completes a record with its check, writes it, and reads it back. Returns 0 or -1; record is overwritten. */
static int write(uint8_t slot, uint8_t record[WS_SEED_RECORD])
{
    uint8_t digest[32];
    uint8_t i;

    check(record, digest);
    for (i = 0; i < CHECK_BYTES; i++) {
        record[CHECK + i] = digest[i];
    }
    ws_seed_write(slot, record);
    /* The check says whether all bytes are a record, and the digest before it, that they are this one. */
    if (!read(slot, record) || !ws_equal(digest, record + CHECK, CHECK_BYTES)) {
        return -1;
    }
    return 0;
}

/* Erases a slot. Returns 0, or -1 when it counts nevertheless. */
static int erase(uint8_t slot, uint8_t record[WS_SEED_RECORD])
{
    uint8_t i;

    for (i = 0; i < WS_SEED_RECORD; i++) {
        record[i] = 0xff;
    }
    ws_seed_write(slot, record);
    return read(slot, record) ? -1 : 0;
}

static uint32_t counter_of(const uint8_t record[WS_SEED_RECORD])
{
    return ((uint32_t)record[0] << 24) | ((uint32_t)record[1] << 16) | ((uint32_t)record[2] << 8) | record[3];
}

static void set_counter(uint8_t record[WS_SEED_RECORD], uint32_t counter)
{
    record[0] = (uint8_t)(counter >> 24);
    record[1] = (uint8_t)(counter >> 16);
    record[2] = (uint8_t)(counter >> 8);
    record[3] = (uint8_t)counter;
}

int ws_seed_install(const uint8_t seed[WS_DRBG_SEED_BYTES])
{
    uint8_t record[WS_SEED_RECORD];
    uint8_t i;
    int failed = erase(1, record);

    set_counter(record, 0);
    for (i = 0; i < WS_DRBG_SEED_BYTES; i++) {
        record[SEED + i] = seed[i];
    }
    failed |= write(0, record);
    ws_wipe(record, sizeof record);
    return failed;
}

int ws_seed_start(ws_drbg *drbg, const uint8_t *fresh, size_t fresh_len, const uint8_t *name, size_t name_len)
{
    uint8_t records[2][WS_SEED_RECORD];
    ws_piece pieces[3];
    uint32_t counter = 0;
    uint8_t counts = read(0, records[0]);
    uint8_t slot = 0;
    int failed;

    if (read(1, records[1])) {
        /* The later one: the difference modulo 2^32 is below 2^31. */
        if (!counts || counter_of(records[1]) - counter_of(records[0]) < 0x80000000) {
            slot = 1;
        }
        counts = 1;
    }
    pieces[0].data = records[slot];
    pieces[0].len = 0;
    if (counts) {
        pieces[0].len = CHECK;
        counter = counter_of(records[slot]) + 1;
    }
    pieces[1].data = fresh;
    pieces[1].len = fresh_len;
    pieces[2].data = name;
    pieces[2].len = name_len;
    failed = -1;
    /* A name is no entropy. */
    if (counts || fresh_len >= WS_DRBG_SEED_BYTES) {
        failed = ws_drbg_instantiate_pieces(drbg, pieces, 3);
    }
    if (failed == 0) {
        failed = ws_drbg_generate(drbg, records[0] + SEED, WS_DRBG_SEED_BYTES, 0, 0);
        set_counter(records[0], counter);
        failed |= write(slot ^ 1, records[0]);
    }
    /* Not before the new one stands. */
    if (failed == 0) {
        failed = erase(slot, records[0]);
    }
    if (failed != 0) {
        ws_wipe(drbg, sizeof *drbg);
    }
    ws_wipe(records, sizeof records);
    return failed;
}
