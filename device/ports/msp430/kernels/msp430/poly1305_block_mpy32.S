/*
 * A block of Poly1305 for the MSP430 with its 32-bit multiplier, MPY32: ws_poly1305_block
 * (contract: poly1305_block.h). CPUX.
 *
 * Idea. With h the sum and the block in words of 32 bits, h[4] the bits above, and s[i] = 5 r[i] /
 * 4, which is 2^128 r[i], since the key has r[1] to r[3] divisible by 4, the columns of the product
 * are
 *     h[0] r[0] + h[1] s[3] + h[2] s[2] + h[3] s[1]
 *     h[0] r[1] + h[1] r[0] + h[2] s[3] + h[3] s[2] + h[4] s[1]
 *     h[0] r[2] + h[1] r[1] + h[2] r[0] + h[3] s[3] + h[4] s[2]
 *     h[0] r[3] + h[1] r[2] + h[2] r[1] + h[3] r[0] + h[4] s[3]
 *     h[4] r[0]
 * So r[3], r[2], r[1], r[0], s[3], s[2], s[1] lie in a row, and each column begins a word before
 * the one before. r and s are below 2^29: no column of MAC32 carries out of 64 bits, and what is
 * above bit 127 in the end has 32.
 *
 * Constant time: yes: no branch and no address depends on data. What it computes lies in ctx, which
 * ws_poly1305_finish wipes.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208,
 * "Using Interrupts" of the MPY32 chapter).
 */

#include "mpy32.inc"
#include "function.inc"

/* Of ws_poly1305_ctx: poly1305.h. The row is in product. */
#define FACTOR 0
#define SUM 32
#define ROW 50

/* The word of 32 bits in r5:r4 divided by 4; it is below 2^31. */
.macro quarter
    rra r5
    rrc r4
    rra r5
    rrc r4
.endm

/* s of the word high:low to the row. */
.macro store_s index, low, high
    mov \low, r4
    mov \high, r5
    quarter
    add \low, r4
    addc \high, r5
    mov r4, ROW+4*\index(r12)
    mov r5, ROW+4*\index+2(r12)
.endm

/* The column's next product, of the row's word at r13, which goes on, and high:low. */
.macro product kind_low, kind_high, low, high
    move_from_r13 \kind_low
    move_from_r13 \kind_high
    mov \low, &OP2L
    mov \high, &OP2H
.endm

/* Column k comes to the sum, with r12:r15 from the column before; what is above it to r12:r15. */
.macro column k
    product MPY32L, MPY32H, r4, r5
    product MAC32L, MAC32H, r6, r7
    product MAC32L, MAC32H, r8, r9
    product MAC32L, MAC32H, r10, r11
    .set there, ROW+4*(3-\k)+16
    .if \k > 0
    product MAC32L, MAC32H, r14, #0
    .set there, there+4
    .endif
    add &RES0, r15
    addc &RES1, r12
    mov r15, SUM+4*\k-there(r13)
    mov r12, SUM+4*\k+2-there(r13)
    mov &RES2, r15
    mov &RES3, r12
    adc r15
    adc r12
    .if \k < 3
    sub #there-ROW-4*(2-\k), r13
    .endif
.endm

/*
 * void ws_poly1305_block(ws_poly1305_ctx *ctx, const uint8_t in[16], uint8_t end)
 * in: r12 ctx, r13 in, r14 end; clobbers: r11 to r15, the multiplier. 614 cycles with CALL and RET,
 * 16 bytes of stack with the return address.
 */
function ws_poly1305_block
    save_r4_to_r10
    mov r12, r15
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r15+, \word
    .endr
    .set offset, ROW+12
    .irp word, r4, r5
    mov \word, offset(r12)
    .set offset, offset+2
    .endr
    .set offset, ROW+8
    .irp word, r6, r7
    mov \word, offset(r12)
    .set offset, offset+2
    .endr
    .set offset, ROW+4
    .irp word, r8, r9
    mov \word, offset(r12)
    .set offset, offset+2
    .endr
    .set offset, ROW
    .irp word, r10, r11
    mov \word, offset(r12)
    .set offset, offset+2
    .endr
    store_s 6, r6, r7
    store_s 5, r8, r9
    store_s 4, r10, r11
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov.b @r13+, \word
    mov.b @r13+, r15
    swpb r15
    bis r15, \word
    .endr
    mov.b r14, r14
    add SUM(r12), r4
    .set offset, SUM+2
    .irp word, r5, r6, r7, r8, r9, r10, r11, r14
    addc offset(r12), \word
    .set offset, offset+2
    .endr
    mov r12, r13
    add #ROW+12, r13
    clr r12
    clr r15
    column 0
    column 1
    column 2
    column 3
    sub #8, r13
    product MPY32L, MPY32H, r14, #0
    add &RES0, r15
    addc &RES1, r12
    /* Bits above 130 count five times: as four times as much, which they are, and once. */
    mov r15, r6
    and #3, r6
    bic r6, r15
    mov r15, r4
    mov r12, r5
    clrc
    rrc r5
    rrc r4
    rra r5
    rrc r4
    add r4, r15
    addc r5, r12
    mov #0, r7
    adc r7
    .set there, ROW+16
    add r15, SUM-there(r13)
    addc r12, SUM+2-there(r13)
    addc r7, SUM+4-there(r13)
    .irp index, 3, 4, 5, 6, 7
    adc SUM+2*\index-there(r13)
    .endr
    adc r6
    mov r6, SUM+16-there(r13)
    restore_r4_to_r10
    ret
end ws_poly1305_block
