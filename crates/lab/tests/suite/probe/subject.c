/* Functions that a test calls, in a program that calls one of them itself and then ends. No RAM is set up: the models have it zeroed. */
#include <stdint.h>

#if defined __AVR__ || defined __arm__ || defined __riscv
#define AS_WRITTEN __attribute__((noinline, noclone))
#else
#define AS_WRITTEN __attribute__((noinline))
#endif

int main(void);

#if defined __arm__
__attribute__((naked, used)) static void start(void)
{
    __asm__("bl main");
}
__attribute__((section(".vectors"), used)) static void *const vectors[2] = {(void *)0x20001000, (void *)start};
#define RETURN "bx lr"
#define COUNT_DOWN ".syntax unified\n1: subs r0, #1\n bne 1b\n"
#elif defined __MSP430__
__attribute__((naked, section(".start"), used)) void start(void)
{
    __asm__("mov #0x3c00, r1\n mov #0x5a80, &0x015c\n br #main");
}
#define RETURN "ret"
#define COUNT_DOWN "1: dec r12\n jnz 1b\n"
#elif defined __riscv
__attribute__((naked, section(".start"), used)) void start(void)
{
    __asm__("li sp, 0x20000800\n j main");
}
#define RETURN "ret"
#define COUNT_DOWN "1: addi a0, a0, -1\n bnez a0, 1b\n"
#else
#define RETURN "ret"
#define COUNT_DOWN "1: dec r24\n brne 1b\n"
#endif

/* Aligned, so that each argument can be stored as it is. */
volatile uint8_t seen[128] __attribute__((aligned(8)));
volatile uint16_t sum;
uint8_t buffer[16] __attribute__((aligned(2)));

struct pair {
    uint16_t one, other;
};

__attribute__((naked, used)) void bare(void)
{
    __asm__("nop\n" RETURN);
}

/* Its loop begins at its first instruction. The count is in the register of a first argument. */
__attribute__((naked, used)) void count_down(void)
{
    __asm__(COUNT_DOWN RETURN);
}

AS_WRITTEN uint16_t add(uint16_t n)
{
    sum += n;
    return sum;
}

AS_WRITTEN uint16_t deep(uint16_t n)
{
    uint16_t below;

    if (n == 0)
        return 0;
    below = deep(n - 1);
    seen[0] = (uint8_t)below; /* so that it is no loop */
    return n + below;
}

AS_WRITTEN uint8_t last(const uint8_t *bytes, uint8_t length)
{
    return bytes[length - 1];
}

AS_WRITTEN uint16_t apply(uint16_t (*function)(uint16_t), uint16_t n)
{
    return function(n);
}

AS_WRITTEN void *here(void)
{
    return buffer;
}

AS_WRITTEN int16_t negative(int8_t n)
{
    return n;
}

AS_WRITTEN void endless(void)
{
    for (;;)
        sum++;
}

AS_WRITTEN void of_float(float f)
{
    seen[0] = *(uint8_t *)&f;
}

AS_WRITTEN void of_pair(struct pair pair)
{
    seen[0] = pair.one;
}

AS_WRITTEN int of_many(int n, ...)
{
    return n;
}

#ifdef GENERATED
#include GENERATED
#endif

int main(void)
{
    add(3);
    deep(2);
    count_down();
    for (;;)
        ;
}
