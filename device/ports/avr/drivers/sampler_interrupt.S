; The converter's interrupt of sampler.c: the end of a conversion, 2500 times a second. It takes most of what the part is awake for, so
; the voltage's, which calls nothing, saves three bytes, and only the current's saves what C may change.
;
; Cycles from the first instruction to RETI inclusive: 53 for the voltage, and 97 for the current beside those of ws_metering_sample
; from CALL to RET; 4 more with each eighth conversion. Stack with the return address: 6 bytes, and for the current 17 and that
; function's.
;
; Which channel is converted is a byte of RAM and not ADMUX, and ADCSRA is written whole: both are known.

#include "sampler.h"

#include <avr/io.h>

; What a conversion has left: its lowest bit goes to the noise. Out: R25:R24 the sample.
; Clobbers R23; the flags.
.macro take
	lds r24, ADCL
	lds r25, ADCH
	; The trigger is an edge of this flag.
	ldi r23, _BV(OCF0A)
	out _SFR_IO_ADDR(TIFR0), r23
	bst r24, 0
	lds r23, ws_sampler_bits
	lsl r23
	bld r23, 0
	brcc 1f
	; The 1 that stood before eight bits has fallen out.
	sts ws_sampler_noise, r23
	ldi r23, 1
	sts ws_sampler_noise_ready, r23
1:	sts ws_sampler_bits, r23
.endm

	.section .text.ADC_vect, "ax", @progbits
	.global ADC_vect
	.type ADC_vect, @function
ADC_vect:
	push r24
	in r24, _SFR_IO_ADDR(SREG)
	push r24
	push r23
	; Before all else: half a clock of the converter after the end, 64 cycles, the next of its clocks would pass. The result stays
	; until the next one.
	lds r24, ws_sampler_channel
	sbrc r24, 0
	rjmp .Lcurrent
	ldi r24, WS_SAMPLER_CURRENT
	sts ADMUX, r24
	sts ws_sampler_channel, r24
	ldi r24, WS_SAMPLER_CONTROL | _BV(ADSC)
	sts ADCSRA, r24
	push r25
	take
	sts ws_sampler_voltage, r24
	sts ws_sampler_voltage+1, r25
	pop r25
	pop r23
	pop r24
	out _SFR_IO_ADDR(SREG), r24
	pop r24
	reti
.Lcurrent:
	ldi r24, WS_SAMPLER_VOLTAGE
	sts ADMUX, r24
	sts ws_sampler_channel, r24
	push r0
	push r1
	push r18
	push r19
	push r20
	push r21
	push r22
	push r25
	push r26
	push r27
	push r30
	push r31
	take
	movw r22, r24
	lds r24, ws_sampler_voltage
	lds r25, ws_sampler_voltage+1
	clr r1
	call ws_metering_sample
	pop r31
	pop r30
	pop r27
	pop r26
	pop r25
	pop r22
	pop r21
	pop r20
	pop r19
	pop r18
	pop r1
	pop r0
	pop r23
	pop r24
	out _SFR_IO_ADDR(SREG), r24
	pop r24
	reti
	.size ADC_vect, . - ADC_vect
