; AES decryption with the round keys given, FIPS 197, fast: ws_aes_decrypt of crypto/aes.h.
;
; in:  X:A = round_keys; rounds, in, out as sdcc passes them, in variables of their own
; out: 16 bytes at out, which may be in; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 18 bytes with the return address. Page zero: 42 bytes.
; With JSR (extended, 5) and RTS 7,237, 8,685 and 10,133 bus cycles for 10, 12 and 14 rounds, four fewer where the last
; round key lies in the page of the first; 753 bytes of code, 1,521 with aes_inverse_sbox_fast.asm and
; aes_sbox_fast.asm.
; Constant time for a given number of rounds: no branch depends on key or data, and a look-up takes the same time at
; every address.
;
; How a round goes is in aes_keyed_fast.inc, but that the round key is added where a byte comes off the stack, and that
; InvMixColumns is MixColumns after adding 4 (s0 + s2) to s0 and s2 and 4 (s1 + s3) to s1 and s3 (Daemen and Rijmen,
; "The Design of Rijndael", section 4.1.3). The round key, which may be anywhere, is moved to page zero, four cycles a
; byte, because H:X is busy with the tables where it is added.

        .module aes_decrypt_fast
        .include "aes_keyed_fast.inc"
        .globl  _ws_secret_table_aes_inverse_sbox, ws_secret_table_aes_double
        .globl  _ws_aes_decrypt, _ws_aes_decrypt_PARM_2, _ws_aes_decrypt_PARM_3, _ws_aes_decrypt_PARM_4

        .area   DSEG    (PAG)
; rounds, in, out: high byte first.
_ws_aes_decrypt_PARM_2:
        .ds     2
_ws_aes_decrypt_PARM_3:
        .ds     2
_ws_aes_decrypt_PARM_4:
        .ds     2
round_keys:
        .ds     2
state:  .ds     16
round_key:
        .ds     16
pair:   .ds     1
triple: .ds     1

; The round key at H:X to page zero; round_keys is the one before it. 70 cycles.
        .macro  take_round_key
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov     ,x+,*round_key + i
        .endm
        aix     #-32
        sthx    *round_keys
        .endm

; Byte i of in and of the last round key onto the stack. H:X is in. 8 cycles.
        .macro  whiten i
        lda     i,x
        eor     *round_key + i
        psha
        .endm

; The next byte of the state: InvSubBytes, AddRoundKey, and InvShiftRows by the place that it goes to. H is the page of
; _ws_aes_inverse_sbox. 10 cycles.
        .macro  substitute_and_add to
        pulx
        lda     ,x
        eor     *round_key + to
        sta     *state + to
        .endm
        .macro  column to0, to1, to2, to3
        substitute_and_add to0
        substitute_and_add to1
        substitute_and_add to2
        substitute_and_add to3
        .endm

; Adds four times a + b, two rows of a column, to both. H is the page of ws_secret_table_aes_double. 26 cycles.
        .macro  add_quadruple a, b
        lda     *a
        eor     *b
        tax
        lda     ,x
        tax
        lda     ,x
        tax
        eor     *a
        sta     *a
        txa
        eor     *b
        sta     *b
        .endm

; InvMixColumns of the column at s, onto the stack: MixColumns as in aes_keyed_fast.inc. 119 cycles.
        .macro  unmix_column s
        add_quadruple s, s+2
        add_quadruple s+1, s+3
        lda     *s + 3
        eor     *s
        tax
        lda     *s + 1
        eor     *s + 2
        sta     *pair
        eor     ,x
        eor     *s
        psha
        lda     *s + 2
        eor     *s + 3
        tax
        eor     *s
        sta     *triple
        eor     ,x
        eor     *pair
        psha
        ldx     *pair
        lda     ,x
        eor     *triple
        psha
        lda     *s
        eor     *s + 1
        tax
        eor     ,x
        eor     *triple
        psha
        .endm

; Byte i of the state to out, at H:X, and over what is left of it and of the round key. 14 cycles.
        .macro  finish i
        lda     *state + i
        sta     i,x
        clr     *state + i
        clr     *round_key + i
        pshx
        .endm

        .area   CSEG    (CODE)
_ws_aes_decrypt:
        sta     *round_keys + 1         ; the last round key is 16 rounds bytes on
        stx     *round_keys
        lda     *_ws_aes_decrypt_PARM_2 + 1
        nsa
        add     *round_keys + 1
        sta     *round_keys + 1
        bcc     1$
        inc     *round_keys
1$:     ldhx    *round_keys
        take_round_key
        ldhx    *_ws_aes_decrypt_PARM_3
        .irp    i, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
        whiten  i
        .endm

round:  ldhx    *round_keys
        take_round_key
        ldhx    #_ws_secret_table_aes_inverse_sbox
        column  0, 5, 10, 15
        column  4, 9, 14, 3
        column  8, 13, 2, 7
        column  12, 1, 6, 11
        dbnz    *_ws_aes_decrypt_PARM_2+1, unmix
        jmp     last

unmix:  ldhx    #ws_secret_table_aes_double
        unmix_column state+12
        unmix_column state+8
        unmix_column state+4
        unmix_column state
        jmp     round

last:   ldhx    *_ws_aes_decrypt_PARM_4
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        finish  i
        .endm
        ais     #16
        clr     *pair
        clr     *triple
        rts
