/* SLH-DSA: stateless hash-based signatures, FIPS 205, with the two parameter sets of category 1 that need SHA-256 alone. */
#ifndef WS_SLH_DSA_H
#define WS_SLH_DSA_H

#include <stddef.h>
#include <stdint.h>

/* Parameter sets of section 11: small signatures, and ones that are fast to make. */
#define WS_SLH_DSA_SHA2_128S 0
#define WS_SLH_DSA_SHA2_128F 1

/* n of table 2: a signature is a whole number of such values, the first of which is R. */
#define WS_SLH_DSA_VALUE 16

/* PK.seed || PK.root. */
#define WS_SLH_DSA_PUBLIC_KEY 32
/* SK.seed || SK.prf || PK.seed || PK.root. */
#define WS_SLH_DSA_PRIVATE_KEY 64

#define WS_SLH_DSA_SHA2_128S_SIGNATURE 7856
#define WS_SLH_DSA_SHA2_128F_SIGNATURE 17088

#endif
