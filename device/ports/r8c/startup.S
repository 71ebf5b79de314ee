/* Start-up of the R8C: stack, clock, variables, and the fixed vectors.
 *
 * The core clock is the crystal's, not divided; after reset the processor runs from its low-speed oscillator of 125 kHz
 * divided by 8. Registers: R8C/24 and R8C/25 hardware manual, REJ09B0244, chapter on the clock generation circuit. */

#if WS_CLOCK_HZ > 20000000
#error "CLOCK: the crystal has at most 20 MHz"
#endif

#define CM0  0x0006
#define CM1  0x0007
#define PRCR 0x000a
#define OCD  0x000c

    .section .text.ws_reset, "ax"
    .globl ws_reset
    .type ws_reset, @function
ws_reset:
    ldc #ws_stack_top, isp

    mov.b #0x01, PRCR           ; the clock's registers can be written
    mov.b #0x28, CM1            ; CM13: pins for the crystal; CM17, CM16 = 0: not divided
    mov.b #0x48, CM0            ; CM05 = 0: crystal on; CM06: still divided by 8
    mov.w #500, r0              ; some 200 ms of 16 kHz for the crystal to swing
.Lcrystal:
    adjnz.w #-1, r0, .Lcrystal
    mov.b #0x08, CM0            ; CM06 = 0: divided as CM1 says
    mov.b #0x00, OCD            ; OCD2 = 0: the crystal is the system clock
    mov.b #0x00, PRCR

    mov.w #ws_bss_start, a1
.Lclear:
    cmp.w #ws_bss_end, a1
    jgeu .Lcleared
    mov.b #0, [a1]
    inc.w a1
    jmp.b .Lclear
.Lcleared:

    mov.w #ws_data_load, a0
    mov.w #ws_data_start, a1
.Lcopy:
    cmp.w #ws_data_end, a1
    jgeu .Lcopied
    mov.b [a0], [a1]
    inc.w a0
    inc.w a1
    jmp.b .Lcopy
.Lcopied:
    jmp.a main
    .size ws_reset, . - ws_reset

/* An interrupt that nobody enabled, or an undefined instruction. */
    .section .text.ws_stray, "ax"
    .type ws_stray, @function
ws_stray:
    jmp.b ws_stray
    .size ws_stray, . - ws_stray

/* Undefined instruction, overflow, BRK, address match, single step, watchdog, address break, reserved, reset. The
 * highest byte of each is the ID code's, 0xff throughout; that of the last is the option byte OFS: watchdog stopped
 * after reset, ROM not protected. */
    .section .vectors, "a"
    .irp handler, ws_stray, ws_stray, ws_stray, ws_stray, ws_stray, ws_stray, ws_stray, ws_stray, ws_reset
    .short \handler
    .byte 0x00, 0xff
    .endr
