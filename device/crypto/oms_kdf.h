/* The key of one message of a meter: the derivation of OMS volume 2, section 9.3, by AES-128-CMAC.
 *
 * Constant time. Stack: that of ws_aes_cmac, beside a block and a frame. */
#ifndef WS_OMS_KDF_H
#define WS_OMS_KDF_H

#include <stdint.h>

/* Derives a key.
 *
 * in:  key: the master key; constant: Table 46's, for messages of the meter 0 for encryption, 1 for
 *      authentication; counter: the message's, the lowest byte first; meter: the identification
 *      number, as in a telegram.
 * out: derived; may be key. */
void ws_oms_kdf(const uint8_t key[16], uint8_t constant, const uint8_t counter[4],
                const uint8_t meter[4], uint8_t derived[16]);

#endif
