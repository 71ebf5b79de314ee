/* A program for campaigns of faults: a decision of crypto/ about what is not authentic, and one of
 * two ends.
 * `wattseal fault decide.elf --function ws_ecdsa_p256_verify --good reach:ws_rejected
 * --bad reach:ws_accepted` */
#include "../crypto/compiler.h"
#include "../crypto/ecdsa_p256.h"
#include "../crypto/ed25519.h"
#include "../crypto/gcm.h"

/* Place and kind of the decision's input, which is loaded over it. */
enum { P256 = 0, ED25519 = 1, GCM = 2 };
struct input {
    uint8_t which;
    uint8_t message;
    uint8_t spare[2];
    uint8_t key[64];
    /* A signature; or a nonce, and the tag behind it. */
    uint8_t proof[64];
};

/* In flash. Weak, so that the compiler does not know it. */
extern const struct input ws_decide;
__attribute__((weak)) const struct input ws_decide = {0, 0, {0}, {0}, {0}};

static volatile uint8_t ended;

WS_NOINLINE void ws_accepted(void);
WS_NOINLINE void ws_rejected(void);

void ws_accepted(void)
{
    for (;;) {
        ended = 1;
    }
}

void ws_rejected(void)
{
    for (;;) {
        ended = 2;
    }
}

int main(void)
{
    struct input input;
    uint8_t *const bytes = (uint8_t *)&input;
    uint8_t opened;
    uint8_t i;
    int result;

    for (i = 0; i < sizeof input; i++) {
        bytes[i] = ((const uint8_t *)&ws_decide)[i];
    }
    if (input.which == P256) {
        result = ws_ecdsa_p256_verify(input.key, &input.message, 1, input.proof);
    } else if (input.which == ED25519) {
        result = ws_ed25519_verify(input.key, &input.message, 1, input.proof);
    } else {
        result = ws_aes_gcm_open(input.key, 4, input.proof, 0, 0, &input.message, 1, input.proof + 16, &opened);
    }
    if (result == 0) {
        ws_accepted();
    }
    ws_rejected();
    return 0;
}
