#include "lms.h"

#include "secret.h"

/* What verification->state is: what is being taken, or that nothing is any more. */
enum { MESSAGE, SIGNATURE, REFUSED };

/* RFC 8554 table 1, by a digit's 1, 2, 4 or 8 bits: p, the values of a one-time signature. */
static uint16_t chains(uint8_t shift)
{
    switch (shift) {
    case 0:
        return 265;
    case 1:
        return 133;
    case 2:
        return 67;
    default:
        return 34;
    }
}

/* The largest digit: the steps of a chain. */
static uint8_t largest(uint8_t shift)
{
    return (uint8_t)((1u << (1u << shift)) - 1);
}

/* Digit i of Q || checksum: coef of section 3.1.3. */
static uint8_t digit(const ws_lms_verification *verification, uint16_t i)
{
    const uint8_t shift = verification->shift;
    const uint8_t byte = verification->value[i >> (3 - shift)];
    /* Digits of the byte to the right of it. */
    const uint8_t right = (uint8_t)(~i & ((8u >> shift) - 1));

    return (uint8_t)(byte >> (right << shift)) & largest(shift);
}

/* Whether a type is a byte of what is known: its first three bytes are 0. */
static uint8_t is_short(const uint8_t type[4])
{
    return (type[0] | type[1] | type[2]) == 0;
}

/* The bit of the height in a number behind I: a tree's leaves are those with it and without higher ones. */
static uint8_t *height_byte(ws_lms_verification *verification)
{
    return &verification->name[WS_ONE_TIME_NAME - 1 - (verification->height >> 3)];
}

static uint8_t height_bit(const ws_lms_verification *verification)
{
    return (uint8_t)(1u << (verification->height & 7));
}

/* Whether q is a leaf's. */
static uint8_t is_leaf(ws_lms_verification *verification)
{
    const uint8_t *byte = height_byte(verification);
    uint8_t higher = *byte & (uint8_t)(0 - height_bit(verification));

    while (byte != verification->name + 16) {
        byte--;
        higher |= *byte;
    }
    return higher == 0;
}

static void copy(uint8_t *to, const uint8_t *from, uint8_t n)
{
    while (n != 0) {
        *to++ = *from++;
        n--;
    }
}

/* RFC 8554 tables 1 and 2, by a public key whose types are known: the tree's height, and the shift of digit(). */
static uint8_t height_of(const uint8_t *public_key)
{
    return (uint8_t)(5 * (public_key[3] - 4));
}

static uint8_t shift_of(const uint8_t *public_key)
{
    return (uint8_t)(public_key[7] - 1);
}

/* Whether the types of a public key are known. */
static uint8_t is_known(const uint8_t *public_key)
{
    return is_short(public_key) && is_short(public_key + 4) && shift_of(public_key) <= 3 && (uint8_t)(public_key[3] - 5) <= 4;
}

uint16_t ws_lms_signature_bytes(const uint8_t public_key[WS_LMS_PUBLIC_KEY])
{
    if (!is_known(public_key)) {
        return 0;
    }
    return WS_LMS_HEAD + 32 * chains(shift_of(public_key)) + 4 + 32 * (uint16_t)height_of(public_key);
}

int ws_lms_verify_begin(ws_lms_verification *verification, const uint8_t public_key[WS_LMS_PUBLIC_KEY],
                        const uint8_t head[WS_LMS_HEAD])
{
    verification->state = REFUSED;
    verification->values = 0;
    verification->filled = 0;
    copy(verification->name, public_key + 8, 16);
    copy(verification->name + 16, head, 4);
    verification->type = public_key[3];
    verification->height = height_of(public_key);
    verification->shift = shift_of(public_key);
    if (!is_known(public_key) || !is_short(head + 4) || head[7] != verification->shift + 1 ||
        !is_leaf(verification)) {
        return -1;
    }
    /* Algorithm 4b step 3. */
    verification->state = MESSAGE;
    ws_one_time_begin(&verification->hash, verification->name, WS_ONE_TIME_MESSAGE);
    ws_lms_verify_message(verification, head + 8, WS_ONE_TIME_RANDOMIZER);
    return 0;
}

void ws_lms_verify_message(ws_lms_verification *verification, const uint8_t *bytes, size_t len)
{
    if (verification->state != MESSAGE) {
        verification->state = REFUSED;
        return;
    }
    ws_sha256_update(&verification->hash, bytes, len);
}

/* The message has ended: Q and its checksum of section 4.4. */
static void end_message(ws_lms_verification *verification)
{
    const uint8_t shift = verification->shift;
    const uint16_t digits = (uint16_t)(256 >> shift);
    uint16_t sum = 0;
    uint16_t i;

    ws_sha256_final(&verification->hash, verification->value);
    for (i = 0; i < digits; i++) {
        sum += largest(shift) - digit(verification, i);
    }
    /* ls of table 1. */
    sum <<= shift == 3 ? 0 : shift == 2 ? 4 : 7 - shift;
    verification->value[32] = (uint8_t)(sum >> 8);
    verification->value[33] = (uint8_t)sum;
    ws_one_time_begin(&verification->hash, verification->name, WS_ONE_TIME_PUBLIC);
    verification->state = SIGNATURE;
}

/* Algorithm 4b step 3: the rest of a chain. */
static void end_chain(ws_lms_verification *verification)
{
    const uint8_t end = largest(verification->shift);
    uint8_t step;

    ws_one_time_place(&verification->chain, verification->name, verification->values);
    for (step = digit(verification, verification->values); step < end; step++) {
        ws_one_time_step(&verification->chain, step);
    }
    ws_sha256_update(&verification->hash, verification->chain.block + WS_ONE_TIME_VALUE, 32);
}

/* Algorithm 6a: the leaf, of the one-time signature's key. */
static void reach_leaf(ws_lms_verification *verification)
{
    ws_sha256_final(&verification->hash, verification->value);
    *height_byte(verification) |= height_bit(verification);
    ws_one_time_begin(&verification->hash, verification->name, WS_LMS_LEAF);
    ws_sha256_update(&verification->hash, verification->value, 32);
    ws_sha256_final(&verification->hash, verification->value);
}

/* The number behind I halved; returns the bit that leaves it. */
static uint8_t halve(uint8_t *name)
{
    uint8_t bit = 0;
    uint8_t i;

    for (i = 16; i < WS_ONE_TIME_NAME; i++) {
        const uint8_t next = name[i] & 1;

        name[i] = (uint8_t)(name[i] >> 1) | (uint8_t)(bit << 7);
        bit = next;
    }
    return bit;
}

/* The same: the next node on the way to the root, of the one beside it. */
static void reach_node(ws_lms_verification *verification)
{
    const uint8_t is_right = halve(verification->name);

    ws_one_time_begin(&verification->hash, verification->name, WS_LMS_NODE);
    if (!is_right) {
        ws_sha256_update(&verification->hash, verification->value, 32);
    }
    ws_sha256_update(&verification->hash, verification->chain.block + WS_ONE_TIME_VALUE, 32);
    if (is_right) {
        ws_sha256_update(&verification->hash, verification->value, 32);
    }
    ws_sha256_final(&verification->hash, verification->value);
}

/* All values that there are to be: those of the one-time signature, the type, the nodes. */
static uint16_t all_values(const ws_lms_verification *verification)
{
    return chains(verification->shift) + 1 + verification->height;
}

/* The tree's type, section 5.4. */
static void take_type(ws_lms_verification *verification)
{
    const uint8_t *const type = verification->chain.block + WS_ONE_TIME_VALUE;

    if (is_short(type) && type[3] == verification->type) {
        reach_leaf(verification);
    } else {
        verification->state = REFUSED;
    }
}

/* The next value is whole. */
static void take_value(ws_lms_verification *verification)
{
    const uint16_t one_time = chains(verification->shift);

    if (verification->values < one_time) {
        end_chain(verification);
    } else if (verification->values == one_time) {
        take_type(verification);
    } else {
        reach_node(verification);
    }
    verification->values++;
    verification->filled = 0;
}

/* A byte of the next value. */
static void take_byte(ws_lms_verification *verification, uint8_t byte)
{
    verification->chain.block[WS_ONE_TIME_VALUE + verification->filled] = byte;
    verification->filled++;
}

void ws_lms_verify_signature(ws_lms_verification *verification, const uint8_t *bytes, size_t len)
{
    if (verification->state == MESSAGE) {
        end_message(verification);
    }
    for (; len != 0; len--) {
        if (verification->state == REFUSED || verification->values == all_values(verification)) {
            verification->state = REFUSED;
            return;
        }
        take_byte(verification, *bytes++);
        if (verification->filled == (verification->values == chains(verification->shift) ? 4 : 32)) {
            take_value(verification);
        }
    }
}

const uint8_t *ws_lms_verify_root(const ws_lms_verification *verification)
{
    return verification->value;
}

int ws_lms_verify_end(ws_lms_verification *verification, const uint8_t public_key[WS_LMS_PUBLIC_KEY])
{
    const uint8_t is_whole = verification->state == SIGNATURE && verification->values == all_values(verification) &&
                             verification->filled == 0;

    verification->state = REFUSED;
    return is_whole && ws_equal(verification->value, public_key + 24, 32) ? 0 : -1;
}
