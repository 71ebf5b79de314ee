; AES encryption with the round keys given, FIPS 197, fast: ws_aes_encrypt of crypto/aes.h.
;
; in:  X:A = round_keys; rounds, in, out as sdcc passes them, in variables of their own
; out: 16 bytes at out, which may be in; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 18 bytes with the return address. Page zero: 42 bytes.
; With JSR (extended, 5) and RTS 5,324, 6,352 and 7,380 bus cycles for 10, 12 and 14 rounds; 626 bytes of code, 1,138
; with aes_sbox_fast.asm.
; Constant time for a given number of rounds: no branch depends on key or data, and a look-up takes the same time at
; every address.
;
; How a round goes is in aes_keyed_fast.inc. The round key, which may be anywhere, is moved to page zero, four cycles a
; byte, because H:X is busy with the tables where it is added.

        .module aes_encrypt_fast
        .include "aes_keyed_fast.inc"
        .globl  _ws_secret_table_aes_sbox, ws_secret_table_aes_double
        .globl  _ws_aes_encrypt, _ws_aes_encrypt_PARM_2, _ws_aes_encrypt_PARM_3, _ws_aes_encrypt_PARM_4

        .area   DSEG    (PAG)
; rounds, in, out: high byte first.
_ws_aes_encrypt_PARM_2:
        .ds     2
_ws_aes_encrypt_PARM_3:
        .ds     2
_ws_aes_encrypt_PARM_4:
        .ds     2
round_keys:
        .ds     2
state:  .ds     16
round_key:
        .ds     16
pair:   .ds     1
triple: .ds     1

; The next round key to page zero. H:X and round_keys go on by 16. 72 cycles.
        .macro  next_round_key
        ldhx    *round_keys
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov     ,x+,*round_key + i
        .endm
        sthx    *round_keys
        .endm

; Byte i of in and of the first round key onto the stack. H:X is in. 8 cycles.
        .macro  whiten i
        lda     i,x
        eor     *round_key + i
        psha
        .endm

; Byte i of the state and of the last round key to out, at H:X; a byte of no secret over what is left on the stack.
; 17 cycles.
        .macro  finish i
        lda     *state + i
        eor     *round_key + i
        sta     i,x
        clr     *state + i
        clr     *round_key + i
        pshx
        .endm

        .area   CSEG    (CODE)
_ws_aes_encrypt:
        sta     *round_keys + 1
        stx     *round_keys
        next_round_key
        ldhx    *_ws_aes_encrypt_PARM_3
        .irp    i, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
        whiten  i
        .endm

round:  ldhx    #_ws_secret_table_aes_sbox
        substitute_column state, 0, 13, 10, 7
        substitute_column state, 4, 1, 14, 11
        substitute_column state, 8, 5, 2, 15
        substitute_column state, 12, 9, 6, 3
        next_round_key
        dbnz    *_ws_aes_encrypt_PARM_2+1, mix
        jmp     last

mix:    ldhx    #ws_secret_table_aes_double
        mix_column state+12, round_key+12, pair, triple
        mix_column state+8, round_key+8, pair, triple
        mix_column state+4, round_key+4, pair, triple
        mix_column state, round_key, pair, triple
        jmp     round

last:   ldhx    *_ws_aes_encrypt_PARM_4
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        finish  i
        .endm
        ais     #16
        clr     *pair
        clr     *triple
        rts
