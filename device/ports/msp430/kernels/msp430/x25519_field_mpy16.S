/*
 * Arithmetic modulo p = 2^255 - 19 for the MSP430 with a multiplier of 16 bits.
 *
 * Defines x25519_field.h's functions but ws_x25519_freeze, with x25519_field.inc. CPUX.
 *
 * Idea of the product. Karatsuba's method (karatsuba.inc) on products of 128 bits, column by column
 * (mpy16.inc), each below the one before on the stack: first that of the differences, d, then h and
 * l. 2^256 is 38, so with z = 2^128 the product is
 *   l0 + 38 (l1 + h0 + h1 - d1) + z (l0 + l1 + h0 - d0 + 38 h1).
 * The upper half comes first: what it has from bit 255 on, which is 19, is where the lower half
 * begins, and then the lower half's carry does not get past the upper one.
 *
 * Idea of the square. Each product a[i] a[j], i < j, is taken once, as a[i] d[j] with d = 2 a; the
 * bit that d[i+1] has of a[i] is cleared before its last column, where it meets a[i]. The columns
 * 16 to 30 come first, with d[8] to d[15] in registers; then the columns 0 to 15 with a[0] to a[7],
 * which begin with 38 times the column 16 places above. For d to have 256 bits, a's bit 255 is
 * taken off before, as 19. Where there is one again, the rest is below 19: then d lacks its bit
 * 256, which is 2^256 a, and a[0] comes to column 16.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208,
 * "Using Interrupts" of the MPY32 chapter).
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */

#include "mpy16.inc"
#include "x25519_field.inc"
#include "karatsuba.inc"

/* The frame of a product, from r1, as it is in the end: l, h, d; |a0 - a1|, in whose place comes
 * the upper half; the arguments; all ones where d is subtracted, else 0. d is at r1 first, h when
 * that is there. */
#define LOW 0
#define HIGH 32
#define MIDDLE 64
#define DIFFERENCE 96
#define R 112
#define A 114
#define B 116
#define NEGATE 118
#define FRAME 120

/* The frame of a square: a, d; the columns 16 to 31, in whose place come the columns 0 to 15; the
 * result's address. */
#define SQUARE_A 0
#define SQUARE_D 32
#define SQUARE_HIGH 64
#define SQUARE_R 96
#define SQUARE_FRAME 98

/* mov @r14+, &address: a form that clang's assembler does not know. */
.macro move_from_r14 address
    .short 0x4eb2, \address
.endm

/*
 * 16 words at r1 = 8 words at r13 times r11:...:r4. clobbers: r12 to r15, the multiplier. 782
 * cycles with CALL and RET.
 */
    .section .text.ws_x25519_product_128, "ax", @progbits
    .p2align 1
    .type product_128, @function
product_128:
    clr r14
    clr r15
    product_columns 0, 8, 2, r1, r14, r15, r12, r11, r10, r9, r8, r7, r6, r5, r4
    ret
    .size product_128, . - product_128

/* words = words + the number at from; the carry comes to over. */
.macro add_from from, over, first, words:vararg
    add @\from+, \first
    addc_from \from, \words
    adc \over
.endm

/* word = word + carry + 38 times the word at r14, which goes on; the carry again. */
.macro add_38_times word, carry
    move_from_r14 OP2
    add \carry, \word
    mov &RESHI, \carry
    adc \carry
    add &RESLO, \word
    adc \carry
.endm

/* Word `index` at r15 = carry + the word at r13, which goes on, + 38 word; word: the carry. */
.macro fold_and_store index, word, carry
    mov \word, &OP2
    mov &RESHI, \word
    add @r13+, \carry
    adc \word
    add &RESLO, \carry
    adc \word
    mov \carry, 2*\index(r15)
.endm

/* over = 19 times what over:top has from bit 15 on, which is taken off top. Clobbers t. */
.macro take_top top, over, t
    rla \top
    rlc \over
    rra \top
    bic #0x8000, \top
    times_19 \over, \t
.endm

/* The same of high:low:top, to high:low. Clobbers the multiplier, too. */
.macro take_wide_top top, low, high, t
    rla \top
    rlc \low
    rlc \high
    rra \top
    bic #0x8000, \top
    mov #19, &MPY
    mov \low, &OP2
    times_19 \high, \t
    add &RESHI, \high
    mov &RESLO, \low
.endm

/*
 * void ws_x25519_multiply(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element
 * *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11 to r15, the multiplier. 3,070 cycles, 138 bytes of stack.
 */
function ws_x25519_multiply
    save_r4_to_r10
    sub #FRAME-64, r1
    mov r12, R-64(r1)
    mov r13, A-64(r1)
    mov r14, B-64(r1)
    absolute_difference r13, r12, r4, r5, r6, r7, r8, r9, r10, r11
    store_at DIFFERENCE-64, r4, r5, r6, r7, r8, r9, r10, r11
    absolute_difference r14, r15, r4, r5, r6, r7, r8, r9, r10, r11
    xor r15, r12
    inv r12
    mov r12, NEGATE-64(r1)
    mov r1, r13
    add #DIFFERENCE-64, r13
    call #product_128
    mov A-64(r1), r13
    add #16, r13
    mov B-64(r1), r14
    add #16, r14
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r14+, \word
    .endr
    sub #32, r1
    call #product_128
    mov A-32(r1), r13
    mov B-32(r1), r14
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r14+, \word
    .endr
    sub #32, r1
    call #product_128

    /* The upper half, and in r15 and r12 what is above it. */
    mov r1, r13
    add #MIDDLE, r13
    mov NEGATE(r1), r12
    load_complemented r13, r12, r4, r5, r6, r7, r8, r9, r10, r11
    clr r15
    mov r1, r14
    rla r12
    addc_from r14, r4, r5, r6, r7, r8, r9, r10, r11
    adc r15
    add_from r14, r15, r4, r5, r6, r7, r8, r9, r10, r11
    add_from r14, r15, r4, r5, r6, r7, r8, r9, r10, r11
    mov #38, &MPY
    clr r12
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    add_38_times \word, r12
    .endr
    add r15, r12
    take_top r11, r12, r14
    store_at DIFFERENCE, r4, r5, r6, r7, r8, r9, r10, r11
    /* What comes 38 times to the lower half, r14 above it. */
    mov NEGATE(r1), r14
    load_complemented r13, r14, r4, r5, r6, r7, r8, r9, r10, r11
    mov r1, r13
    add #LOW+16, r13
    .rept 3
    add_from r13, r14, r4, r5, r6, r7, r8, r9, r10, r11
    .endr
    mov R(r1), r15
    mov r1, r13
    fold_and_store 0, r4, r12
    fold_and_store 1, r5, r4
    fold_and_store 2, r6, r5
    fold_and_store 3, r7, r6
    fold_and_store 4, r8, r7
    fold_and_store 5, r9, r8
    fold_and_store 6, r10, r9
    fold_and_store 7, r11, r10
    mov r14, &OP2
    add &RESLO, r11
    mov r1, r13
    add #DIFFERENCE, r13
    add @r13+, r11
    mov r11, 16(r15)
    .irp index, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, r11
    adc r11
    mov r11, 2*\index(r15)
    .endr
    add #FRAME, r1
    restore_r4_to_r10
    ret
end ws_x25519_multiply

/* Columns k to 30 of the square from d[15] to d[8], the words; r13 is at a[k-15]. */
.macro upper_columns k, x, y, carry, words:vararg
    .set products, 0
    clr \carry
    .set j, 15
    .irp word, \words
    .if (\k - j) < j
    .if (\k - j) == (j - 1)
    bic #1, \word
    .endif
    column_product \word, \carry
    .endif
    .set j, j - 1
    .endr
    .if (\k % 2) == 0
    column_square @r13, \carry
    .endif
    .if \k < 30
    sub #2*(15 + \k/2 - \k), r13
    .endif
    column_end \x, \y, \carry, SQUARE_HIGH+2*(\k-16)(r1)
    .if \k < 30
    upper_columns (\k+1), \y, \carry, \x, \words
    .else
    mov \y, SQUARE_HIGH+30(r1)
    .endif
.endm

/* The column's next product, the square of a register or of the word at r13, which goes on. */
.macro column_square word, carry
    .if products == 0
    mov \word, &MPY
    .else
    mov \word, &MAC
    .if products > 1
    add &SUMEXT, \carry
    .endif
    .endif
    .ifc \word, @r13
    move_from_r13 OP2
    .else
    mov \word, &OP2
    .endif
    .set products, products + 1
.endm

/* Columns k to 15 of the square from a[7] to a[0], the words; r13 is at d[k/2+1]. Then the result
 * is stored, with 19 times what it has from bit 255 on. */
.macro lower_columns k, x, y, carry, words:vararg
    clr \carry
    mov SQUARE_HIGH+2*(\k)(r1), &MPY
    mov #38, &OP2
    .set products, 1
    .set i, 7
    .irp word, \words
    .if (\k - i) > i
    .if (\k - i) == (i + 1)
    bic #1, 0(r13)
    .endif
    column_product \word, \carry
    .endif
    .set i, i - 1
    .endr
    .set i, 7
    .irp word, \words
    .if \k == (2*i)
    column_square \word, \carry
    .endif
    .set i, i - 1
    .endr
    .if \k < 15
    .if \k > ((\k + 1)/2)
    sub #2*(\k - (\k + 1)/2), r13
    .endif
    column_end \x, \y, \carry, SQUARE_HIGH+2*(\k)(r1)
    lower_columns (\k+1), \y, \carry, \x, \words
    .else
    add &RESLO, \x
    addc &RESHI, \y
    addc &SUMEXT, \carry
    mov \x, r13
    take_wide_top r13, \y, \carry, \x
    mov r13, SQUARE_HIGH+30(r1)
    mov SQUARE_R(r1), \x
    mov r1, r13
    add #SQUARE_HIGH, r13
    add @r13+, \y
    mov \y, 0(\x)
    addc @r13+, \carry
    mov \carry, 2(\x)
    .irp index, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, \y
    adc \y
    mov \y, 2*\index(\x)
    .endr
    .endif
.endm

/*
 * void ws_x25519_square(ws_x25519_element *r, const ws_x25519_element *a)
 * in: r12 r, r13 a; clobbers: r11 to r15, the multiplier. 2,215 cycles, 114 bytes of stack.
 */
function ws_x25519_square
    save_r4_to_r10
    sub #SQUARE_FRAME, r1
    mov r12, SQUARE_R(r1)
    mov 30(r13), r15
    rla r15
    subc r15, r15
    inv r15
    and #19, r15
    mov @r13+, r4
    add r15, r4
    .irp word, r5, r6, r7, r8, r9, r10, r11
    mov @r13+, \word
    adc \word
    .endr
    mov #0, r14
    adc r14
    store_at SQUARE_A, r4, r5, r6, r7, r8, r9, r10, r11
    rla r4
    .irp word, r5, r6, r7, r8, r9, r10, r11
    rlc \word
    .endr
    mov #0, r15
    adc r15
    store_at SQUARE_D+2, r5, r6, r7, r8, r9, r10, r11
    mov @r13+, r4
    add r14, r4
    .irp word, r5, r6, r7, r8, r9, r10
    mov @r13+, \word
    adc \word
    .endr
    mov @r13+, r11
    bic #0x8000, r11
    adc r11
    store_at SQUARE_A+16, r4, r5, r6, r7, r8, r9, r10, r11
    rra r15
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    rlc \word
    .endr
    subc r15, r15
    inv r15
    and SQUARE_A(r1), r15
    store_at SQUARE_D+16, r4, r5, r6, r7, r8, r9, r10, r11
    clr r14
    mov r1, r13
    add #SQUARE_A+2, r13
    upper_columns 16, r15, r14, r12, r11, r10, r9, r8, r7, r6, r5, r4
    mov r1, r13
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r13+, \word
    .endr
    add #18, r13
    clr r14
    clr r15
    lower_columns 0, r15, r14, r12, r11, r10, r9, r8, r7, r6, r5, r4
    add #SQUARE_FRAME, r1
    restore_r4_to_r10
    ret
end ws_x25519_square

/* Words `index` to 15 of a product with 121665, the carry left of those before; before: the word
 * of a before. The highest word is left in carry, before it is stored, and what is above it in
 * over:word. */
.macro words_121665 index, before, carry, word
    mov @r13+, \word
    mov \word, &OP2
    add \before, \carry
    mov &RESHI, \before
    adc \before
    add &RESLO, \carry
    adc \before
    .if \index < 15
    mov \carry, 2*(\index)(r12)
    words_121665 (\index+1), \word, \before, \carry
    .else
    mov \carry, r13
    add \word, \before
    subc \word, \word
    inc \word
    take_wide_top r13, \before, \word, \carry
    add_and_store_top \before, \word
    .endif
.endm

/*
 * void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a)
 * in: r12 r, r13 a; clobbers: r11, r13 to r15, the multiplier. 121665 is 2^16 + 0xdb41. 377 cycles,
 * 2 bytes of stack.
 */
function ws_x25519_multiply_121665
    mov #0xdb41, &MPY
    clr r14
    clr r15
    words_121665 0, r14, r15, r11
    ret
end ws_x25519_multiply_121665
