/*
 * GHASH for the MSP430, fast: 27 carry-less products of 16 bits a block.
 *
 * Defines ws_ghash_blocks (contract: ghash.h). Base MSP430 instructions only,
 * no hardware multiplier, no table.
 *
 * Idea. A block is a 128-bit integer, most significant word first, whose top
 * bit is the coefficient of x^0 (SP 800-38D, section 6.3). With H x^-1 in place
 * of H the carry-less product of two such integers needs no shift: its upper
 * half holds x^0..x^127 and its lower half x^128..x^255, which the field
 * polynomial folds into the upper one. The product is three levels of
 * Karatsuba's method, with the sums on H's side made once a call. A product
 * of 16 bits takes 79 cycles: the factor b and the low half of the product
 * share a register pair that shifts left, every bit of b that falls out
 * becomes a mask by a subtraction with borrow, and the masked a is added.
 *
 * Constant time: yes, on any MSP430: no branch and no address depends on data.
 */

/* The frame, from r1. */
#define X       0       /* y, then y ^ data: 8 words, the most significant first */
#define T       16      /* 12 words of the product, the least significant first */
#define W       40      /* 8 words, likewise */
#define TABLE   56      /* sums of words of H x^-1 in the order of their use: 9 times 3 */
#define Y       110     /* where y is */
#define FRAME   112

/*
 * (b, low) = a b; t scratch. A bit of b becomes a mask of ones if it is 0 in
 * the carry, hence the complement. 79 cycles.
 */
.macro product_16 a, b, low, t
    inv \b
    rla \b
    subc \low, \low
    and \a, \low
    .rept 15
    rla \low
    rlc \b
    subc \t, \t
    and \a, \t
    xor \t, \low
    .endr
.endm

/*
 * in:  r4, r5 high and low word of b; r12 at the low, the high word of a and their sum
 * out: r4, r6, r5, r7 the product, the most significant word first; r12 6 bytes on
 * clobbers: r8-r11. 259 cycles, CALL and RET included.
 */
    .section .text.ws_ghash_product_32, "ax", @progbits
    .p2align 1
    .type product_32, @function
product_32:
    mov r4, r8
    xor r5, r8
    mov @r12+, r10
    product_16 r10, r5, r7, r11
    mov @r12+, r10
    product_16 r10, r4, r6, r11
    mov @r12+, r10
    product_16 r10, r8, r9, r11
    xor r7, r9
    xor r6, r9
    xor r5, r8
    xor r4, r8
    xor r8, r6
    xor r9, r5
    ret
    .size product_32, . - product_32

/* dst = two bytes at from, the first the more significant. */
.macro load_word from, dst, t
    mov.b @\from+, \dst
    swpb \dst
    mov.b @\from+, \t
    bis \t, \dst
.endm

/* A part of H x^-1 for product_32 as entry index of the table. */
.macro entry index, high, low, t
    mov \low, TABLE+6*\index(r1)
    mov \high, TABLE+6*\index+2(r1)
    mov \low, \t
    xor \high, \t
    mov \t, TABLE+6*\index+4(r1)
.endm

/* r4, r5 = the sum of pairs of words of X: 0 is the upper 32 bits, 3 the lower. */
.macro load_sum first, others:vararg
    mov X+4*\first(r1), r4
    mov X+4*\first+2(r1), r5
    .irp other, \others
    xor X+4*\other(r1), r4
    xor X+4*\other+2(r1), r5
    .endr
.endm

/* (x^32 + 1) times the product: r4, r6, r8, r9, r5, r7. */
.macro times_x32_plus_1
    mov r6, r9
    xor r7, r9
    mov r4, r8
    xor r5, r8
.endm

/* Stores the lower four words of that, or adds them to what is there. */
.macro lower_four operation, offset
    \operation r7, \offset(r1)
    \operation r5, \offset+2(r1)
    \operation r9, \offset+4(r1)
    \operation r8, \offset+6(r1)
.endm
.macro upper_two offset
    mov r6, \offset+8(r1)
    mov r4, \offset+10(r1)
.endm

/* Adds the product itself. */
.macro add_product offset
    xor r7, \offset(r1)
    xor r5, \offset+2(r1)
    xor r6, \offset+4(r1)
    xor r4, \offset+6(r1)
.endm

/* (r4..r11) >>= 1 */
.macro shift_right
    clrc
    rrc r4
    rrc r5
    rrc r6
    rrc r7
    rrc r8
    rrc r9
    rrc r10
    rrc r11
.endm

/* (r4..r11) ^= the lower half of the product, which is in T and, for words 4 to 7, in X */
.macro add_lower_half
    xor X(r1), r4
    xor X+2(r1), r5
    xor X+4(r1), r6
    xor X+6(r1), r7
    xor T+6(r1), r8
    xor T+4(r1), r9
    xor T+2(r1), r10
    xor T(r1), r11
.endm

/*
 * void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data, size_t blocks)
 * in:  r12 y, r13 h, r14 data, r15 blocks
 * clobbers: r11-r15. Stack: 130 bytes, return address included; what was on it is wiped.
 * Cycles: 527 + 2,989 a block; 11 for no block.
 */
    .section .text.ws_ghash_blocks, "ax", @progbits
    .p2align 1
    .global ws_ghash_blocks
    .type ws_ghash_blocks, @function
ws_ghash_blocks:
    tst r15
    jnz 1f
    ret
1:  push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME, r1
    mov r12, Y(r1)

    /* X = y */
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    load_word r12, r4, r5
    mov r4, X+2*\index(r1)
    .endr

    /* (r4..r11) = H x^-1; x^-1 = 1 + x + x^6 + x^127. */
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    load_word r13, \word, r12
    .endr
    rla r11
    .irp word, r10, r9, r8, r7, r6, r5, r4
    rlc \word
    .endr
    subc r12, r12
    inv r12
    sub r12, r11
    and #0xc200, r12
    xor r12, r4

    entry 5, r4, r5, r12
    entry 3, r6, r7, r12
    entry 2, r8, r9, r12
    entry 0, r10, r11, r12
    xor r6, r4
    xor r7, r5
    entry 4, r4, r5, r12
    xor r10, r8
    xor r11, r9
    entry 1, r8, r9, r12
    xor r10, r6
    xor r11, r7
    entry 6, r6, r7, r12
    xor r8, r4
    xor r9, r5
    entry 7, r4, r5, r12
    xor r6, r4
    xor r7, r5
    entry 8, r4, r5, r12

.Lblock:
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    load_word r14, r4, r5
    xor r4, X+2*\index(r1)
    .endr
    mov r1, r12
    add #TABLE, r12

    /*
     * With z = x^32, the parts of X in descending order p, q, r, s and [..] a
     * product of the same sum of parts of X and of H x^-1, the 256-bit product is
     *   (z^2 + 1) T + z^2 W,
     *   T = (z + 1) ([p] z^3 + [q] z^2 + [r] z + [s]) + z ([pq] z^2 + [rs]),
     *   W = (z + 1) ([pr] z + [qs]) + z [pqrs].
     */
    load_sum 3
    call #product_32
    times_x32_plus_1
    lower_four mov, T
    upper_two T
    load_sum 2, 3
    call #product_32
    add_product T+4
    load_sum 2
    call #product_32
    times_x32_plus_1
    lower_four xor, T+4
    upper_two T+4
    load_sum 1
    call #product_32
    times_x32_plus_1
    lower_four xor, T+8
    upper_two T+8
    load_sum 0, 1
    call #product_32
    add_product T+12
    load_sum 0
    call #product_32
    times_x32_plus_1
    lower_four xor, T+12
    upper_two T+12
    load_sum 1, 3
    call #product_32
    times_x32_plus_1
    lower_four mov, W
    upper_two W
    load_sum 0, 1, 2, 3
    call #product_32
    add_product W+4
    load_sum 0, 2
    call #product_32
    times_x32_plus_1
    lower_four xor, W+4
    upper_two W+4

    /* The lower half of (z^2 + 1) T + z^2 W, most significant word in r4. */
    mov T(r1), r11
    mov T+2(r1), r10
    mov T+4(r1), r9
    mov T+6(r1), r8
    mov T+8(r1), r7
    xor W(r1), r7
    xor r11, r7
    mov T+10(r1), r6
    xor W+2(r1), r6
    xor r10, r6
    mov T+12(r1), r5
    xor W+4(r1), r5
    xor r9, r5
    mov T+14(r1), r4
    xor W+6(r1), r4
    xor r8, r4

    /*
     * x^128 = 1 + x + x^2 + x^7: upper ^= lower ^ lower >> 1 ^ lower >> 2 ^ lower >> 7.
     * What falls out below has again a degree of 128 or more, so it is added
     * to the top of the lower half first: r11 << 15 ^ r11 << 14 ^ r11 << 9.
     */
    mov.b r11, r12
    swpb r12
    rla r12
    xor r12, r4
    mov r11, r12
    rla r12
    xor r11, r12
    rrc r12
    rrc r13
    rrc r12
    rrc r13
    and #0xc000, r13
    xor r13, r4

    mov r4, X(r1)
    mov r5, X+2(r1)
    mov r6, X+4(r1)
    mov r7, X+6(r1)
    .rept 5
    shift_right
    .endr
    add_lower_half
    shift_right
    add_lower_half
    shift_right
    add_lower_half

    /* The upper half. */
    xor T+22(r1), r4
    xor T+20(r1), r5
    xor T+18(r1), r6
    xor T+16(r1), r7
    mov T+14(r1), r12
    xor T+22(r1), r12
    xor W+14(r1), r12
    xor r12, r8
    mov T+12(r1), r12
    xor T+20(r1), r12
    xor W+12(r1), r12
    xor r12, r9
    mov T+10(r1), r12
    xor T+18(r1), r12
    xor W+10(r1), r12
    xor r12, r10
    mov T+8(r1), r12
    xor T+16(r1), r12
    xor W+8(r1), r12
    xor r12, r11

    dec r15
    jz .Lstore
    mov r4, X(r1)
    mov r5, X+2(r1)
    mov r6, X+4(r1)
    mov r7, X+6(r1)
    mov r8, X+8(r1)
    mov r9, X+10(r1)
    mov r10, X+12(r1)
    mov r11, X+14(r1)
    br #.Lblock

.Lstore:
    mov Y(r1), r12
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov.b \word, 1(r12)
    swpb \word
    mov.b \word, 0(r12)
    incd r12
    .endr

    /* Wipes the frame but Y: 5 times 11 words. */
    mov #5, r12
.Lwipe:
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    clr 2*\index(r1)
    .endr
    add #22, r1
    dec r12
    jnz .Lwipe
    incd r1
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_ghash_blocks, . - ws_ghash_blocks
