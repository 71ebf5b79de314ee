/*
 * What a batch of division steps does to long numbers, for the MSP430, fast: the 16-bit registers of its
 * multiplier.
 *
 * Defines ws_division_apply and ws_division_apply_modulo (contract: division_steps.h). CPUX.
 *
 * Idea. A row of the transition times a column of digits is summed up by MACS in RESHI:RESLO, and what the digits
 * below have left comes into the sum as its product with 1, which extends its sign; or, where the modulus is
 * added, by RESHI:RESLO: there it can have 17 bits and the sign, 2^14 |u| + 2^14 |v| being up to 2^28 and how
 * often the modulus is added up to 2^15.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */
#include "function.inc"

#define MPY   0x04c0
#define MPYS  0x04c2
#define MACS  0x04c6
#define OP2   0x04c8
#define RESLO 0x04ca
#define RESHI 0x04cc

.macro product a, b
    mov \a, &MPYS
    mov \b, &OP2
.endm
.macro add_product a, b
    mov \a, &MACS
    mov \b, &OP2
.endm

/* The sum's lowest digit, to offset(r12). low: the sum's low word, then. digit: scratch. */
.macro take_digit offset, digit, low
    mov &RESLO, \low
    mov \low, \digit
    and #0x3fff, \digit
    mov \digit, \offset(r12)
.endm

/* carry = the sum / 2^14, which has 16 bits. low: the sum's low word, scratch. */
.macro take_carry carry, low
    mov &RESHI, \carry
    rla \low
    rlc \carry
    rla \low
    rlc \carry
.endm

/* The same where it has 18, in top and carry: bit 31 extended, and bit 30, are top. */
.macro take_wide_carry carry, top, low
    mov &RESHI, \carry
    rla \low
    rlc \carry
    subc \top, \top
    inv \top
    rla \low
    rlc \carry
    rlc \top
.endm

/*
 * void ws_division_apply(ws_digits *fg, const ws_transition *step, uint8_t digits)
 * in: r12 fg, r13 step, r14 digits, at least 2; clobbers: r11 to r15, the multiplier. 75 digits + 19 cycles, 16
 * bytes of stack.
 */
function ws_division_apply
    save_r4_to_r10
    mov.b r14, r14
    .irp word, r4, r5, r6, r7
    mov @r13+, \word
    .endr
    mov @r12+, r10
    mov @r12+, r11
    product r4, r10
    add_product r5, r11
    mov &RESLO, r15
    take_carry r8, r15
    product r6, r10
    add_product r7, r11
    mov &RESLO, r15
    take_carry r9, r15
    jmp 2f
1:  mov @r12+, r10
    mov @r12+, r11
    product #1, r8
    add_product r4, r10
    add_product r5, r11
    take_digit -8, r8, r15
    take_carry r8, r15
    product #1, r9
    add_product r6, r10
    add_product r7, r11
    take_digit -6, r9, r15
    take_carry r9, r15
2:  dec r14
    jnz 1b
    mov r8, -4(r12)
    mov r9, -2(r12)
    restore_r4_to_r10
    ret
end ws_division_apply

/* The sum = a row of the transition times the lowest digits of d and e. */
.macro lowest_product a, b
    product @r12, \a
    add_product 2(r12), \b
.endm

/* Subtracts from times what the lowest digit of the sum + times modulus is divided by the modulus, modulo 2^14. */
.macro clear_lowest times
    mov &RESLO, r10
    mov r15, &MPY
    mov r10, &OP2
    mov &RESLO, r10
    add \times, r10
    and #0x3fff, r10
    sub r10, \times
.endm

/*
 * void ws_division_apply_modulo(ws_digits *de, const ws_transition *step, const ws_digit *modulus,
 *                               ws_unsigned_digit inverse, uint8_t digits)
 * in: r12 de, r13 step, r14 modulus, r15 inverse, digits on the stack, at least 2; clobbers: r11 to r15, the
 * multiplier. 104 digits + 101 cycles, 20 bytes of stack.
 */
function ws_division_apply_modulo
    save_r4_to_r10
    .irp word, r4, r5, r6, r7
    mov @r13+, \word
    .endr
    mov.b 16(r1), r13
    dec r13
    rla r13
    rla r13
    add r12, r13
    push r13

    /* r8, r9: how often the modulus is added: once for a negative d and for a negative e, ... */
    mov @r13, r10
    rla r10
    subc r10, r10
    mov 2(r13), r11
    rla r11
    subc r11, r11
    mov r4, r8
    bic r10, r8
    mov r5, r13
    bic r11, r13
    add r13, r8
    mov r6, r9
    bic r10, r9
    mov r7, r13
    bic r11, r13
    add r13, r9
    /* ... and so often that the lowest digit becomes 0. */
    lowest_product r4, r5
    clear_lowest r8
    lowest_product r6, r7
    clear_lowest r9
    push r9
    lowest_product r4, r5
    add_product @r14, r8
    mov &RESLO, r13
    take_wide_carry r10, r11, r13
    lowest_product r6, r7
    add_product @r14, r9
    mov &RESLO, r13
    take_wide_carry r9, r15, r13

1:  incd r14
    mov r10, &RESLO
    mov r11, &RESHI
    add_product 4(r12), r4
    add_product 6(r12), r5
    add_product @r14, r8
    take_digit 0, r10, r13
    take_wide_carry r10, r11, r13
    mov r9, &RESLO
    mov r15, &RESHI
    add_product 4(r12), r6
    add_product 6(r12), r7
    add_product @r14, @r1
    take_digit 2, r9, r13
    take_wide_carry r9, r15, r13
    add #4, r12
    cmp 2(r1), r12
    jne 1b
    mov r10, 0(r12)
    mov r9, 2(r12)
    add #4, r1
    restore_r4_to_r10
    ret
end ws_division_apply_modulo
