#include "drbg.h"

#include "secret.h"

int ws_drbg_instantiate(ws_drbg *drbg, const uint8_t *seed, size_t len)
{
    ws_piece piece;

    piece.data = seed;
    piece.len = len;
    return ws_drbg_instantiate_pieces(drbg, &piece, 1);
}

int ws_drbg_instantiate_pieces(ws_drbg *drbg, const ws_piece *seed, uint8_t count)
{
    uint8_t missing = WS_DRBG_SEED_BYTES;
    uint8_t i;

    for (i = 0; i < count; i++) {
        missing = seed[i].len < missing ? (uint8_t)(missing - seed[i].len) : 0;
    }
    if (missing != 0) {
        ws_wipe(drbg, sizeof *drbg);
        return -1;
    }
    ws_hmac_drbg_sha256_instantiate(&drbg->state, seed, count);
    drbg->request = 1;
    return 0;
}

int ws_drbg_reseed(ws_drbg *drbg, const uint8_t *entropy, size_t entropy_len, const uint8_t *additional,
                   size_t additional_len)
{
    ws_piece pieces[2];

    if (drbg->request == 0 || entropy_len < WS_DRBG_ENTROPY_BYTES) {
        return -1;
    }
    pieces[0].data = entropy;
    pieces[0].len = entropy_len;
    pieces[1].data = additional;
    pieces[1].len = additional_len;
    ws_hmac_drbg_sha256_update(&drbg->state, pieces, 2);
    drbg->request = 1;
    return 0;
}

int ws_drbg_generate(ws_drbg *drbg, uint8_t *out, size_t len, const uint8_t *additional, size_t additional_len)
{
    ws_piece piece;

    if (drbg->request == 0 || drbg->request > WS_DRBG_RESEED_INTERVAL
#if SIZE_MAX > 0xffff
        || len > WS_DRBG_REQUEST_BYTES
#endif
    ) {
        ws_wipe(out, len);
        return -1;
    }
    piece.data = additional;
    piece.len = additional_len;
    if (additional_len != 0) {
        ws_hmac_drbg_sha256_update(&drbg->state, &piece, 1);
    }
    ws_hmac_drbg_sha256_output(&drbg->state, out, len);
    ws_hmac_drbg_sha256_update(&drbg->state, &piece, 1);
    drbg->request++;
    return 0;
}
