/* Adds up numbers in work(), while a timer interrupts; ends with 7 once it has done so often enough. */
#include <stdint.h>

volatile uint16_t ticks;
volatile uint16_t sum;

#define REGISTER(address) (*(volatile uint32_t *)(address))

__attribute__((noinline)) void work(uint8_t n)
{
    sum += n;
}

#if defined __AVR__
#include <avr/interrupt.h>
#include <avr/io.h>

ISR(TIMER0_OVF_vect, __attribute__((used)))
{
    ticks++;
}

static void start_timer(void)
{
    TCCR0B = 1;
    TIMSK0 = 1;
    sei();
}

#elif defined __arm__
int main(void);

__attribute__((noinline)) void _exit(int code)
{
    for (;;) {
        __asm__ volatile("" : : "r"(code));
    }
}

static void reset(void)
{
    _exit(main());
}

void tick(void)
{
    ticks++;
}

/* STM32F407, SysTick: ARMv7-M Architecture Reference Manual, B3.3. */
__attribute__((section(".vectors"), used)) static void *const vectors[16] = {(void *)0x20010000, (void *)reset, [15] = (void *)tick};

static void start_timer(void)
{
    REGISTER(0xe000e014) = 255;
    REGISTER(0xe000e018) = 0;
    REGISTER(0xe000e010) = 7;
}

#elif defined __riscv
int main(void);
void reset(void);

__attribute__((interrupt)) void tick(void)
{
    ticks++;
    REGISTER(0xe000f004) = 0;
}

/* CH32V003, reset at 0, vectors by their addresses, SysTick's number 12: CH32V003RM, table 6-1. */
__asm__(".section .vectors, \"ax\"; .option norvc; j reset; .rept 11; .word 0; .endr; .word tick; .text; .option rvc");

static void start_timer(void)
{
    REGISTER(0xe000f010) = 255;
    REGISTER(0xe000f008) = 0;
    REGISTER(0xe000f000) = 0xf;
    REGISTER(0xe000e100) = 1 << 12;
    __asm__ volatile(".option push; .option arch, +zicsr; csrw mtvec, %0; csrs mstatus, %1; .option pop" : : "r"(3), "r"(0x88));
}

__attribute__((noinline)) void _exit(int code)
{
    for (;;) {
        __asm__ volatile("" : : "r"(code));
    }
}

__attribute__((naked)) void reset(void)
{
    __asm__ volatile("li sp, 0x20000800; call main; j _exit");
}

#elif defined __MSP430__
#define WORD(address) (*(volatile uint16_t *)(address))

int main(void);

__attribute__((noinline)) void _exit(int code)
{
    for (;;) {
        __asm__ volatile("" : : "r"(code));
    }
}

__attribute__((interrupt(2))) void tick(void)
{
    ticks++;
}

/* Watchdog off: SLAU208, 16.3. */
__attribute__((naked)) void reset(void)
{
    __asm__ volatile("mov #0x5c00, r1\n mov #0x5a80, &0x15c\n call #main\n call #_exit");
}

/* MSP430F5438A: TA0's CCR0 has vector 54, reset 63. */
__attribute__((section(".vectors"), used)) static void (*const vectors[64])(void) = {[54] = tick, [63] = reset};

/* TA0 from SMCLK up to TA0CCR0: SLAU208, 17.3. */
static void start_timer(void)
{
    WORD(0x352) = 255;
    WORD(0x342) = 0x10;
    WORD(0x340) = 0x214;
    __asm__ volatile("eint\n nop");
}

#else
#error "no start-up for this family"
#endif

int main(void)
{
    start_timer();
    for (uint8_t i = 0; ticks < 20; i++) {
        work(i);
    }
    return 7;
}
