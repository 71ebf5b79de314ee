/* Floating point as firmware has it, for the models with a unit: series, square roots, fused products, conversions,
 * comparisons, calls with many arguments. Single precision; double precision too, which the Cortex-M4 computes in
 * software. The result is compared with that of the same source on the host. */
#include <stddef.h>
#include <stdint.h>

/* Not of <string.h>: the cross compiler comes without a library. */
void *memcpy(void *to, const void *from, size_t size);

static uint32_t mixed(uint32_t hash, uint32_t value) { return (hash ^ value) * 16777619u; }

static uint32_t mixed_float(uint32_t hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mixed(hash, bits);
}

static uint32_t mixed_double(uint32_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mixed(mixed(hash, (uint32_t)bits), (uint32_t)(bits >> 32));
}

__attribute__((noinline)) static float exponential(float x)
{
    float term = 1.0f, sum = 1.0f;
    for (int i = 1; i < 14; i++) {
        term = term * x / (float)i;
        sum += term;
    }
    return sum;
}

__attribute__((noinline)) static float norm(float a, float b, float c, float d, float e, float f, float g, float h)
{
    float sum = 0.0f;
    const float values[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        sum = __builtin_fmaf(values[i], values[i], sum);
    return __builtin_sqrtf(sum);
}

__attribute__((noinline)) static double newton(double x)
{
    double y = x > 1.0 ? x : 1.0;
    for (int i = 0; i < 40; i++)
        y = (y + x / y) / 2.0;
    return y;
}

uint32_t work(uint32_t count)
{
    uint32_t hash = 2166136261u, seed = 1;
    for (uint32_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        float x = (float)(int32_t)seed / 134217728.0f;
        float y = (float)(seed >> 7) * 0.001f;
        float e = exponential(x);
        float n = norm(x, y, e, x * y, x - y, e / y, -x, y * y);
        hash = mixed_float(mixed_float(hash, e), n);
        hash = mixed(hash, (uint32_t)(int32_t)(x * 100.0f));
        hash = mixed(hash, (uint32_t)(y * 16.0f));
        if (x < y && !(n <= e))
            hash = mixed(hash, i);
        double d = newton((double)y * 3.25 + (double)seed);
        hash = mixed_float(mixed_double(hash, d), (float)d);
        hash = mixed(hash, (uint32_t)d);
        /* Into the denormal numbers and out of them. */
        float small = x * 1e-38f;
        for (int step = 0; step < 6; step++) {
            hash = mixed_float(hash, small);
            small *= 0.01f;
        }
        hash = mixed_float(hash, small * 1e12f);
    }
    return hash;
}

#ifdef __arm__
volatile uint32_t result __attribute__((section(".bss.result")));
extern char stack_top;

void *memcpy(void *to, const void *from, size_t size)
{
    char *t = to;
    for (const char *f = from; size--;)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t size)
{
    char *t = to;
    while (size--)
        *t++ = (char)value;
    return to;
}

__attribute__((noreturn)) void start(void)
{
    /* CPACR: the unit is on. */
    *(volatile uint32_t *)0xe000ed88 = 0xf00000;
    __asm volatile("dsb\n isb" ::: "memory");
    result = work(COUNT);
    for (;;)
        __asm volatile("bkpt 0");
}

__attribute__((section(".vectors"), used)) void *const vectors[2] = {&stack_top, (void *)start};
#endif
