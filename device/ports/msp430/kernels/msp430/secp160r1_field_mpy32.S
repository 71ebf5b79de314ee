/*
 * Arithmetic modulo p = 2^160 - 2^31 - 1, the prime of secp160r1, for the MSP430 with its 32-bit multiplier,
 * MPY32.
 *
 * Defines ws_secp160r1_multiply, ws_secp160r1_square, ws_secp160r1_add and ws_secp160r1_subtract (contract:
 * secp160r1_field.h). CPUX.
 *
 * Idea. The product is formed column by column (mpy32.inc), columns 5 to 8 first: with their words as h, and c =
 * 2^31 + 1 = 2^160 modulo p, h[k] c is one more product in column k, for k from 0 to 4. What these columns leave,
 * o, is below 2^36. (o + 1) c is added to their words: that is the result less p if it overflows 2^160; otherwise
 * c is subtracted again.
 *
 * The square takes each product a[i] a[j], i < j, once, as a[i] d[j] with d = 2 a. For d to have 160 bits, p - a
 * is squared where a has 160 itself. Bit 0 of d[j] is the highest of a[j - 1]; where a[j - 1] is the factor it is
 * not part of what is multiplied, the words above, and is cleared.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */

/* Frames, from r1: the words of columns 0 to 4, h, the result's address; for the square also d[1], and a or p - a. */
#define LOW 0
#define H 20
#define R 40
#define FRAME 42
#define SQUARE_D1 42
#define SQUARE_A 46
#define SQUARE_FRAME 66

#include "mpy32.inc"
#include "secp160r1_field.inc"

/* Column k ends, for k below 5 with h[k] c. */
.macro column_with_h_end k, x, y, z, carry
    .if \k < 5
    mov H+4*\k(r1), &MAC32L
    mov H+4*\k+2(r1), &MAC32H
    take_carry \carry
    second_operand #1, #0x8000
    column_end \x, \y, \z, \carry, LOW+4*\k(r1), LOW+4*\k+2(r1)
    .else
    column_end \x, \y, \z, \carry, H+4*(\k-5)(r1), H+4*(\k-5)+2(r1)
    .endif
.endm

/* All columns; registers change their roles as column_end says. Leaves o in r15:r10:r12. */
.macro columns column
    .irp word, r10, r11, r12
    clr \word
    .endr
    \column 5, r10, r11, r12, r15
    \column 6, r12, r10, r15, r11
    \column 7, r15, r12, r11, r10
    \column 8, r11, r15, r10, r12
    mov r10, H+16(r1)
    mov r11, H+18(r1)
    .irp word, r10, r11, r12
    clr \word
    .endr
    \column 0, r10, r11, r12, r15
    \column 1, r12, r10, r15, r11
    \column 2, r15, r12, r11, r10
    \column 3, r11, r15, r10, r12
    \column 4, r10, r11, r12, r15
.endm

/*
 * Column k: r13 at the lowest word of a in it, and goes on to the next column's; r14 at b[3]. b[2]:b[1]:b[0] in r9
 * to r4.
 */
.macro multiply_column k, x, y, z, carry
    column_begin
    clr \carry
    .if \k < 5
    .set first, 0
    .set last, \k
    .else
    .set first, \k-4
    .set last, 4
    .endif
    .set j, last
    .rept last - first + 1
    first_operand \carry
    .if j == 4
    second_operand 4(r14), 6(r14)
    .elseif j == 3
    second_operand @r14, 2(r14)
    .elseif j == 2
    second_operand r8, r9
    .elseif j == 1
    second_operand r6, r7
    .else
    second_operand r4, r5
    .endif
    .set j, j - 1
    .endr
    .if \k < 4
    sub #4*(\k+1), r13
    .elseif \k > 4 && \k < 8
    sub #4*(8-\k), r13
    .elseif \k == 8
    sub #20, r13
    .endif
    column_with_h_end \k, \x, \y, \z, \carry
.endm

/*
 * void ws_secp160r1_multiply(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11 to r15, the multiplier. 871 cycles, 58 bytes of stack.
 */
function ws_secp160r1_multiply
    save_r4_to_r10
    sub #FRAME, r1
    mov r12, R(r1)
    .irp word, r4, r5, r6, r7, r8, r9
    mov @r14+, \word
    .endr
    add #4, r13
    columns multiply_column
    reduce
    add #FRAME-20, r1
    restore_r4_to_r10
    ret
end ws_secp160r1_multiply

/* The second operand d[j], for the first a[i]. */
.macro double_operand low, high
    .if j == i+1 && j > 1
    mov \low, r14
    bic #1, r14
    second_operand r14, \high
    .else
    second_operand \low, \high
    .endif
.endm

/*
 * Column k: r13 at the lowest word of a in it, and goes on to the next column's. d[4]:d[3]:d[2] in r9 to r4.
 */
.macro square_column k, x, y, z, carry
    column_begin
    clr \carry
    .if \k < 5
    .set i, 0
    .else
    .set i, \k-4
    .endif
    .rept (\k+1)/2 - i
    first_operand \carry
    .set j, \k-i
    .if j == 4
    double_operand r8, r9
    .elseif j == 3
    double_operand r6, r7
    .elseif j == 2
    double_operand r4, r5
    .else
    double_operand SQUARE_D1(r1), SQUARE_D1+2(r1)
    .endif
    .set i, i+1
    .endr
    .if \k % 2 == 0
    square_operands \carry
    .endif
    .if \k < 4 || \k == 8
    sub #4*(\k/2+1), r13
    .elseif \k == 5 || \k == 6
    sub #4, r13
    .endif
    column_with_h_end \k, \x, \y, \z, \carry
.endm

/*
 * void ws_secp160r1_square(ws_secp160r1_element *r, const ws_secp160r1_element *a)
 * in: r12 r, r13 a; clobbers: r11 to r15, the multiplier. 773 cycles, 82 bytes of stack.
 */
function ws_secp160r1_square
    save_r4_to_r10
    sub #SQUARE_FRAME, r1
    mov r12, R(r1)
    mov 18(r13), r11
    rla r11
    subc r11, r11
    inv r11
    .irp word, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    mov @r13+, \word
    xor r11, \word
    .endr
    and #0x8000, r11
    sub r11, r12
    .irp word, r14, r15, r4, r5, r6, r7, r8, r9
    sbc \word
    .endr
    mov r1, r13
    add #SQUARE_A, r13
    store r13, r10, r12, r14, r15, r4, r5, r6, r7, r8, r9
    rla r10
    .irp word, r12, r14, r15, r4, r5, r6, r7, r8, r9
    rlc \word
    .endr
    bic #1, r14
    mov r14, SQUARE_D1(r1)
    mov r15, SQUARE_D1+2(r1)
    add #4, r13
    columns square_column
    reduce
    add #SQUARE_FRAME-20, r1
    restore_r4_to_r10
    ret
end ws_secp160r1_square
