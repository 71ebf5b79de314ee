/*
 * What a batch of division steps does to long numbers, for the MSP430 without its multiplier.
 *
 * Defines ws_division_apply and ws_division_apply_modulo (contract: division_steps.h). CPUX.
 *
 * Idea. A row of the transition times a column of digits, u f + v g, is made by shift and add, both products at
 * once: a bit of f adds u to a register, a bit of g adds v, and the register is shifted right by one bit, into the
 * word from which the bits of f come. After 14 bits that word has a digit, and the register what is left for the
 * next, from which the next row begins.
 *
 * A bit, in the carry, becomes a mask by a subtraction with borrow: 0 if it is 1, all ones if it is 0. With the
 * bits of -u set in it, SUBC, which adds the complement of its source and the carry, adds u or nothing.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */
#include "function.inc"

/* The frame of ws_division_apply_modulo, from r1: how often the modulus is added to d and e; what its product's digits
 * below have left; the digit of its product; inverse; the addresses of the lowest and the highest digits; what the sum of
 * two digits carries. */
#define D_TIMES 0
#define E_TIMES 2
#define D_CARRY 4
#define E_CARRY 6
#define D_DIGIT 8
#define E_DIGIT 10
#define INVERSE 12
#define LOWEST 14
#define HIGHEST 16
#define D_BIT 18
#define E_BIT 20
#define FRAME 22

/* sum = sum + a, if the carry is set: minus_a is -a, mask scratch. Leaves the carry undefined. */
.macro add_if minus_a, sum, mask
    subc \mask, \mask
    bis \minus_a, \mask
    subc \mask, \sum
.endm

/*
 * first: the lowest 14 bits of sum + a first + b second, of both the lowest 14 bits; sum: what is above. second,
 * mask: scratch. From 0 on, with |a| + |b| up to 2^14, what is above is at least -2^14 and below 2^14, and the sum
 * has 16 bits.
 */
.macro row minus_a, minus_b, sum, first, second, mask
    clrc
    rrc \first
    .rept 14
    add_if \minus_a, \sum, \mask
    rrc \second
    add_if \minus_b, \sum, \mask
    rra \sum
    rrc \first
    .endr
    rrc \first
    rrc \first
    and #0x3fff, \first
.endm

/*
 * Both rows.
 * in: r4 to r7 -u, -v, -q, -r; r8, r9 what was left; r12 at digits. out: r10, r11 digits; r8, r9. clobbers: r14,
 * r15.
 */
    .section .text.ws_division_rows, "ax", @progbits
    .p2align 1
    .type rows, @function
rows:
    mov @r12, r10
    mov 2(r12), r14
    row r4, r5, r8, r10, r14, r15
    mov @r12, r11
    mov 2(r12), r14
    row r6, r7, r9, r11, r14, r15
    ret
    .size rows, . - rows

/*
 * in: r10 a signed factor; r15 minus the other one, of 14 bits; r11 what was left. out: r14 the lowest 14 bits of
 * the product + r11; r11 what is above. clobbers: r10.
 */
    .section .text.ws_division_product, "ax", @progbits
    .p2align 1
    .type product, @function
product:
    rrc r10
    .rept 15
    add_if r15, r11, r14
    rra r11
    rrc r10
    .endr
    /* The sign's bit counts as a negative one. */
    subc r14, r14
    inv r14
    and r15, r14
    add r14, r11
    rra r11
    rrc r10
    mov r10, r14
    and #0x3fff, r14
    rla r10
    rlc r11
    rla r10
    rlc r11
    ret
    .size product, . - product

/* r4 to r7 = -u, -v, -q, -r of the transition at r13. */
.macro load_transition
    .irp word, r4, r5, r6, r7
    mov @r13+, \word
    inv \word
    inc \word
    .endr
.endm

/* address: of the highest of digits, a byte, r12 being at the lowest. */
.macro highest address
    dec \address
    rla \address
    rla \address
    add r12, \address
.endm

/* to1 = to1 + a1, to2 = to2 + a2 if the number at address, offset bytes on, is negative. t, mask: scratch. */
.macro add_if_negative offset, address, a1, to1, a2, to2, t, mask
    mov \offset(\address), \mask
    rla \mask
    subc \mask, \mask
    mov \a1, \t
    bic \mask, \t
    add \t, \to1
    mov \a2, \t
    bic \mask, \t
    add \t, \to2
.endm

/*
 * The highest digits, r8 and r9, to r12, where they are until then: what their signs count has not been in the
 * products.
 */
.macro add_signs
    add_if_negative 0, r12, r4, r8, r6, r9, r10, r11
    add_if_negative 2, r12, r5, r8, r7, r9, r10, r11
.endm

/*
 * void ws_division_apply(ws_digits *fg, const ws_transition *step, uint8_t digits)
 * in: r12 fg, r13 step, r14 digits, at least 2; clobbers: r11 to r15. 293 digits + 70 cycles, 20 bytes of stack.
 */
function ws_division_apply
    save_r4_to_r10
    mov.b r14, r14
    highest r14
    push r14
    load_transition
    clr r8
    clr r9
    call #rows
1:  add #4, r12
    call #rows
    mov r10, -4(r12)
    mov r11, -2(r12)
    cmp @r1, r12
    jne 1b
    add_signs
    mov r8, 0(r12)
    mov r9, 2(r12)
    incd r1
    restore_r4_to_r10
    ret
end ws_division_apply

/* times, in the frame: minus that; and how often the modulus is added for the lowest digit, in the frame, to be 0. */
.macro complete_times times, digit
    mov \digit(r1), r15
    inv r15
    inc r15
    mov INVERSE(r1), r10
    clr r11
    call #product
    sub \times(r1), r14
    and #0x3fff, r14
    add \times(r1), r14
    inv r14
    inc r14
    mov r14, \times(r1)
.endm

/* digit, carry: those of the modulus's digit at r13, times that often. */
.macro multiply_modulus times, carry, digit
    mov @r13, r15
    inv r15
    inc r15
    mov \times(r1), r10
    mov \carry(r1), r11
    call #product
    mov r11, \carry(r1)
    mov r14, \digit(r1)
.endm

/* Adds that digit and bit to a row's digit; bit: what is carried. It is not left to the next row, whose sum has no room. */
.macro add_digit digit, bit, sum
    add \digit(r1), \sum
    add \bit(r1), \sum
    mov #0, \bit(r1)
    bit #0x4000, \sum
    adc \bit(r1)
    and #0x3fff, \sum
.endm

/*
 * void ws_division_apply_modulo(ws_digits *de, const ws_transition *step, const ws_digit *modulus,
 *                               ws_unsigned_digit inverse, uint8_t digits)
 * in: r12 de, r13 step, r14 modulus, r15 inverse, digits on the stack, at least 2; clobbers: r11 to r15. 562
 * digits + 665 cycles, 40 bytes of stack.
 */
function ws_division_apply_modulo
    save_r4_to_r10
    load_transition
    mov.b 16(r1), r13
    highest r13
    sub #FRAME, r1
    mov r12, LOWEST(r1)
    mov r13, HIGHEST(r1)
    mov r15, INVERSE(r1)
    mov r14, D_CARRY(r1)

    /* Once for a negative d and for a negative e, ... */
    clr r8
    clr r9
    add_if_negative 0, r13, r4, r8, r6, r9, r10, r11
    add_if_negative 2, r13, r5, r8, r7, r9, r10, r11
    mov r8, D_TIMES(r1)
    mov r9, E_TIMES(r1)
    /* ... and so often that the lowest digit becomes 0. */
    clr r8
    clr r9
    call #rows
    mov r10, D_DIGIT(r1)
    mov r11, E_DIGIT(r1)
    complete_times D_TIMES, D_DIGIT
    complete_times E_TIMES, E_DIGIT

    mov D_CARRY(r1), r13
    clr D_CARRY(r1)
    clr E_CARRY(r1)
    clr D_BIT(r1)
    clr E_BIT(r1)
    clr r8
    clr r9
1:  multiply_modulus D_TIMES, D_CARRY, D_DIGIT
    multiply_modulus E_TIMES, E_CARRY, E_DIGIT
    call #rows
    add_digit D_DIGIT, D_BIT, r10
    add_digit E_DIGIT, E_BIT, r11
    cmp LOWEST(r1), r12
    jeq 2f
    mov r10, -4(r12)
    mov r11, -2(r12)
    cmp HIGHEST(r1), r12
    jeq 3f
2:  incd r13
    add #4, r12
    jmp 1b
3:  add_signs
    add D_CARRY(r1), r8
    add E_CARRY(r1), r9
    add D_BIT(r1), r8
    add E_BIT(r1), r9
    mov r8, 0(r12)
    mov r9, 2(r12)
    add #FRAME, r1
    restore_r4_to_r10
    ret
end ws_division_apply_modulo
