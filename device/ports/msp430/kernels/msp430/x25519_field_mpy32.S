/*
 * Arithmetic modulo p = 2^255 - 19 for the MSP430 with its 32-bit multiplier, MPY32.
 *
 * Defines x25519_field.h's functions but ws_x25519_freeze, with x25519_field.inc. CPUX.
 *
 * Idea. The product is formed column by column (mpy32.inc, columns_mpy32.inc), the upper half first. 2^256 is 38: the sum of
 * a lower column begins with 38 times the column 8 places above. What is left above bit 255 in the end, which is 19, comes to the
 * lowest words as the result is stored; the highest word, below 2^15 then, takes the carry.
 *
 * The square takes each product a[i] a[j], i < j, once, as a[i] d[j] with d = 2 a. For d to have 256 bits, a's bit 255 is taken
 * off before, as 19. Where there is one again, the rest is below 19: then d lacks its bit 256, which is 2^256 a, and a[0] comes
 * to column 8.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */

/* Frames, from r1: of b the words 7 to 3 in this order, or d[1] to d[4]; the columns 8 to 15, in whose place come the columns 0 to 7; the
 * result's address; of a square a. */
#define COPY 0
#define HIGH 20
#define R 52
#define FRAME 54

#define SQUARE_D 0
#define SQUARE_R 16
#define SQUARE_A 52
#define SQUARE_FRAME 84

#include "mpy32.inc"
#include "columns_mpy32.inc"
#include "x25519_field.inc"

/* Column k begins with 38 times the column 8 places above. */
.macro column_start k, carry
    mov #0, \carry
    .if \k < 8
    mov HIGH+4*\k(r1), &MPY32L
    mov HIGH+4*\k+2(r1), &MPY32H
    take_carry \carry
    second_operand #38, #0
    .endif
.endm

.macro column_finish k, x, y, z, carry, free
    column_end \x, \y, \z, \carry, HIGH+4*(\k%8)(r1), HIGH+4*(\k%8)+2(r1)
.endm

/* From r10, which comes to column 8, and r13 = a + 4 on; registers change their roles as column_end says. */
.macro upper_columns column
    clr r11
    clr r12
    \column 8, r10, r11, r12, r15
    \column 9, r12, r10, r15, r11
    \column 10, r15, r12, r11, r10
    \column 11, r11, r15, r10, r12
    \column 12, r10, r11, r12, r15
    \column 13, r12, r10, r15, r11
    \column 14, r15, r12, r11, r10
    mov r11, HIGH+28(r1)
    mov r15, HIGH+30(r1)
    sub #32, r13
.endm

.macro lower_columns column
    clr r10
    clr r11
    clr r12
    \column 0, r10, r11, r12, r15
    \column 1, r12, r10, r15, r11
    \column 2, r15, r12, r11, r10
    \column 3, r11, r15, r10, r12
    \column 4, r10, r11, r12, r15
    \column 5, r12, r10, r15, r11
    \column 6, r15, r12, r11, r10
    \column 7, r11, r15, r10, r12
.endm

/* z:y:x = 19 (2 z:y:x + bit 15 of top), the bit then cleared; z:y:x is below 2^36 before. Clobbers t, the multiplier. */
.macro take_top top, x, y, z, t
    rla \top
    rlc \x
    rlc \y
    rlc \z
    rra \top
    bic #0x8000, \top
    mov \x, &MPY32L
    mov \y, &MPY32H
    second_operand #19, #0
    times_19 \z, \t
    mov &RES0, \x
    mov &RES1, \y
    add &RES2, \z
.endm

/* The number in the frame, less what it has from bit 255 on, plus 19 times that and what the columns left above it in r12:r11:r10, to
 * r14. */
.macro fold_and_store
    mov HIGH+30(r1), r13
    take_top r13, r10, r11, r12, r15
    mov r13, HIGH+30(r1)
    mov r1, r13
    add #HIGH, r13
    add @r13+, r10
    mov r10, 0(r14)
    addc @r13+, r11
    mov r11, 2(r14)
    addc @r13+, r12
    mov r12, 4(r14)
    .irp index, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, r15
    adc r15
    mov r15, 2*\index(r14)
    .endr
.endm

/*
 * void ws_x25519_multiply(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11 to r15, the multiplier. 1,875 cycles, 70 bytes of stack.
 */
function ws_x25519_multiply
    save_r4_to_r10
    sub #FRAME, r1
    mov r12, R(r1)
    .irp word, r4, r5, r6, r7, r8, r9
    mov @r14+, \word
    .endr
    .irp index, 3, 4, 5, 6, 7
    mov @r14+, r10
    mov r10, COPY+4*(7-\index)(r1)
    mov @r14+, r10
    mov r10, COPY+4*(7-\index)+2(r1)
    .endr
    add #4, r13
    clr r10
    upper_columns multiply_column
    lower_columns multiply_column
    mov R(r1), r14
    fold_and_store
    add #FRAME, r1
    restore_r4_to_r10
    ret
end ws_x25519_multiply

/*
 * void ws_x25519_square(ws_x25519_element *r, const ws_x25519_element *a)
 * in: r12 r, r13 a; clobbers: r11 to r15, the multiplier. 1,483 cycles, 100 bytes of stack.
 */
function ws_x25519_square
    save_r4_to_r10
    sub #SQUARE_FRAME, r1
    mov r12, SQUARE_R(r1)
    mov 30(r13), r11
    rla r11
    subc r11, r11
    inv r11
    and #19, r11
    mov @r13+, r4
    add r11, r4
    .irp word, r5, r6, r7, r8, r9
    mov @r13+, \word
    adc \word
    .endr
    mov #0, r10
    adc r10
    .set offset, SQUARE_A
    .irp word, r4, r5, r6, r7, r8, r9
    mov \word, offset(r1)
    .set offset, offset+2
    .endr
    rla r4
    rlc r5
    rlc r6
    rlc r7
    rlc r8
    rlc r9
    bic #1, r6
    mov r6, SQUARE_D(r1)
    mov r7, SQUARE_D+2(r1)
    mov r8, SQUARE_D+4(r1)
    mov r9, SQUARE_D+6(r1)
    add @r13+, r10
    .irp word, r12, r14, r15, r4, r5, r6, r7, r8
    mov @r13+, \word
    adc \word
    .endr
    mov @r13+, r9
    bic #0x8000, r9
    adc r9
    .irp word, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    mov \word, offset(r1)
    .set offset, offset+2
    .endr
    mov SQUARE_A+10(r1), r13
    rla r13
    .irp word, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    rlc \word
    .endr
    subc r11, r11
    inv r11
    mov r10, SQUARE_D+8(r1)
    mov r12, SQUARE_D+10(r1)
    mov r14, SQUARE_D+12(r1)
    mov r15, SQUARE_D+14(r1)
    mov SQUARE_A(r1), r10
    and r11, r10
    mov r1, r13
    add #SQUARE_A+4, r13
    upper_columns square_column
    /* The lowest bits of d[5] to d[7], which the columns have cleared. */
    bit #0x8000, SQUARE_A+18(r1)
    adc r4
    bit #0x8000, SQUARE_A+22(r1)
    adc r6
    bit #0x8000, SQUARE_A+26(r1)
    adc r8
    lower_columns square_column
    mov SQUARE_R(r1), r14
    fold_and_store
    add #SQUARE_FRAME, r1
    restore_r4_to_r10
    ret
end ws_x25519_square

/* Column k of a product with 121665. */
.macro column_121665 k, x, y, z, carry
    column_begin
    mov #0, \carry
    first_operand \carry
    second_operand #0xdb41, #1
    column_end \x, \y, \z, \carry, 4*\k(r12), 4*\k+2(r12)
.endm

/*
 * void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a)
 * in: r12 r, r13 a; clobbers: r11, r13 to r15, the multiplier. 407 cycles, 4 bytes of stack.
 */
function ws_x25519_multiply_121665
    push r10
    clr r10
    clr r11
    clr r14
    column_121665 0, r10, r11, r14, r15
    column_121665 1, r14, r10, r15, r11
    column_121665 2, r15, r14, r11, r10
    column_121665 3, r11, r15, r10, r14
    column_121665 4, r10, r11, r14, r15
    column_121665 5, r14, r10, r15, r11
    column_121665 6, r15, r14, r11, r10
    column_121665 7, r11, r15, r10, r14
    mov 30(r12), r13
    take_top r13, r10, r11, r14, r15
    add_and_store_top r10, r11
    pop r10
    ret
end ws_x25519_multiply_121665
