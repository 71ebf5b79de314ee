/* A check that one skipped instruction passes, and with TWICE one that it does not pass. */
typedef unsigned char byte;

static volatile byte given[4], wanted[4];
static volatile byte ends;

/* The markers; neither returns. */
void reject(void)
{
    for (;;)
        ends = 1;
}

void accept(void)
{
    for (;;)
        ends = 2;
}

byte differs(void)
{
    byte all = 0;
    for (byte i = 0; i < 4; i++)
        all |= given[i] ^ wanted[i];
    return all;
}

#ifndef TWICE
void check(void)
{
    if (differs()) /* PLANTED */
        reject();
    accept();
}
#else
void check(void)
{
    volatile byte first = 0x5a, second = 0xa5;
    first = differs();
    second = differs();
    if (first == 0) {
        if (second == 0 && differs() == 0)
            accept();
        reject();
    }
    reject();
}
#endif

/* The attacker's code is wrong in its last byte. */
void start(void)
{
    for (byte i = 0; i < 4; i++) {
        given[i] = i;
        wanted[i] = i;
    }
    given[3] = 9;
    check();
}

#if defined(__AVR__) || defined(__SDCC)
int main(void)
{
    start();
    return 0;
}
#elif defined(__arm__)
__attribute__((section(".vectors"), used)) static void (*const vectors[2])(void)
    = { (void (*)(void))0x20001000, start };
#elif defined(__riscv)
__asm__(".section .vectors,\"ax\"\n.globl _start\n_start: li sp, 0x20000800\ncall start\n");
#elif defined(__MSP430__)
__asm__(".text\n.globl _start\n_start: mov #0x3c00, r1\ncall #start\n"
        ".section .vectors,\"a\"\n.word _start\n.text\n");
#endif
