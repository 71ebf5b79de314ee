; Where the small keyed AES kernels of the 68HC08 have block and key (aes_keyed.h): 48 bytes of page zero.

        .module aes_keyed_small

        .area   DSEG    (PAG)
_ws_aes_block::
        .ds     16
_ws_aes_key::
        .ds     16
; What a 128-bit key leaves free of it is scratch.
ws_aes128_rcon::
        .ds     1
ws_secret_table_aes128_reduction::
        .ds     2
ws_aes128_sum::
        .ds     1
        .ds     4
; What a 192-bit key leaves free, too.
ws_aes192_half::
        .ds     8
