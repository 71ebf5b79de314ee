/*
 * The number-theoretic transform of ML-DSA for the MSP430 with its 32-bit multiplier, MPY32 (FIPS 204 section 7.5; contracts:
 * ml_dsa_polynomial.h).
 *
 * Defines ws_ml_dsa_ntt, ws_ml_dsa_inverse_ntt, ws_ml_dsa_accumulate. CPUX.
 *
 * Idea. Montgomery's product with a factor z is three products of the multiplier: a z, of 64 bits; the lower half of that times 1/q modulo
 * 2^32, t; and t q, the upper half of which is taken from that of a z, because the lower ones are equal. It is between -q and q.
 *
 * How large coefficients get. Forward: q more in each of the eight layers. Backward: sums double; from 3/4 q on eight layers give 192 q,
 * below 2^31. They are reduced at the beginning.
 *
 * Constant time: yes: no branch and no address depends on a coefficient.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 */
#include "function.inc"
#include "mpy32.inc"

#define MPYS32L 0x04d4
#define MPYS32H 0x04d6

/* 1/q modulo 2^32 is in r9:r8, q in r11:r10. */
.macro constants
    mov #0x2001, r8
    mov #0x0380, r9
    mov #0xe001, r10
    mov #0x007f, r11
.endm

/* r7:r6 = the multiplier's first operand times its second one, which was just given, / 2^32. Reads what is at r12 into r5:r4 while it
 * waits for the last product. */
.macro montgomery
    mov &RES0, r4
    mov &RES1, r5
    mov &RES2, r6
    mov &RES3, r7
    mov r4, &MPY32L
    mov r5, &MPY32H
    second_operand r8, r9
    mov &RES0, r4
    mov &RES1, r5
    mov r4, &MPYS32L
    mov r5, &MPYS32H
    second_operand r10, r11
    mov @r12, r4
    mov 2(r12), r5
    sub &RES2, r6
    subc &RES3, r7
.endm

/* The frame of both transforms, from r1: where the low half of a block ends; where the polynomial ends; the next factor; half a block in bytes. */
#define MIDDLE 0
#define END 2
#define FACTOR 4
#define HALF 6
#define FRAME 8

/*
 * void ws_ml_dsa_ntt(int32_t r[256])
 * in: r12; clobbers: r11 to r15, the multiplier.
 */
function ws_ml_dsa_ntt
    save_r4_to_r10
    sub #FRAME, r1
    constants
    mov r12, END(r1)
    add #1024, END(r1)
    mov #ws_ml_dsa_zetas+4, FACTOR(r1)
    mov #512, HALF(r1)
1:  mov r12, r13
    add HALF(r1), r13
    mov r13, MIDDLE(r1)
    mov FACTOR(r1), r4
    mov @r4+, r14
    mov @r4+, r15
    mov r4, FACTOR(r1)
2:  mov @r13, &MPYS32L
    mov 2(r13), &MPYS32H
    second_operand r14, r15
    montgomery
    add r6, 0(r12)
    addc r7, 2(r12)
    sub r6, r4
    subc r7, r5
    mov r4, 0(r13)
    mov r5, 2(r13)
    add #4, r12
    add #4, r13
    cmp MIDDLE(r1), r12
    jne 2b
    mov r13, r12
    cmp END(r1), r12
    jne 1b
    sub #1024, r12
    clrc
    rrc HALF(r1)
    cmp #2, HALF(r1)
    jne 1b
    add #FRAME, r1
    restore_r4_to_r10
    ret
end ws_ml_dsa_ntt

/*
 * void ws_ml_dsa_inverse_ntt(int32_t r[256])
 * in: r12; clobbers: r11 to r15, the multiplier.
 */
function ws_ml_dsa_inverse_ntt
    save_r4_to_r10
    sub #FRAME, r1
    constants
    mov r12, END(r1)
    add #1024, END(r1)
    /* a - t q, t = (a + 2^22) / 2^23: t 2^23 is what is above these bits of the sum, t 2^13 three places below t 2^16. */
1:  mov @r12, r4
    mov 2(r12), r5
    mov r5, r6
    add #0x40, r6
    mov r6, r7
    and #0xff80, r7
    sub r7, r5
    rla r6
    swpb r6
    sxt r6
    mov r6, r7
    clr r14
    rra r7
    rrc r14
    rra r7
    rrc r14
    rra r7
    rrc r14
    add r14, r4
    addc r7, r5
    mov r6, r7
    swpb r7
    sxt r7
    sub r6, r4
    subc r7, r5
    mov r4, 0(r12)
    mov r5, 2(r12)
    add #4, r12
    cmp END(r1), r12
    jne 1b
    sub #1024, r12

    mov #ws_ml_dsa_zetas+1020, FACTOR(r1)
    mov #4, HALF(r1)
1:  mov r12, r13
    add HALF(r1), r13
    mov r13, MIDDLE(r1)
    mov FACTOR(r1), r4
    mov @r4, r14
    mov 2(r4), r15
    sub #4, FACTOR(r1)
2:  mov @r12, r4
    mov 2(r12), r5
    mov @r13, r6
    mov 2(r13), r7
    add r6, 0(r12)
    addc r7, 2(r12)
    sub r4, r6
    subc r5, r7
    mov r6, &MPYS32L
    mov r7, &MPYS32H
    second_operand r14, r15
    montgomery
    mov r6, 0(r13)
    mov r7, 2(r13)
    add #4, r12
    add #4, r13
    cmp MIDDLE(r1), r12
    jne 2b
    mov r13, r12
    cmp END(r1), r12
    jne 1b
    sub #1024, r12
    rla HALF(r1)
    cmp #1024, HALF(r1)
    jne 1b

    /* 2^64 / 256 modulo q. */
    mov #41978, r14
    clr r15
1:  mov @r12, &MPYS32L
    mov 2(r12), &MPYS32H
    second_operand r14, r15
    montgomery
    mov r6, 0(r12)
    mov r7, 2(r12)
    add #4, r12
    cmp END(r1), r12
    jne 1b
    add #FRAME, r1
    restore_r4_to_r10
    ret
end ws_ml_dsa_inverse_ntt

/*
 * void ws_ml_dsa_accumulate(int32_t *sum, const int32_t *a, const int32_t *b, uint8_t count)
 * in: r12, r13, r14, r15; clobbers: r11 to r15, the multiplier.
 */
function ws_ml_dsa_accumulate
    save_r4_to_r10
    constants
    tst.b r15
    jz 2f
1:  mov @r14, &MPYS32L
    mov 2(r14), &MPYS32H
    move_from_r13 OP2L
    move_from_r13 OP2H
    montgomery
    add r6, 0(r12)
    addc r7, 2(r12)
    add #4, r12
    add #4, r14
    dec.b r15
    jnz 1b
2:  restore_r4_to_r10
    ret
end ws_ml_dsa_accumulate
