#include "counter.h"

#include "../crypto/crc32.h"
#include "../drivers/nonvolatile.h"

#define SLOTS (WS_NONVOLATILE_SEGMENT / WS_COUNTER_RECORD)

typedef struct {
    uint32_t limit;
    uint32_t starts;
} record;

static void write_32(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 24);
    out[1] = (uint8_t)(value >> 16);
    out[2] = (uint8_t)(value >> 8);
    out[3] = (uint8_t)value;
}

static uint32_t read_32(const uint8_t *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static uint32_t check(const uint8_t *bytes)
{
    static const uint8_t name[4] = {'W', 'S', 'C', '1'};

    return ~ws_crc32(ws_crc32(WS_CRC32_BEGIN, name, sizeof name), bytes, 8);
}

/* Reads the record in a slot; returns whether it is valid. */
static uint8_t read_record(uint8_t segment, uint8_t slot, record *out)
{
    uint8_t bytes[WS_COUNTER_RECORD];

    ws_nonvolatile_read(segment, (uint8_t)(slot * WS_COUNTER_RECORD), bytes, sizeof bytes);
    out->limit = read_32(bytes);
    out->starts = read_32(bytes + 4);
    return read_32(bytes + 8) == check(bytes);
}

/* Programs a record into a slot, and reads it back; returns whether it stands there. */
static uint8_t write_record(uint8_t segment, uint8_t slot, const record *in)
{
    uint8_t bytes[WS_COUNTER_RECORD];
    record back;

    write_32(bytes, in->limit);
    write_32(bytes + 4, in->starts);
    write_32(bytes + 8, check(bytes));
    ws_nonvolatile_program(segment, (uint8_t)(slot * WS_COUNTER_RECORD), bytes, sizeof bytes);
    return read_record(segment, slot, &back) && back.limit == in->limit && back.starts == in->starts;
}

/* The newest record, and where it is; returns whether there is one. */
static uint8_t newest(record *out, uint8_t *segment, uint8_t *slot)
{
    uint8_t found = 0;
    uint8_t i;
    uint8_t j;

    for (i = 0; i < WS_NONVOLATILE_SEGMENTS; i++) {
        for (j = 0; j < SLOTS; j++) {
            record here;

            if (read_record(i, j, &here) && (!found || here.limit > out->limit)) {
                *out = here;
                *segment = i;
                *slot = j;
                found = 1;
            }
        }
    }
    return found;
}

void ws_counter_start(ws_counter *counter, uint32_t first, uint8_t block)
{
    record last;

    counter->segment = 0;
    counter->slot = 0;
    counter->reserved = 0;
    counter->block = block;
    if (!newest(&last, &counter->segment, &counter->slot)) {
        last.limit = 0;
        last.starts = 0;
    }
    counter->starts = last.starts;
    counter->next = counter->limit = last.limit > first ? last.limit : first;
}

/* Makes the newest record firm, where there is one, so that the other segment can be erased. Returns whether it stands. */
static uint8_t make_firm(void)
{
    record last;
    uint8_t segment;
    uint8_t slot;

    return !newest(&last, &segment, &slot) || write_record(segment, slot, &last);
}

/* Reserves the next block. Returns whether its record stands. */
static uint8_t reserve(ws_counter *counter)
{
    record next;

    if (counter->limit > 0xffffffffu - counter->block) {
        return 0;
    }
    next.limit = counter->limit + counter->block;
    next.starts = counter->starts + (counter->reserved ? 0 : 1);
    if (!counter->reserved || counter->slot >= SLOTS) {
        if (!counter->reserved && !make_firm()) {
            return 0;
        }
        counter->segment ^= 1;
        counter->slot = 0;
        ws_nonvolatile_erase(counter->segment);
    }
    if (!write_record(counter->segment, counter->slot, &next)) {
        /* The next attempt erases again: the same segment, if that holds no newer record than the other. */
        ws_counter_start(counter, counter->limit, counter->block);
        return 0;
    }
    counter->slot++;
    counter->reserved = 1;
    counter->starts = next.starts;
    counter->next = counter->limit;
    counter->limit = next.limit;
    return 1;
}

int ws_counter_take(ws_counter *counter, uint32_t *number)
{
    if (counter->next == counter->limit && !reserve(counter)) {
        return -1;
    }
    *number = counter->next++;
    return 0;
}
