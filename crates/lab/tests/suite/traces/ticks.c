/* A pin that is moved by each of three ticks of a timer, between which the core sleeps; then the program ends, because nothing will wake
 * it. Before that it computes, and sets another clock. No RAM is set up: the models have it zeroed. */
typedef volatile unsigned char u8;
typedef volatile unsigned short u16;
typedef volatile unsigned long u32;

static volatile unsigned char ticks;
static volatile unsigned int total;

int main(void);
void tick(void);

#define AT(type, address) (*(type *)(address))

#if defined(__AVR__)

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#define HANDLER ISR(TIMER0_COMPA_vect)
#define MOVE_PIN() (PORTB ^= 1 << 5)
#define STOP() (TIMSK0 = 0)
#define SLEEP() sleep_mode()

static inline void begin(void)
{
    DDRB = 1 << 5 | 1 << 0;
    CLKPR = 1 << CLKPCE;
    CLKPR = 2;
    TCCR0A = 1 << WGM01;
    OCR0A = 124;
    TIMSK0 = 1 << OCIE0A;
    set_sleep_mode(SLEEP_MODE_IDLE);
    TCCR0B = 2;
    sei();
}

#elif defined(__arm__)

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    [0] = (void *)0x20001000, [1] = (void *)main, [15] = (void *)tick};

#define HANDLER void tick(void)
#define MOVE_PIN() (AT(u32, 0x48000014) ^= 1 << 5)
#define STOP() (AT(u32, 0xe000e010) = 0)
#define SLEEP() __asm__ volatile("wfi")

static inline void begin(void)
{
    AT(u32, 0x40021014) |= 1 << 17; /* RCC_AHBENR */
    AT(u32, 0x48000000) |= 1 << 10 | 1; /* GPIOA_MODER */
    AT(u32, 0x40021004) = 8 << 4; /* RCC_CFGR: HSI / 2 */
    AT(u32, 0xe000e014) = 999;
    AT(u32, 0xe000e018) = 0;
    AT(u32, 0xe000e010) = 7;
}

#elif defined(__MSP430__)

__attribute__((naked, section(".start"), used)) void start(void)
{
    __asm__("mov #0x3c00, r1\n br #main");
}

/* Vector 54. */
#define HANDLER __attribute__((interrupt(54))) void tick(void)
#define MOVE_PIN() (AT(u8, 0x0202) ^= 1 << 5)
#define STOP() (AT(u16, 0x0340) = 0)
#define SLEEP() __asm__ volatile("bis #0x18, r2\n nop")

static inline void begin(void)
{
    AT(u16, 0x015c) = 0x5a80; /* WDTCTL */
    AT(u8, 0x0204) = 1 << 5 | 1 << 0; /* P1DIR */
    AT(u16, 0x016a) = 0x0011; /* UCSCTL5: MCLK and SMCLK / 2 */
    AT(u16, 0x0352) = 1999; /* TA0CCR0 */
    AT(u16, 0x0342) = 1 << 4; /* TA0CCTL0: CCIE */
    AT(u16, 0x0340) = 0x0214; /* TA0CTL: SMCLK, up */
}

#else /* CH32V003 */

__attribute__((naked, section(".start"), used)) void start(void)
{
    __asm__(".option push\n .option norvc\n j 1f\n .option pop\n"
            ".rept 11\n .word 0\n .endr\n .word tick\n"
            "1: .option arch, +zicsr\n li sp, 0x20000800\n li t0, 3\n csrw mtvec, t0\n"
            "li t0, 0x88\n csrw mstatus, t0\n j main");
}

#define HANDLER __attribute__((interrupt)) void tick(void)
#define MOVE_PIN() (AT(u32, 0xe000f004) = 0, AT(u32, 0x4001140c) ^= 1 << 5)
#define STOP() (AT(u32, 0xe000f000) = 0)
#define SLEEP() __asm__ volatile("wfi")

static inline void begin(void)
{
    AT(u32, 0x40021018) |= 1 << 5; /* RCC_APB2PCENR */
    AT(u32, 0x40011400) = 0x44144441; /* GPIOD_CFGLR */
    AT(u32, 0x40021004) = 1 << 4; /* RCC_CFGR0: HSI / 2 */
    AT(u32, 0xe000e100) = 1 << 12; /* PFIC_IENR1 */
    AT(u32, 0xe000f010) = 999; /* STK_CMPLR */
    AT(u32, 0xe000f000) = 0xf; /* STK_CTLR: HCLK, reload, interrupt */
}

#endif

HANDLER
{
    MOVE_PIN();
    if (++ticks == 3) {
        STOP();
    }
}

#ifdef __clang__
#define WHOLE __attribute__((noinline))
#else
#define WHOLE __attribute__((noinline, noclone))
#endif

static WHOLE unsigned int work(unsigned char count)
{
    unsigned int sum = total;
    for (unsigned char i = 0; i < count; i++) {
        sum += total;
        if (sum > 1000) {
            sum = total; /* never */
        }
        total = i; /* each time */
    }
    return sum;
}

int main(void)
{
    total = work(10);
    begin();
    for (;;) {
        SLEEP();
    }
}
