/*
 * Arithmetic modulo the prime of P-256 for the MSP430 with its 32-bit multiplier, MPY32.
 *
 * Defines ws_p256_multiply, ws_p256_square, ws_p256_add and ws_p256_subtract (contract: p256_field.h). CPUX.
 *
 * Idea. The product is formed column by column (mpy32.inc), and Montgomery's reduction, which needs no
 * multiplication, is part of the columns (p256_field.inc).
 *
 * r may be a: a word of the result is stored when the word of a in its place is no longer needed; b is in
 * registers and in the frame.
 *
 * The square takes each product a[i] a[j], i < j, once, as a[i] d[j] with d = 2 a. For d to have 256 bits, p - a
 * is squared where a has 256 itself. Bit 0 of d[j] is the highest of a[j - 1]; where a[j - 1] is the factor it is
 * not part of what is multiplied, the words above, and is cleared.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */

/* Frames, from r1: m, the result's address, and of b the words 7 to 3 in this order, or d[1] to d[4] and a or p - a. */
#define COPY 0
#define M 20
#define R 52
#define FRAME 54

#define SQUARE_D 0
#define SQUARE_R 16
#define SQUARE_A 52
#define SQUARE_FRAME 84

#include "mpy32.inc"
#include "columns_mpy32.inc"
#include "p256_field.inc"

.macro column_start k, carry
    set_to_bias (\k+1), \carry
.endm

/* The end of column k: a word of m, or of the result, whose address comes into `result` with column 8. */
.macro column_finish k, x, y, z, carry, result
    reduction \k, \x, \y, \z
    .if \k < 8
    column_end \x, \y, \z, \carry, M+4*\k(r1), M+4*\k+2(r1)
    .else
    .if \k == 8
    mov RESULT(r1), \result
    .endif
    column_end \x, \y, \z, \carry, 4*(\k-8)(\result), 4*(\k-8)+2(\result)
    .endif
.endm

/* All columns; registers change their roles as column_end says. */
.macro columns column
    \column 0, r10, r11, r12, r15
    \column 1, r12, r10, r15, r11
    \column 2, r15, r12, r11, r10
    \column 3, r11, r15, r10, r12
    \column 4, r10, r11, r12, r15
    \column 5, r12, r10, r15, r11
    \column 6, r15, r12, r11, r10
    \column 7, r11, r15, r10, r12
    \column 8, r10, r11, r12, r15
    \column 9, r12, r10, r15, r11
    \column 10, r15, r12, r11, r10
    \column 11, r11, r15, r10, r12
    \column 12, r10, r11, r12, r15
    \column 13, r12, r10, r15, r11
    \column 14, r15, r12, r11, r10
.endm

/* Column 15, without products: z is -1 if the result less p is negative, else 0. */
.macro last_column result, x, y, z, t
    reduction 15, \x, \y, \z
    add_p \z, \result, \x, \y, \t
.endm

/*
 * void ws_p256_multiply(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11 to r15, the multiplier. 1,880 cycles, 70 bytes of stack.
 */
function ws_p256_multiply
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
    clr r10
    clr r11
    clr r12
    .set RESULT, R
    columns multiply_column
    last_column r4, r11, r15, r10, r12
    add #FRAME, r1
    restore_r4_to_r10
    ret
end ws_p256_multiply

#ifdef SQUARE_IS_PRODUCT
/*
 * void ws_p256_square(ws_p256_element *r, const ws_p256_element *a)
 * in: r12 r, r13 a; clobbers: r11 to r15, the multiplier. 4 cycles more than a product, and its stack.
 */
function ws_p256_square
    mov r13, r14
    br #ws_p256_multiply
end ws_p256_square
#else
/*
 * void ws_p256_square(ws_p256_element *r, const ws_p256_element *a)
 * in: r12 r, r13 a; clobbers: r11 to r15, the multiplier. 1,477 cycles, 100 bytes of stack.
 */
function ws_p256_square
    save_r4_to_r10
    sub #SQUARE_FRAME, r1
    mov r12, SQUARE_R(r1)
    mov 30(r13), r11
    rla r11
    subc r11, r11
    inv r11
    .set offset, SQUARE_A
    .irp word, r4, r5, r6, r7, r8, r9
    mov @r13+, \word
    xor r11, \word
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
    .irp word, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    mov @r13+, \word
    xor r11, \word
    .endr
    mov r11, r13
    and #1, r13
    add r13, r10
    adc r12
    adc r14
    adc r15
    adc r4
    adc r5
    addc r13, r6
    adc r7
    addc r11, r8
    addc r11, r9
    .irp word, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    mov \word, offset(r1)
    .set offset, offset+2
    .endr
    mov SQUARE_A+10(r1), r13
    rla r13
    .irp word, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    rlc \word
    .endr
    mov r10, SQUARE_D+8(r1)
    mov r12, SQUARE_D+10(r1)
    mov r14, SQUARE_D+12(r1)
    mov r15, SQUARE_D+14(r1)
    mov r1, r13
    add #SQUARE_A, r13
    clr r10
    clr r11
    clr r12
    .set RESULT, SQUARE_R
    columns square_column
    last_column r14, r11, r15, r10, r12
    add #SQUARE_FRAME, r1
    restore_r4_to_r10
    ret
end ws_p256_square
#endif
