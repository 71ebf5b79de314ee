/*
 * Montgomery's product for every modulus, for the MSP430 with its 32-bit multiplier, MPY32.
 *
 * Defines ws_modular_multiply (contract: modular.h). CPUX.
 *
 * Idea. For each word of 32 bits of a: t = t + word b; then t = (t + c m) / 2^32 with c = -t / m modulo 2^32. The
 * word and c stay the multiplier's first operand throughout their row.
 *
 * Constant time: yes for a given modulus: no branch and no address depends on the numbers.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */
#include "function.inc"
#include "mpy32.inc"

/* The frame, from r1: a word below t; t, up to eight words; the 0 or 1 above them; what else there is. */
#define BELOW 0
#define T 4
#define TOP 36
#define R 38
#define B 40
#define MODULUS 42
#define WORDS 44
#define INVERSE 46
#define ROWS 50
#define FRAME 52

/* The multiplier's first operand times the word at r14, which goes on, + r5:r4. Leaves the upper half in r7:r6. */
.macro row_product
    second_operand_from_r14
    add &RES0, r4
    addc &RES1, r5
    mov &RES2, r6
    adc r6
    mov &RES3, r7
    adc r7
.endm

/*
 * void ws_modular_multiply(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m)
 * in: r12 r, r13 a, r14 b, r15 m; clobbers: r11 to r15, the multiplier. 2,947, 3,968 and 6,472 cycles for 20, 24
 * and 32 bytes and 118 bytes of stack, ws_limbs_reduce_once as the fast variant compiles it included.
 */
function ws_modular_multiply
    save_r4_to_r10
    sub #FRAME, r1
    mov r12, R(r1)
    mov r14, B(r1)
    mov.b @r15, r12
    rra r12
    rra r12
    mov r12, WORDS(r1)
    mov r12, ROWS(r1)
    mov 4(r15), MODULUS(r1)
    mov 8(r15), INVERSE(r1)
    mov 10(r15), INVERSE+2(r1)
    mov r1, r15
    add #T, r15
1:  clr 0(r15)
    clr 2(r15)
    add #4, r15
    dec r12
    jnz 1b
    clr TOP(r1)

2:  move_from_r13 MPY32L
    move_from_r13 MPY32H
    mov B(r1), r14
    mov r1, r15
    add #T, r15
    mov WORDS(r1), r12
    clr r4
    clr r5
3:  row_product
    add r4, 0(r15)
    addc r5, 2(r15)
    adc r6
    adc r7
    mov r6, r4
    mov r7, r5
    add #4, r15
    dec r12
    jnz 3b
    /* r10:r9:r8 is above t. */
    mov r4, r8
    mov r5, r9
    clr r10
    add TOP(r1), r8
    adc r9
    adc r10

    mov T(r1), &MPY32L
    mov T+2(r1), &MPY32H
    second_operand INVERSE(r1), INVERSE+2(r1)
    mov &RES0, r4
    mov &RES1, r5
    mov r4, &MPY32L
    mov r5, &MPY32H
    mov MODULUS(r1), r14
    mov r1, r15
    add #T, r15
    mov WORDS(r1), r12
    clr r4
    clr r5
4:  row_product
    add @r15+, r4
    addc @r15+, r5
    adc r6
    adc r7
    mov r4, -8(r15)
    mov r5, -6(r15)
    mov r6, r4
    mov r7, r5
    dec r12
    jnz 4b
    add r8, r4
    addc r9, r5
    adc r10
    mov r4, -4(r15)
    mov r5, -2(r15)
    mov r10, TOP(r1)
    sub #1, ROWS(r1)
    jnz 2b

    mov R(r1), r12
    mov r1, r13
    add #T, r13
    mov TOP(r1), r14
    mov MODULUS(r1), r15
    mov WORDS(r1), r11
    rla r11
    push r11
    call #ws_limbs_reduce_once
    add #FRAME+2, r1
    restore_r4_to_r10
    ret
end ws_modular_multiply
