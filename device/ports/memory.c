/* The four functions that a freestanding compiler may call. Contracts: C99 section 7.21.
 *
 * Built without the optimisation that would turn their loops into calls of themselves. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *d = to;
    const uint8_t *s = from;

    while (n-- != 0) {
        *d++ = *s++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *d = to;
    const uint8_t *s = from;

    if ((uintptr_t)d <= (uintptr_t)s) {
        while (n-- != 0) {
            *d++ = *s++;
        }
    } else {
        while (n-- != 0) {
            d[n] = s[n];
        }
    }
    return to;
}

void *memset(void *to, int value, size_t n)
{
    uint8_t *d = to;

    while (n-- != 0) {
        *d++ = (uint8_t)value;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *left = a;
    const uint8_t *right = b;

    for (; n != 0; n--, left++, right++) {
        if (*left != *right) {
            return *left < *right ? -1 : 1;
        }
    }
    return 0;
}
