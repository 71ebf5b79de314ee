#include "single_step_kdf.h"

#include "x963_kdf.h"

/* A block is H(counter || Z || FixedInfo); X9.63's is H(Z || counter || SharedInfo). */
void ws_single_step_kdf(const uint8_t *z, size_t z_len, const uint8_t *info, size_t info_len,
                        uint8_t *out, size_t len)
{
    ws_x963_kdf(0, 0, z, z_len, info, info_len, out, len);
}
