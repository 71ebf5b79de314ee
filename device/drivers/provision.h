/* What was written into the part when it was made: keys and name. Implemented by a port.
 *
 * It stands in flash under the symbol ws_provision, WS_PROVISION_BYTES, for a programmer (or the model's host) to fill before
 * the first start: docs/reference/protocol.md, "Provisioning", has its layout. */
#ifndef WS_DRIVERS_PROVISION_H
#define WS_DRIVERS_PROVISION_H

#include <stdint.h>

#define WS_PROVISION_BYTES 176

/* Copies len bytes from offset at. */
void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len);

#endif
