/* Functions that users bring, good and bad. sdcc returns no structures, has no double, no division
 * of 64 bits, and calls by address only functions without arguments on a stack. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef SCALE
#define SCALE 1
#endif

typedef struct {
    int16_t least, most;
    struct {
        uint8_t count;
        int32_t sum;
    } total;
    uint8_t quarters[4];
} summary;

struct point {
    int x, y;
};

int32_t fir(const int16_t *x, uint8_t n)
{
    int32_t sum = 0;
    for (uint8_t i = 0; i < n; i++) {
        sum += (int32_t)x[i] * x[n - 1 - i] * SCALE;
    }
    return sum;
}

uint32_t crc32(const void *data, size_t length)
{
    const uint8_t *bytes = data;
    uint32_t crc = 0xffffffffu;
    while (length-- != 0) {
        crc ^= *bytes++;
        for (int k = 0; k < 8; k++) {
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
        }
    }
    return ~crc;
}

void quicksort(int *a, int first, int last)
{
    int i = first - 1, kept;
    if (first >= last) {
        return;
    }
    for (int j = first; j < last; j++) {
        if (a[j] <= a[last]) {
            kept = a[++i];
            a[i] = a[j];
            a[j] = kept;
        }
    }
    kept = a[i + 1];
    a[i + 1] = a[last];
    a[last] = kept;
    quicksort(a, first, i);
    quicksort(a, i + 2, last);
}

#ifndef __SDCC
summary summarise(const int16_t *v, uint8_t n)
{
    summary s = {v[0], v[0], {n, 0}, {0}};
    for (uint8_t i = 0; i < n; i++) {
        s.least = v[i] < s.least ? v[i] : s.least;
        s.most = v[i] > s.most ? v[i] : s.most;
        s.total.sum += v[i];
        s.quarters[(uint16_t)v[i] >> 14]++;
    }
    return s;
}
#endif

void move(struct point *p, unsigned n, int by)
{
    for (; n != 0; n--, p++) {
        p->x += by;
        p->y ^= by;
    }
}

float dot(const float *a, const float *b, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

#ifndef __SDCC
double mean(const double *a, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i];
    }
    return sum / n;
}

uint64_t quotient(uint64_t a, uint64_t b)
{
    return a / (b | 1);
}
#endif

uint32_t twice_len(const char *text, uint8_t *copy)
{
    memcpy(copy, text, 4);
    return 2u * copy[0];
}

int less(int a, int b)
{
    return a < b;
}

#ifndef __SDCC
int chosen(int a, int b, int (*order)(int, int))
{
    return order(a, b) ? a : b;
}
#endif

int product(int a, int b)
{
    return a * b;
}

void past_end(uint8_t *p, uint8_t n)
{
    for (uint8_t i = 0; i <= n; i++) {
        p[i] = i;
    }
}

int endless(int n)
{
    volatile int on = 1;
    while (on) {
    }
    return n;
}

/* A main of the author's own is not in the way. */
int main(void)
{
    return 0;
}
