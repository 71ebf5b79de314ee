/* Calls done(17), which goes on for ever. */
#ifdef __arm__
void start(void);
__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20010000, (void *)start};
#else
#define start main
int start(void);
#endif

__attribute__((noinline, noreturn)) void done(int code)
{
    for (;;) {
        __asm__ volatile("" : : "r"(code));
    }
}

#ifdef __arm__
void
#else
int
#endif
start(void)
{
    done(17);
}
