#include "renewal.h"

#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)

#include "link.h"

#include "../crypto/compiler.h"
#include "../crypto/gcm.h"
#include "../crypto/secret.h"
#include "../drivers/provision.h"

/* Offsets in what is provisioned. */
#define METER 2
#define OWN_PUBLIC_KEY 22
#define COLLECTOR_KEY 112
#define KEY_NAME 8

#define ALL_OF_THE_OFFER (((uint32_t)1 << WS_RENEWAL_OFFER) - 1)

typedef char ws_renewal_pieces_are_whole[WS_P256_ML_KEM_512_OFFER % WS_RENEWAL_DATA == 0 &&
                                                 WS_P256_ML_KEM_512_RESPONSE % WS_RENEWAL_DATA == 0 && WS_RENEWAL_OFFER < 32
                                             ? 1
                                             : -1];

void ws_renewal_begin(ws_renewal *renewal, uint32_t m)
{
    ws_renewal_end(renewal);
    renewal->m = m;
}

void ws_renewal_end(ws_renewal *renewal)
{
    ws_wipe(renewal, sizeof *renewal);
}

/* Whether the first piece of the response is the next thing that may be asked for, and this is its index. */
static uint8_t begins_response(const ws_renewal *renewal, uint8_t index)
{
    return !renewal->responded && renewal->have == ALL_OF_THE_OFFER && index == WS_RENEWAL_OFFER;
}

/* The nonce of a piece: what no other message of the suite has, whose bytes 4 to 7 are zeros or begin with a name. */
static void write_nonce(uint8_t kind, uint32_t m, uint8_t index, uint8_t nonce[12])
{
    nonce[0] = kind;
    nonce[1] = WS_SUITE_AES256_GCM_REKEYED;
    ws_provision_read(METER, nonce + 2, 2);
    ws_message_write_32(nonce + 4, (uint32_t)1 << 8 | index);
    ws_message_write_32(nonce + 8, m);
}

/* Opens a packet of this renewal. Returns whether it is one. */
static WS_NOINLINE uint8_t open(const ws_renewal *renewal, const ws_epoch_key *key, const uint8_t packet[WS_RENEWAL_PACKET],
                                uint8_t data[WS_RENEWAL_DATA])
{
    const uint8_t index = packet[WS_LINK_HEADER];
    const uint8_t *const sealed = packet + WS_LINK_HEADER + 1;
    uint8_t nonce[12];

    if (renewal->m == 0 || packet[4] != (uint8_t)renewal->m || index >= WS_RENEWAL_OFFER + WS_RENEWAL_RESPONSE) {
        return 0;
    }
    write_nonce(WS_KIND_COMMAND, renewal->m, index, nonce);
    return ws_aes_gcm_open(key->key, 8, nonce, 0, 0, sealed, WS_RENEWAL_DATA, sealed + WS_RENEWAL_DATA, data) == 0;
}

uint8_t ws_renewal_is_response_due(const ws_renewal *renewal, const ws_epoch_key *key, const uint8_t packet[WS_RENEWAL_PACKET])
{
    uint8_t data[WS_RENEWAL_DATA];

    return begins_response(renewal, packet[WS_LINK_HEADER]) && open(renewal, key, packet, data);
}

/* Makes the response and the next key. Returns as ws_p256_ml_kem_512_respond. */
static WS_NOINLINE int respond(ws_renewal *renewal, const ws_epoch_key *key, ws_drbg *random)
{
    static const uint8_t label[16] = {'W', 'a', 't', 't', 'S', 'e', 'a', 'l', ' ', 's', 'u', 'i', 't', 'e', ' ', '6'};
    uint8_t info[sizeof label + 2 + 2 * KEY_NAME + 4 + 4];

    ws_message_copy(info, label, sizeof label);
    ws_provision_read(METER, info + 16, 2);
    ws_provision_read(OWN_PUBLIC_KEY, info + 18, KEY_NAME);
    ws_provision_read(COLLECTOR_KEY, info + 18 + KEY_NAME, KEY_NAME);
    ws_message_write_32(info + 18 + 2 * KEY_NAME, ws_message_read_32(key->epoch) + 1);
    ws_message_write_32(info + 22 + 2 * KEY_NAME, renewal->m);
    return ws_p256_ml_kem_512_respond(random, key->key, sizeof key->key, info, sizeof info, renewal->offer,
                                      renewal->response, renewal->next_key);
}

uint8_t ws_renewal_take(ws_renewal *renewal, const ws_epoch_key *key, ws_drbg *random, const uint8_t packet[WS_RENEWAL_PACKET],
                        uint8_t reply[WS_RENEWAL_DATA + 16])
{
    const uint8_t index = packet[WS_LINK_HEADER];
    uint8_t nonce[12];
    uint8_t data[WS_RENEWAL_DATA];
    const uint8_t *said = data;
    uint8_t i;

    if (!open(renewal, key, packet, data)) {
        return 0;
    }
    if (index < WS_RENEWAL_OFFER) {
        if (!renewal->responded) {
            for (i = 0; i < sizeof data; i++) {
                renewal->offer[(uint16_t)index * WS_RENEWAL_DATA + i] = data[i];
            }
            renewal->have |= (uint32_t)1 << index;
        }
        for (i = 0; i < sizeof data; i++) {
            data[i] = 0;
        }
    } else {
        if (!renewal->responded) {
            if (!begins_response(renewal, index)) {
                return 0;
            }
            if (respond(renewal, key, random) != 0) {
                ws_renewal_end(renewal);
                return 0;
            }
            renewal->responded = 1;
        }
        said = renewal->response + (uint16_t)(index - WS_RENEWAL_OFFER) * WS_RENEWAL_DATA;
    }
    write_nonce(WS_KIND_ANSWER, renewal->m, index, nonce);
    return ws_aes_gcm_seal(key->key, 8, nonce, 0, 0, said, sizeof data, reply, reply + WS_RENEWAL_DATA) == 0;
}

#else

/* ISO C wants something in a file. */
typedef char ws_renewal_is_in_no_message;

#endif
