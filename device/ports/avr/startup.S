; Start-up of the ATmega and the ATtiny: vectors, stack, .data, .bss, main. Between the stack and .data comes what drivers put into the
; section .start.drivers, where an app has any; device.ld.in joins the sections .start.
;
; Registers touched: SPL, SPH (stack pointer; 0 after reset on the ATmega128L), SREG, and RAMPZ where .data may lie
; beyond 64 kB of flash. The clock is a matter of the fuses, the watchdog is off after reset.

#include <avr/io.h>

.altmacro

; Parts with up to 8 kB of flash have neither JMP nor CALL, and vectors of one word.
#ifdef __AVR_HAVE_JMP_CALL__
#define VECTOR_SIZE 4
.macro far_jump target
    jmp \target
.endm
#else
#define VECTOR_SIZE 2
.macro far_jump target
    rjmp \target
.endm
#endif

; A handler is named __vector_<number>, as the compiler's ISR convention has it; without one, stop.
.macro vector number
    .weak __vector_\number
    .set __vector_\number, ws_unexpected_interrupt
    far_jump __vector_\number
.endm

    .section .vectors, "ax", @progbits
    .global ws_vectors
ws_vectors:
    far_jump ws_reset
.set number, 1
.rept _VECTORS_SIZE / VECTOR_SIZE - 1
    vector %number
    .set number, number + 1
.endr

    .section .start.begin, "ax", @progbits
    .type ws_reset, @function
ws_reset:
    clr r1
    out _SFR_IO_ADDR(SREG), r1
    ldi r28, lo8(ws_stack_top)
    ldi r29, hi8(ws_stack_top)
    out _SFR_IO_ADDR(SPH), r29
    out _SFR_IO_ADDR(SPL), r28
    .size ws_reset, . - ws_reset

    .section .start.end, "ax", @progbits
    .type ws_start, @function
ws_start:
    ldi r26, lo8(ws_data_start)
    ldi r27, hi8(ws_data_start)
    ldi r30, lo8(ws_data_load)
    ldi r31, hi8(ws_data_load)
#ifdef __AVR_HAVE_ELPMX__
    ldi r16, hh8(ws_data_load)
    out _SFR_IO_ADDR(RAMPZ), r16
#endif
    ldi r17, hi8(ws_data_end)
    rjmp 2f
1:
#ifdef __AVR_HAVE_ELPMX__
    elpm r0, Z+
#else
    lpm r0, Z+
#endif
    st X+, r0
2:  cpi r26, lo8(ws_data_end)
    cpc r27, r17
    brne 1b

    ldi r26, lo8(ws_bss_start)
    ldi r27, hi8(ws_bss_start)
    ldi r17, hi8(ws_bss_end)
    rjmp 4f
3:  st X+, r1
4:  cpi r26, lo8(ws_bss_end)
    cpc r27, r17
    brne 3b

#ifdef __AVR_HAVE_JMP_CALL__
    call main
#else
    rcall main
#endif

ws_unexpected_interrupt:
    rjmp ws_unexpected_interrupt
    .size ws_start, . - ws_start

; The compiler asks for these two in any file with initialised or zeroed variables; ws_reset does their work.
    .global __do_copy_data
    .global __do_clear_bss
    .set __do_copy_data, ws_reset
    .set __do_clear_bss, ws_reset
