/* The renewal of suite 6's key, the meter's side (docs/reference/protocol.md, "Renewal of the key"): a hybrid key agreement with the collector, piece by
 * piece, in packets of its own that are sealed with the present key.
 *
 * The collector asks, and each of its packets has one reply, the same however often it is asked for. All is in RAM: after a start there is no
 * renewal under way, and the collector begins another one. So no two contents are ever sealed for one piece: pieces are sealed with m of
 * the command that began it, which the settings keep before the first one is looked at.
 *
 * Where this build does not have the suite there is nothing here. */
#ifndef WS_METER_RENEWAL_H
#define WS_METER_RENEWAL_H

#include "message.h"

#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)

#include "../crypto/drbg.h"
#include "../crypto/p256_ml_kem_512.h"
#include "epoch_key.h"

#include <stdint.h>

/* What byte 1 of a packet has in its lowest three bits, and the packet's bytes: 5 as others, the index, 32, the tag. */
#define WS_RENEWAL_PIECE 6
#define WS_RENEWAL_PACKET 54
#define WS_RENEWAL_DATA 32
/* Pieces of the offer and then, to be asked for, of the response. */
#define WS_RENEWAL_OFFER (WS_P256_ML_KEM_512_OFFER / WS_RENEWAL_DATA)
#define WS_RENEWAL_RESPONSE (WS_P256_ML_KEM_512_RESPONSE / WS_RENEWAL_DATA)

/* All 0 is none under way. The members are the implementation's, but for next_key. */
typedef struct {
    /* Of the command that began it. */
    uint32_t m;
    /* A bit for each piece of the offer. */
    uint32_t have;
    /* Whether there are a response and the next key. */
    uint8_t responded;
    uint8_t next_key[32];
    uint8_t offer[WS_P256_ML_KEM_512_OFFER];
    uint8_t response[WS_P256_ML_KEM_512_RESPONSE];
} ws_renewal;

/* Begins one, and forgets the one before. in: m: above 0, of the command, which is durable. out: renewal. */
void ws_renewal_begin(ws_renewal *renewal, uint32_t m);

/* Wipes it: none is under way. */
void ws_renewal_end(ws_renewal *renewal);

/* Whether a packet asks for the first piece of the response, which takes curves and random numbers: it is authentic, the offer is whole, and
 * there is no response yet. in: key, packet as below. */
uint8_t ws_renewal_is_response_due(const ws_renewal *renewal, const ws_epoch_key *key, const uint8_t packet[WS_RENEWAL_PACKET]);

/* Takes a packet of the collector and makes the reply.
 *
 * in:     key: the present one. packet: of WS_RENEWAL_PACKET bytes and piece WS_RENEWAL_PIECE, for this meter; else any.
 * in/out: renewal; random: where ws_renewal_is_response_due, seeded anew with noise, so that who knew all that the meter has in its memories
 *         before does not know the next key; else not looked at.
 * out:    reply: data and tag, 48 bytes.
 * Returns 1: the reply is to be sent. 0: there is none: of no renewal under way, not authentic, a piece of the response before the offer
 * is whole, or an offer that is none, with which the renewal is over. */
uint8_t ws_renewal_take(ws_renewal *renewal, const ws_epoch_key *key, ws_drbg *random, const uint8_t packet[WS_RENEWAL_PACKET],
                        uint8_t reply[WS_RENEWAL_DATA + 16]);

#endif
#endif
