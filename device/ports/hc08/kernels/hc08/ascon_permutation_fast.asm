; The permutations Ascon-p, NIST SP 800-232 section 3, fast: ws_ascon_permute of crypto/ascon_permutation.h.
;
; in:  X:A = state; rounds as sdcc passes it, in a variable of its own
; out: state; nothing secret stays elsewhere
; A, H, X and flags clobbered. Stack: 2 bytes, the return address. Page zero: 50 bytes.
; 1,901 bus cycles a round and 326 for the call, with JSR (extended, 5) and RTS; 1,313 bytes.
; Constant time: no branch and no address depends on a secret.
;
; The S-box goes byte by byte from the state to t, the linear layer from t to the state: neither needs a copy. A word is
; turned by whole bytes in the names of its bytes, and by a bit as it passes through A, for the carry lives through
; LDA, EOR and STA: RORA there takes a cycle a byte, ROR of page zero four. Sums of two rotations are
; made so that few bits are left that need the latter.
;
; Words are as the C has them, of 32 bits big-endian, the lower one first: byte k, counted from the lowest, of a word of
; the state lies at k ^ 3. In t it lies at k.

        .module ascon_permutation_fast
        .globl  _ws_ascon_permute, _ws_ascon_permute_PARM_2

        .area   DSEG    (PAG)
; rounds left.
_ws_ascon_permute_PARM_2:
        .ds     1
constant:
        .ds     1
; From here on secret.
sum:    .ds     8
t:      .ds     40
secrets = 48

; Section 3.3 on byte k of the words: b and d stay in the state, a, c, e are what the first three XORs make. 107 cycles.
a       = sum
c       = sum + 1
e       = sum + 2
one     = sum + 3
        .macro  substitute k
        lda     (k ^ 3),x
        eor     32 + (k ^ 3),x
        sta     *a
        coma
        and     8 + (k ^ 3),x
        sta     *one
        lda     16 + (k ^ 3),x
        eor     8 + (k ^ 3),x
        sta     *c
        lda     32 + (k ^ 3),x
        eor     24 + (k ^ 3),x
        sta     *e
        eor     *one                    ; e ^ ~a & b
        sta     *t + 32 + k
        lda     8 + (k ^ 3),x           ; a ^ ~b & c
        coma
        and     *c
        eor     *a
        sta     *one
        eor     *t + 32 + k
        sta     *t + k
        lda     *c                      ; b ^ ~c & d
        coma
        and     24 + (k ^ 3),x
        eor     8 + (k ^ 3),x
        eor     *one
        sta     *t + 8 + k
        lda     *a                      ; the complement of d ^ ~e & a
        coma
        ora     *e
        eor     24 + (k ^ 3),x
        sta     *one
        lda     *e                      ; the complement of c ^ ~d & e, the lines above with their words one on
        coma
        ora     24 + (k ^ 3),x
        eor     *c
        sta     *t + 16 + k
        eor     *one
        sta     *t + 24 + k
        .endm

; sum = (from >>> 8 bytes + 1) ^ (plain >>> 8 others). 84 cycles, as the three after it.
        .macro  sum_right from, bytes, plain, others
        lda     *from + bytes
        lsra
        .irp    k, 7, 6, 5, 4, 3, 2, 1, 0
        lda     *from + ((k + bytes) & 7)
        rora
        eor     *plain + ((k + others) & 7)
        sta     *sum + k
        .endm
        .endm
; sum = (from >>> 8 bytes - 1) ^ plain.
        .macro  sum_left from, bytes, plain
        lda     *from + ((bytes + 7) & 7)
        lsla
        .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        lda     *from + ((k + bytes) & 7)
        rola
        eor     *plain + k
        sta     *sum + k
        .endm
        .endm
; The word of the state at offset to = (from >>> 1) ^ plain, and (from >>> 8 bytes - 1) ^ plain.
        .macro  give_right to, from, plain
        lda     *from
        lsra
        .irp    k, 7, 6, 5, 4, 3, 2, 1, 0
        lda     *from + k
        rora
        eor     *plain + k
        sta     to + (k ^ 3),x
        .endm
        .endm
        .macro  give_left to, from, bytes, plain
        lda     *from + ((bytes + 7) & 7)
        lsla
        .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        lda     *from + ((k + bytes) & 7)
        rola
        eor     *plain + k
        sta     to + (k ^ 3),x
        .endm
        .endm

; Turns a word by a bit where it is. 36 cycles.
        .macro  right word
        lda     *word
        lsra
        .irp    k, 7, 6, 5, 4, 3, 2, 1, 0
        ror     *word + k
        .endm
        .endm
        .macro  left word
        lda     *word + 7
        lsla
        .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        rol     *word + k
        .endm
        .endm

        .area   CSEG    (CODE)
_ws_ascon_permute:
        sta     *sum + 1
        stx     *sum
; Section 3.2: the constants 0xf0, 0xe1, .. 0x4b of twelve rounds: 0x3c + 15 rounds.
        lda     *_ws_ascon_permute_PARM_2
        ldx     #15
        mul
        add     #0x3c
        sta     *constant
        ldhx    *sum
round:  lda     19,x
        eor     *constant
        sta     19,x
        lda     *constant
        sub     #15
        sta     *constant
        substitute 0
        substitute 1
        substitute 2
        substitute 3
        substitute 4
        substitute 5
        substitute 6
        substitute 7
; Section 3.4.
        sum_right t, 3, t, 2            ; 28 - 3, 19 - 3
        right   sum
        right   sum
        give_right 0, sum, t
        sum_left t+8, 5, t+8        ; 39
        left    t+8
        left    t+8
        give_left 8, t+8, 0, sum      ; 61 = 64 - 3
        sum_right t+16, 0, t+16, 0  ; 1
        left    t+16
        give_left 16, t+16, 1, sum    ; 6 = 8 - 2
        sum_right t+24, 1, t+24, 2  ; 10 - 1, 17 - 1
        give_right 24, sum, t+24
        sum_right t+32, 5, t+32, 0  ; 41
        give_left 32, t+32, 1, sum    ; 7 = 8 - 1
        dbnz    *_ws_ascon_permute_PARM_2, more
        bra     done
more:   jmp     round

done:   ldhx    #secrets
wipe:   clr     *sum - 1,x
        dbnzx   wipe
        clra
        rts
