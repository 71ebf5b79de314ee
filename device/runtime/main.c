/* Runs the compiler runtime of the MSP430 port through operands at which arithmetic goes wrong if anywhere, and leaves
 * the results in memory for the host to check. For the MSP430 alone: the other ports take theirs from libgcc. */
#include <stdint.h>

uint16_t __mspabi_slli(uint16_t value, uint16_t count);
uint16_t __mspabi_srli(uint16_t value, uint16_t count);
int16_t __mspabi_srai(int16_t value, uint16_t count);
uint32_t __mspabi_slll(uint32_t value, uint16_t count);
uint32_t __mspabi_srll(uint32_t value, uint16_t count);
int32_t __mspabi_sral(int32_t value, uint16_t count);
uint16_t __mspabi_mpyi(uint16_t a, uint16_t b);
uint32_t __mspabi_mpyl(uint32_t a, uint32_t b);
uint16_t __mspabi_divu(uint16_t a, uint16_t b);
uint16_t __mspabi_remu(uint16_t a, uint16_t b);
int16_t __mspabi_divi(int16_t a, int16_t b);
int16_t __mspabi_remi(int16_t a, int16_t b);
uint32_t __mspabi_divul(uint32_t a, uint32_t b);
uint32_t __mspabi_remul(uint32_t a, uint32_t b);
int32_t __mspabi_divli(int32_t a, int32_t b);
int32_t __mspabi_remli(int32_t a, int32_t b);

#define VALUES 12

const uint32_t ws_runtime_values[VALUES] = {
    0,          1,          2,          0x7fff,     0x8000,     0xffff,
    0x00010000, 0x12345678, 0x7fffffff, 0x80000000, 0x89abcdef, 0xffffffff,
};

/* For each pair of values: product, unsigned quotient and remainder, signed quotient and remainder; divisors of zero
 * count as 7. The 16-bit ones take the low halves. */
uint32_t ws_runtime_results32[VALUES][VALUES][5];
uint16_t ws_runtime_results16[VALUES][VALUES][5];
/* For each value and count: shifted left, right, and right with the sign. */
uint32_t ws_runtime_shifts32[VALUES][32][3];
uint16_t ws_runtime_shifts16[VALUES][16][3];

void ws_runtime_done(void);

__attribute__((noinline)) void ws_runtime_done(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    uint16_t i;
    uint16_t j;

    for (i = 0; i < VALUES; i++) {
        uint32_t a = ws_runtime_values[i];

        for (j = 0; j < VALUES; j++) {
            uint32_t b = ws_runtime_values[j];
            uint32_t divisor = b ? b : 7;
            uint16_t divisor16 = (uint16_t)b ? (uint16_t)b : 7;
            uint32_t *r = ws_runtime_results32[i][j];
            uint16_t *s = ws_runtime_results16[i][j];

            r[0] = __mspabi_mpyl(a, b);
            r[1] = __mspabi_divul(a, divisor);
            r[2] = __mspabi_remul(a, divisor);
            r[3] = (uint32_t)__mspabi_divli((int32_t)a, (int32_t)divisor);
            r[4] = (uint32_t)__mspabi_remli((int32_t)a, (int32_t)divisor);
            s[0] = __mspabi_mpyi((uint16_t)a, (uint16_t)b);
            s[1] = __mspabi_divu((uint16_t)a, divisor16);
            s[2] = __mspabi_remu((uint16_t)a, divisor16);
            s[3] = (uint16_t)__mspabi_divi((int16_t)a, (int16_t)divisor16);
            s[4] = (uint16_t)__mspabi_remi((int16_t)a, (int16_t)divisor16);
        }
        for (j = 0; j < 32; j++) {
            ws_runtime_shifts32[i][j][0] = __mspabi_slll(a, j);
            ws_runtime_shifts32[i][j][1] = __mspabi_srll(a, j);
            ws_runtime_shifts32[i][j][2] = (uint32_t)__mspabi_sral((int32_t)a, j);
        }
        for (j = 0; j < 16; j++) {
            ws_runtime_shifts16[i][j][0] = __mspabi_slli((uint16_t)a, j);
            ws_runtime_shifts16[i][j][1] = __mspabi_srli((uint16_t)a, j);
            ws_runtime_shifts16[i][j][2] = (uint16_t)__mspabi_srai((int16_t)a, j);
        }
    }
    ws_runtime_done();
    for (;;) {
    }
}
