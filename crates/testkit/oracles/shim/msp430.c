/* A program around GDB's simulator of the MSP430 (sim/msp430) that sets registers, executes one instruction and gives the
 * registers back, as often as it is asked: `build-gdb-sim msp430` compiles it with the simulator's own file and GDB's decoder.
 *
 * Standard input, standard output: words of 32 bits, little-endian.
 *   in 0, address, length, bytes   writes memory
 *   in 1, address, length          out: bytes
 *   in 2, 17 registers             executes one instruction; out: 17 registers
 * The registers: R0 to R15, and one that says in answers whether the instruction was executed: the simulator stops at an opcode
 * that it does not know, at its breakpoint and at a jump to itself. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the simulator wants of the rest of GDB: types for functions that are never called, no traces, flat memory. */
#define TRACE_ALU(...)
#define TRACE_ANY_P(cpu) 0
#define TRACE_BRANCH(...)
#define TRACE_DISASM(...)
#define TRACE_LINENUM_P(cpu) 0
#define TRACE_MEMORY(...)
#define TRACE_REGISTER(...)
#define BFD_ENDIAN_LITTLE 0
#define MAX_NR_PROCESSORS 1
#define NULL_CIA 0
#define SIM_SIGTRAP 5
#define CPU_PC_FETCH(cpu) (cpu)->fetch
#define CPU_PC_STORE(cpu) (cpu)->store
#define CPU_REG_FETCH(cpu) (cpu)->read
#define CPU_REG_STORE(cpu) (cpu)->write
#define STATE_OPEN_KIND(sd) SIM_OPEN_DEBUG
#define STATE_PROG_FILE(sd) 0
#define MSP430_CPU(sd) (&cpu)
typedef int SIM_DESC, SIM_RC, sim_cia, SIM_OPEN_KIND;
enum { SIM_RC_OK, SIM_OPEN_DEBUG, sim_exited, sim_stopped, read_map, write_map };
typedef unsigned long bfd_vma;
struct bfd;
struct host_callback_struct;

#include "msp430-sim.h"

typedef struct {
    struct msp430_cpu_state state;
    void *fetch, *store, *read, *write;
} SIM_CPU;

static SIM_CPU cpu;
static int current_target_byte_order;
static unsigned char memory[1 << 20];
static jmp_buf stopped;

static int sim_core_read_buffer(SIM_DESC sd, SIM_CPU *one, int map, void *bytes, unsigned address, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        ((unsigned char *)bytes)[i] = memory[(address + i) & 0xfffff];
    return length;
}

static int sim_core_write_buffer(SIM_DESC sd, SIM_CPU *one, int map, const void *bytes, unsigned address, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        memory[(address + i) & 0xfffff] = ((const unsigned char *)bytes)[i];
    return length;
}

static void stop(void)
{
    longjmp(stopped, 1);
}

static void sim_engine_halt(SIM_DESC sd, SIM_CPU *one, void *next, sim_cia cia, int reason, int signal)
{
    stop();
}

/* Of those that are never called. */
#define sim_state_alloc(...) 0
#define sim_state_free(...)
#define sim_cpu_alloc_all(...) 0
#define sim_pre_argv_init(...) 0
#define sim_parse_args(...) 0
#define sim_post_argv_init(...) 0
#define sim_do_commandf(...)
#define sim_analyze_program(...) 0
#define sim_config(...) 0
#define sim_pc_set(...)
#define sim_syscall(...) (stop(), 0)
#define sim_events_tick(...) 0
#define sim_events_process(...)
#define bfd_get_start_address(...) 0
#define trace_sym_value(...) -1
#define trace_prefix(...)

#define exit(code) stop()
#define abort() stop()
#include "msp430-sim.c"
#undef exit
#undef abort

static FILE *answers;

static uint32_t get(void)
{
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4) {
        fflush(answers);
        _exit(0);
    }
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put(uint32_t value)
{
    unsigned char bytes[4] = { value & 255, value >> 8 & 255, value >> 16 & 255, value >> 24 & 255 };
    fwrite(bytes, 1, 4, answers);
}

static void step(void)
{
    for (int i = 0; i < 16; i++)
        cpu.state.regs[i] = get();
    get();
    cpu.state.cio_breakpoint = -1;
    volatile uint32_t executed = 0;
    if (!setjmp(stopped)) {
        msp430_step_once(0);
        executed = 1;
    }
    for (int i = 0; i < 16; i++)
        put(cpu.state.regs[i]);
    put(executed);
}

int main(void)
{
    static char buffer[1 << 20];
    /* The simulator prints remarks: they must not get among the answers, nor fill a pipe. */
    answers = fdopen(dup(1), "wb");
    if (!answers || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        return 1;
    setvbuf(answers, buffer, _IOFBF, sizeof buffer);
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
                memory[address & 0xfffff] = byte;
            } else {
                fputc(memory[address & 0xfffff], answers);
            }
        }
    }
}
