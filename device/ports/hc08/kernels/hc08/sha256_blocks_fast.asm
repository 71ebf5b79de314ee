; The compression function of SHA-256, FIPS 180-4 section 6.2.2, fast: ws_sha256_blocks of crypto/sha256.h.
;
; in:  X:A = state; data, blocks as sdcc passes them, in variables of their own
; out: state; nothing secret stays elsewhere
; A, H, X and flags clobbered. Stack: 4 bytes with the return address. Page zero: 25 bytes, 164 of RAM elsewhere.
; 92,779 bus cycles a block and 1,589 for the call, with JSR (extended, 5) and RTS; 1,431 bytes.
; Constant time: no branch and no address depends on a secret.
;
; H:X slides down the working variables and the message schedule by a word a round: what was a is b, and so on, without
; being moved; e and a are the only ones to be written. Eight rounds on, both are moved back up. Words are big-endian,
; as in the standard and in sdcc.

        .module sha256_blocks_fast
        .globl  _ws_sha256_blocks, _ws_sha256_blocks_PARM_2, _ws_sha256_blocks_PARM_3

        .area   DSEG    (PAG)
; data, blocks: high byte first.
_ws_sha256_blocks_PARM_2:
        .ds     2
_ws_sha256_blocks_PARM_3:
        .ds     2
state:  .ds     2
place:  .ds     2
constant:
        .ds     2
group:  .ds     1
turns:  .ds     1
; From here on secret.
rotated:
        .ds     4
sum:    .ds     4
other:  .ds     4
one:    .ds     1
secrets = 13

; Relative to H:X: a, b, .. h from 0 on, w[t - j] from 64 + 4 j on.
        .area   XSEG
work:   .ds     164
bytes   = 164

; Moves a word from H:X to page zero, and back; H:X goes on by 4. 16 cycles.
        .macro  take word
        mov     ,x+, *word
        mov     ,x+, *word + 1
        mov     ,x+, *word + 2
        mov     ,x+, *word + 3
        .endm
        .macro  give word
        mov     *word, x+
        mov     *word + 1, x+
        mov     *word + 2, x+
        mov     *word + 3, x+
        .endm

; The word at offset from to rotated. 24 cycles.
        .macro  copy from
        .irp    i, 0, 1, 2, 3
        lda     from + i,x
        sta     *rotated + i
        .endm
        .endm

; Rotates right by a bit. 20 cycles.
        .macro  rotate
        lda     *rotated + 3
        lsra
        ror     *rotated
        ror     *rotated + 1
        ror     *rotated + 2
        ror     *rotated + 3
        .endm

; rotated, rotated further by whole bytes, to a word: its bytes b0..b3 are named in their new order. 24 cycles.
        .macro  set word, b0, b1, b2, b3
        lda     *rotated + b0
        sta     *word
        lda     *rotated + b1
        sta     *word + 1
        lda     *rotated + b2
        sta     *word + 2
        lda     *rotated + b3
        sta     *word + 3
        .endm
; The same added modulo 2. 36 cycles.
        .macro  flip word, b0, b1, b2, b3
        lda     *rotated + b0
        eor     *word
        sta     *word
        lda     *rotated + b1
        eor     *word + 1
        sta     *word + 1
        lda     *rotated + b2
        eor     *word + 2
        sta     *word + 2
        lda     *rotated + b3
        eor     *word + 3
        sta     *word + 3
        .endm

; Adds the word at offset from to sum. 36 cycles.
        .macro  add_word from
        lda     *sum + 3
        add     from + 3,x
        sta     *sum + 3
        .irp    i, 2, 1, 0
        lda     *sum + i
        adc     from + i,x
        sta     *sum + i
        .endm
        .endm

; The same for a word of page zero.
        .macro  add_near word
        lda     *sum + 3
        add     *word + 3
        sta     *sum + 3
        .irp    i, 2, 1, 0
        lda     *sum + i
        adc     *word + i
        sta     *sum + i
        .endm
        .endm

; The functions of section 4.1.2 as they need them: byte i of Ch(e, f, g) and of Maj(a, b, c) in A; the carry stays.
        .macro  choose i
        lda     20 + i,x
        eor     24 + i,x
        and     16 + i,x
        eor     24 + i,x
        .endm
        .macro  majority i
        lda     i,x
        and     4 + i,x
        sta     *one
        lda     i,x
        ora     4 + i,x
        and     8 + i,x
        ora     *one
        .endm

        .area   CSEG    (CODE)
_ws_sha256_blocks:
        sta     *state + 1
        stx     *state
next:   ldhx    *_ws_sha256_blocks_PARM_3
        bne     1$
        jmp     done
1$:     aix     #-1
        sthx    *_ws_sha256_blocks_PARM_3

        ldhx    #work + 32
        sthx    *place
        mov     #8, *turns
3$:     ldhx    *state
        take    sum
        sthx    *state
        ldhx    *place
        give    sum
        sthx    *place
        dbnz    *turns, 3$

        ldhx    #constants
        sthx    *constant
        mov     #8, *group
eight:  mov     #8, *turns
        ldhx    #work + 32
        sthx    *place
round:  lda     *group
        cmp     #7
        blo     schedule
        ldhx    *_ws_sha256_blocks_PARM_2
        take    sum
        sthx    *_ws_sha256_blocks_PARM_2
        ldhx    *place
        jmp     scheduled

; w[t] = sigma1(w[t-2]) + w[t-7] + sigma0(w[t-15]) + w[t-16], section 6.2.2 step 1.
schedule:
        copy    72
        rotate
        set     sum, 2, 3, 0, 1         ; 17
        rotate
        lda     *rotated                ; shift by 10
        and     #0x3f
        eor     *sum + 1
        sta     *sum + 1
        lda     *rotated + 1
        eor     *sum + 2
        sta     *sum + 2
        lda     *rotated + 2
        eor     *sum + 3
        sta     *sum + 3
        rotate
        flip    sum, 2, 3, 0, 1         ; 19
        add_word 92
        copy    124
        rotate
        rotate
        set     other, 2, 3, 0, 1       ; 18
        rotate
        lda     *rotated                ; shift by 3
        and     #0x1f
        eor     *other
        sta     *other
        .irp    i, 1, 2, 3
        lda     *rotated + i
        eor     *other + i
        sta     *other + i
        .endm
        rotate
        rotate
        rotate
        rotate
        flip    other, 0, 1, 2, 3       ; 7
        add_near other
        add_word 128
scheduled:
        .irp    i, 0, 1, 2, 3
        lda     *sum + i
        sta     64 + i,x
        .endm

; Step 3. sum = T1 = h + Sigma1(e) + Ch(e, f, g) + K[t] + w[t].
        ldhx    *constant
        take    other
        sthx    *constant
        ldhx    *place
        copy    16
        rotate
        set     sum, 1, 2, 3, 0         ; 25
        rotate
        rotate
        flip    sum, 3, 0, 1, 2         ; 11
        rotate
        rotate
        rotate
        flip    sum, 0, 1, 2, 3         ; 6
        add_near other
        add_word 28
        add_word 64
        choose  3
        add     *sum + 3
        sta     *sum + 3
        .irp    i, 2, 1, 0
        choose  i
        adc     *sum + i
        sta     *sum + i
        .endm
; e = d + T1, in the place of d.
        lda     15,x
        add     *sum + 3
        sta     15,x
        .irp    i, 2, 1, 0
        lda     12 + i,x
        adc     *sum + i
        sta     12 + i,x
        .endm
; a = T1 + Sigma0(a) + Maj(a, b, c), a word further down.
        copy    0
        rotate
        rotate
        set     other, 0, 1, 2, 3       ; 2
        rotate
        rotate
        rotate
        flip    other, 3, 0, 1, 2       ; 13
        rotate
        flip    other, 2, 3, 0, 1       ; 22
        add_near other
        majority 3
        add     *sum + 3
        sta     *sum + 3
        .irp    i, 2, 1, 0
        majority i
        adc     *sum + i
        sta     *sum + i
        .endm
        aix     #-4
        sthx    *place
        .irp    i, 0, 1, 2, 3
        lda     *sum + i
        sta     i,x
        .endm
        dbnz    *turns, 4$
        bra     5$
4$:     jmp     round

5$:     dbnz    *group, 6$
        bra     add
6$:     ldhx    #work + 124             ; the last sixteen words of the schedule, and a to h, back up
        mov     #8, *turns
        bsr     ws_sha256_blocks_up
        ldhx    #work + 24
        mov     #4, *turns
        bsr     ws_sha256_blocks_up
        jmp     eight

; Moves bytes up by 32, eight a turn, from the end on.
ws_sha256_blocks_up::
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7
        lda     i,x
        sta     32 + i,x
        .endm
        aix     #-8
        dbnz    *turns, ws_sha256_blocks_up
        rts

; Step 4.
add:    ldhx    *state
        aix     #-32
        sthx    *state
        ldhx    #work
        sthx    *place
        mov     #8, *turns
9$:     ldhx    *place
        take    sum
        sthx    *place
        ldhx    *state
        add_word 0
        give    sum
        sthx    *state
        dbnz    *turns, 9$
        ldhx    *state
        aix     #-32
        sthx    *state
        jmp     next

done:   ldhx    #secrets
10$:    clr     *rotated - 1,x
        dbnzx   10$
        ldhx    #work
        mov     #bytes, *turns
11$:    clr     ,x
        aix     #1
        dbnz    *turns, 11$
        rts

; FIPS 180-4 section 4.2.2.
        .area   CONST   (CODE)
constants:
        .db     0x42, 0x8a, 0x2f, 0x98, 0x71, 0x37, 0x44, 0x91, 0xb5, 0xc0, 0xfb, 0xcf, 0xe9, 0xb5, 0xdb, 0xa5
        .db     0x39, 0x56, 0xc2, 0x5b, 0x59, 0xf1, 0x11, 0xf1, 0x92, 0x3f, 0x82, 0xa4, 0xab, 0x1c, 0x5e, 0xd5
        .db     0xd8, 0x07, 0xaa, 0x98, 0x12, 0x83, 0x5b, 0x01, 0x24, 0x31, 0x85, 0xbe, 0x55, 0x0c, 0x7d, 0xc3
        .db     0x72, 0xbe, 0x5d, 0x74, 0x80, 0xde, 0xb1, 0xfe, 0x9b, 0xdc, 0x06, 0xa7, 0xc1, 0x9b, 0xf1, 0x74
        .db     0xe4, 0x9b, 0x69, 0xc1, 0xef, 0xbe, 0x47, 0x86, 0x0f, 0xc1, 0x9d, 0xc6, 0x24, 0x0c, 0xa1, 0xcc
        .db     0x2d, 0xe9, 0x2c, 0x6f, 0x4a, 0x74, 0x84, 0xaa, 0x5c, 0xb0, 0xa9, 0xdc, 0x76, 0xf9, 0x88, 0xda
        .db     0x98, 0x3e, 0x51, 0x52, 0xa8, 0x31, 0xc6, 0x6d, 0xb0, 0x03, 0x27, 0xc8, 0xbf, 0x59, 0x7f, 0xc7
        .db     0xc6, 0xe0, 0x0b, 0xf3, 0xd5, 0xa7, 0x91, 0x47, 0x06, 0xca, 0x63, 0x51, 0x14, 0x29, 0x29, 0x67
        .db     0x27, 0xb7, 0x0a, 0x85, 0x2e, 0x1b, 0x21, 0x38, 0x4d, 0x2c, 0x6d, 0xfc, 0x53, 0x38, 0x0d, 0x13
        .db     0x65, 0x0a, 0x73, 0x54, 0x76, 0x6a, 0x0a, 0xbb, 0x81, 0xc2, 0xc9, 0x2e, 0x92, 0x72, 0x2c, 0x85
        .db     0xa2, 0xbf, 0xe8, 0xa1, 0xa8, 0x1a, 0x66, 0x4b, 0xc2, 0x4b, 0x8b, 0x70, 0xc7, 0x6c, 0x51, 0xa3
        .db     0xd1, 0x92, 0xe8, 0x19, 0xd6, 0x99, 0x06, 0x24, 0xf4, 0x0e, 0x35, 0x85, 0x10, 0x6a, 0xa0, 0x70
        .db     0x19, 0xa4, 0xc1, 0x16, 0x1e, 0x37, 0x6c, 0x08, 0x27, 0x48, 0x77, 0x4c, 0x34, 0xb0, 0xbc, 0xb5
        .db     0x39, 0x1c, 0x0c, 0xb3, 0x4e, 0xd8, 0xaa, 0x4a, 0x5b, 0x9c, 0xca, 0x4f, 0x68, 0x2e, 0x6f, 0xf3
        .db     0x74, 0x8f, 0x82, 0xee, 0x78, 0xa5, 0x63, 0x6f, 0x84, 0xc8, 0x78, 0x14, 0x8c, 0xc7, 0x02, 0x08
        .db     0x90, 0xbe, 0xff, 0xfa, 0xa4, 0x50, 0x6c, 0xeb, 0xbe, 0xf9, 0xa3, 0xf7, 0xc6, 0x71, 0x78, 0xf2
