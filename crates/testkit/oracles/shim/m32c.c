/* A program around GDB's simulator of the M16C and R8C (sim/m32c) that sets registers, executes one instruction and
 * gives the registers back, as often as it is asked: `build-gdb-sim m32c` links it with the simulator's own files.
 *
 * Standard input, standard output: words of 32 bits, little-endian.
 *   in 0, address, length, bytes   writes memory
 *   in 1, address, length          out: bytes
 *   in 2, 20 registers             executes one instruction; out: 20 registers
 * The registers: R0 to R3, A0, A1, FB of bank 0; the same of bank 1; SB, USP, ISP, FLG, INTB, PC. The simulator keeps an
 * SB for each bank, the processor has one: both are set, the selected one is read. At an opcode that it does not know,
 * the simulator ends the process. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cpu.h"
#include "mem.h"

/* What these files of the simulator want of those that are left out: the loader, the other instruction set, system
 * calls by a write to address 0x400. */
int (*decode_opcode)(void) = 0;
int decode_m32c(void) { abort(); }
void m32c_syscall(int id)
{
    (void)id;
    abort();
}

static FILE *answers;

static uint32_t get(void)
{
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4)
        exit(0);
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put(uint32_t value)
{
    unsigned char bytes[4] = { value & 255, value >> 8 & 255, value >> 16 & 255, value >> 24 & 255 };
    fwrite(bytes, 1, 4, answers);
}

static void set_bank(reg_bank_type *bank)
{
    bank->r_r0 = get();
    bank->r_r1 = get();
    bank->r_r2 = get();
    bank->r_r3 = get();
    bank->r_a0 = get();
    bank->r_a1 = get();
    bank->r_fb = get();
}

static void put_bank(const reg_bank_type *bank)
{
    put(bank->r_r0);
    put(bank->r_r1);
    put(bank->r_r2);
    put(bank->r_r3);
    put(bank->r_a0);
    put(bank->r_a1);
    put(bank->r_fb);
}

static void step(void)
{
    set_bank(&regs.r[0]);
    set_bank(&regs.r[1]);
    regs.r[0].r_sb = regs.r[1].r_sb = get();
    regs.r_usp = get();
    regs.r_isp = get();
    regs.r_flags = get();
    uint32_t intb = get();
    regs.r_intbl = intb & 0xffff;
    regs.r_intbh = intb >> 16;
    regs.r_pc = get();

    int bank = regs.r_flags & FLAGBIT_B ? 1 : 0;
    uint32_t before = regs.r[0].r_sb;
    decode_r8c();

    put_bank(&regs.r[0]);
    put_bank(&regs.r[1]);
    /* The instruction wrote the SB of the bank that was selected before it, if any. */
    put(regs.r[bank].r_sb != before ? regs.r[bank].r_sb : regs.r[!bank].r_sb);
    put(regs.r_usp);
    put(regs.r_isp);
    put(regs.r_flags);
    put((uint32_t)regs.r_intbh << 16 | regs.r_intbl);
    put(regs.r_pc);
}

int main(void)
{
    static char buffer[1 << 20];
    /* The simulator prints remarks to standard output: they must not get among the answers. */
    answers = fdopen(dup(1), "wb");
    if (!answers || !freopen("/dev/null", "w", stdout))
        return 1;
    setvbuf(answers, buffer, _IOFBF, sizeof buffer);
    init_mem();
    init_regs();
    m32c_set_cpu(CPU_R8C);
    for (;;) {
        uint32_t command = get();
        if (command == 2) {
            step();
            continue;
        }
        uint32_t address = get();
        uint32_t length = get();
        for (; length--; address++) {
            if (command == 0) {
                int byte = getchar();
                if (byte < 0)
                    return 1;
                mem_put_qi(address, byte);
            } else {
                fputc(mem_get_qi(address), answers);
            }
        }
    }
}
