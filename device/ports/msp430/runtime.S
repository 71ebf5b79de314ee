; What clang calls where the MSP430 has no instruction, for 16 and 32 bits. Names, operands and results are those of
; "MSP430 Embedded Application Binary Interface" (TI SLAA534), section 6: a 16-bit first operand is in R12, a second in
; R13; a 32-bit first operand in R13:R12 (R12 the low word), a second in R15:R14; a shift count in R13 or R14; the result
; in R12 or R13:R12. R11 to R15 may be changed, all others are kept.
;
; Multiplications take the same time for all operands. The time of shifts depends on the count, that of divisions on the
; operands: secret data must not reach these; the constant-time check of the built firmware sees it when it does.

.macro function name
    .section .text.\name, "ax", @progbits
    .globl \name
    .type \name, @function
\name:
.endm

.macro endfunction name
    .size \name, . - \name
.endm

; R12 := R12 << R13
function __mspabi_slli
    tst r13
    jeq 2f
1:  add r12, r12
    sub #1, r13
    jne 1b
2:  ret
endfunction __mspabi_slli

; R12 := R12 >> R13, zeros shifted in
function __mspabi_srli
    tst r13
    jeq 2f
1:  clrc
    rrc r12
    sub #1, r13
    jne 1b
2:  ret
endfunction __mspabi_srli

; R12 := R12 >> R13, the sign shifted in
function __mspabi_srai
    tst r13
    jeq 2f
1:  rra r12
    sub #1, r13
    jne 1b
2:  ret
endfunction __mspabi_srai

; R13:R12 := R13:R12 << R14
function __mspabi_slll
    tst r14
    jeq 2f
1:  add r12, r12
    addc r13, r13
    sub #1, r14
    jne 1b
2:  ret
endfunction __mspabi_slll

; R13:R12 := R13:R12 >> R14, zeros shifted in
function __mspabi_srll
    tst r14
    jeq 2f
1:  clrc
    rrc r13
    rrc r12
    sub #1, r14
    jne 1b
2:  ret
endfunction __mspabi_srll

; R13:R12 := R13:R12 >> R14, the sign shifted in
function __mspabi_sral
    tst r14
    jeq 2f
1:  rra r13
    rrc r12
    sub #1, r14
    jne 1b
2:  ret
endfunction __mspabi_sral

; high:b := a b, all of 16 bits; t scratch. Bits of b leave it at the bottom, those of the product enter it at the top. A
; bit becomes a mask of ones if it is 0 in the carry, hence the complement. 83 cycles.
.macro product_16 a, b, high, t
    inv \b
    rrc \b
    clr \high
    .rept 16
    subc \t, \t
    and \a, \t
    add \t, \high
    rrc \high
    rrc \b
    .endr
.endm

; R12 := R12 R13. 93 cycles, CALL and RET included.
function __mspabi_mpyi
    mov r13, r14
    product_16 r12, r14, r13, r15
    mov r14, r12
    ret
endfunction __mspabi_mpyi

; R13:R12 := R13:R12 R15:R14: the product of the low words, to whose high word the low ones of the two mixed products are
; added. 306 cycles, CALL and RET included.
function __mspabi_mpyl
    push r10
    push r9
    push r8
    mov r14, r10
    inv r10
    inv r15
    clr r11
    mov #16, r8
1:  rla r11
    rla r10
    subc r9, r9
    and r13, r9
    add r9, r11
    rla r15
    subc r9, r9
    and r12, r9
    add r9, r11
    sub #1, r8
    jne 1b
    product_16 r12, r14, r13, r9
    add r11, r13
    mov r14, r12
    pop r8
    pop r9
    pop r10
    ret
endfunction __mspabi_mpyl

; The same with the hardware multiplier: _hw for its registers of 16 bits, _f5hw for those of 32. Results are read when they
; are there (SLAU208, chapter "32-Bit Hardware Multiplier", table of result availability). An interrupt service routine
; must not multiply in between, or must save and restore the multiplier.
#define MPY    0x04c0
#define MAC    0x04c4
#define OP2    0x04c8
#define RESLO  0x04ca
#define RESHI  0x04cc
#define MPY32L 0x04d0
#define MPY32H 0x04d2
#define OP2L   0x04e0
#define OP2H   0x04e2
#define RES0   0x04e4
#define RES1   0x04e6

; 17 cycles each, CALL and RET included
function __mspabi_mpyi_hw
    mov r12, &MPY
    mov r13, &OP2
    mov &RESLO, r12
    ret
endfunction __mspabi_mpyi_hw

function __mspabi_mpyi_f5hw
    mov r12, &MPY
    mov r13, &OP2
    mov &RESLO, r12
    ret
endfunction __mspabi_mpyi_f5hw

; 36 cycles
function __mspabi_mpyl_hw
    mov r12, &MPY
    mov r15, &OP2
    mov r13, &MAC
    mov r14, &OP2
    mov &RESLO, r15
    mov r12, &MPY
    mov r14, &OP2
    mov &RESLO, r12
    mov &RESHI, r13
    add r15, r13
    ret
endfunction __mspabi_mpyl_hw

; 26 cycles
function __mspabi_mpyl_f5hw
    mov r12, &MPY32L
    mov r13, &MPY32H
    mov r14, &OP2L
    mov r15, &OP2H
    mov &RES0, r12
    mov &RES1, r13
    ret
endfunction __mspabi_mpyl_f5hw

; Unsigned: R12 := R12 / R13, remainder in R14. Restoring division: dividend bits leave R12 at the top into R14, quotient
; bits enter it at the bottom. A carry out of R14 counts as its 17th bit, so that divisors over 0x8000 are right, too.
function ws_divide16
    clr r14
    mov #16, r15
1:  add r12, r12
    addc r14, r14
    jc 2f
    cmp r13, r14
    jnc 3f
2:  sub r13, r14
    bis #1, r12
3:  sub #1, r15
    jne 1b
    ret
endfunction ws_divide16

function __mspabi_divu
    jmp ws_divide16
endfunction __mspabi_divu

function __mspabi_remu
    call #ws_divide16
    mov r14, r12
    ret
endfunction __mspabi_remu

; Signed: divides the magnitudes. The quotient is negative when the signs differ, the remainder has the dividend's sign
; (C99 section 6.5.5).
function __mspabi_divi
    mov r12, r11
    xor r13, r11
    call #ws_magnitudes16
    call #ws_divide16
    tst r11
    jge 1f
    inv r12
    inc r12
1:  ret
endfunction __mspabi_divi

function __mspabi_remi
    mov r12, r11
    call #ws_magnitudes16
    call #ws_divide16
    mov r14, r12
    tst r11
    jge 1f
    inv r12
    inc r12
1:  ret
endfunction __mspabi_remi

; R12 := |R12|, R13 := |R13|
function ws_magnitudes16
    tst r12
    jge 1f
    inv r12
    inc r12
1:  tst r13
    jge 2f
    inv r13
    inc r13
2:  ret
endfunction ws_magnitudes16

; Unsigned: R13:R12 := R13:R12 / R15:R14, remainder in R9:R8; as ws_divide16. Changes R8, R9, R10: the callers save them.
function ws_divide32
    clr r8
    clr r9
    mov #32, r10
1:  add r12, r12
    addc r13, r13
    addc r8, r8
    addc r9, r9
    jc 3f
    cmp r15, r9
    jnc 4f
    jne 3f
    cmp r14, r8
    jnc 4f
3:  sub r14, r8
    subc r15, r9
    bis #1, r12
4:  sub #1, r10
    jne 1b
    ret
endfunction ws_divide32

; R13:R12 := |R13:R12|, R15:R14 := |R15:R14|
function ws_magnitudes32
    tst r13
    jge 1f
    inv r12
    inv r13
    inc r12
    adc r13
1:  tst r15
    jge 2f
    inv r14
    inv r15
    inc r14
    adc r15
2:  ret
endfunction ws_magnitudes32

.macro save
    push r10
    push r9
    push r8
.endm

.macro restore
    pop r8
    pop r9
    pop r10
.endm

function __mspabi_divul
    save
    call #ws_divide32
    restore
    ret
endfunction __mspabi_divul

function __mspabi_remul
    save
    call #ws_divide32
    mov r8, r12
    mov r9, r13
    restore
    ret
endfunction __mspabi_remul

function __mspabi_divli
    save
    mov r13, r11
    xor r15, r11
    call #ws_magnitudes32
    call #ws_divide32
    tst r11
    jge 1f
    inv r12
    inv r13
    inc r12
    adc r13
1:  restore
    ret
endfunction __mspabi_divli

function __mspabi_remli
    save
    mov r13, r11
    call #ws_magnitudes32
    call #ws_divide32
    mov r8, r12
    mov r9, r13
    tst r11
    jge 1f
    inv r12
    inv r13
    inc r12
    adc r13
1:  restore
    ret
endfunction __mspabi_remli
