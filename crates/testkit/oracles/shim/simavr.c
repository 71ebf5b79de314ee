/* What src/simavr.rs needs of simavr 1.6, without its structures. */

#include <stdint.h>
#include <stdarg.h>
#include <string.h>
#include <sim_avr.h>
#include <sim_core.h>
#include <avr_adc.h>
#include <avr_ioport.h>
#include <avr_spi.h>

static void silent(avr_t *avr, const int level, const char *format, va_list arguments)
{
    (void)avr, (void)level, (void)format, (void)arguments;
}

/* A sleeping simulator must not put the host to sleep. */
static void no_sleep(avr_t *avr, avr_cycle_count_t how_long)
{
    (void)avr, (void)how_long;
}

avr_t *ws_simavr_new(const char *name, uint32_t frequency)
{
    avr_global_logger_set(silent);
    avr_t *avr = avr_make_mcu_by_name(name);
    if (!avr)
        return NULL;
    avr_init(avr);
    avr->frequency = frequency;
    avr->sleep = no_sleep;
    avr->log = 0;
    return avr;
}

void ws_simavr_delete(avr_t *avr)
{
    avr_terminate(avr);
}

uint8_t *ws_simavr_flash(avr_t *avr) { return avr->flash; }
uint32_t ws_simavr_flash_size(const avr_t *avr) { return avr->flashend + 1; }
uint8_t *ws_simavr_data(avr_t *avr) { return avr->data; }
uint32_t ws_simavr_data_size(const avr_t *avr) { return avr->ramend + 1u; }
uint64_t ws_simavr_cycles(const avr_t *avr) { return avr->cycle; }
uint32_t ws_simavr_pc(const avr_t *avr) { return avr->pc; }
void ws_simavr_set_pc(avr_t *avr, uint32_t pc) { avr->pc = pc; }

uint8_t ws_simavr_sreg(const avr_t *avr)
{
    uint8_t value = 0;
    for (int bit = 0; bit < 8; bit++)
        value |= (avr->sreg[bit] & 1) << bit;
    return value;
}

void ws_simavr_set_sreg(avr_t *avr, uint8_t value)
{
    for (int bit = 0; bit < 8; bit++)
        avr->sreg[bit] = value >> bit & 1;
    avr->data[R_SREG] = value;
    avr->interrupt_state = 0;
}

/* One instruction (and an interrupt entry where one is due); the simulator's state afterwards. */
int ws_simavr_step(avr_t *avr)
{
    avr->run_cycle_limit = 1;
    avr->run_cycle_count = 1;
    return avr_run(avr);
}

/* As fast as it goes, up to a cycle count; the simulator's state afterwards. */
int ws_simavr_run_to(avr_t *avr, uint64_t cycle)
{
    int state = cpu_Running;
    avr->run_cycle_limit = 1000000;
    while (avr->cycle < cycle && (state == cpu_Running || state == cpu_Sleeping))
        state = avr_run(avr);
    return state;
}

/* The supply and both references, in millivolts. */
void ws_simavr_set_supply(avr_t *avr, uint32_t millivolts)
{
    avr->vcc = avr->avcc = avr->aref = millivolts;
}

/* The voltage at an input of the converter. */
void ws_simavr_set_analog(avr_t *avr, int channel, uint32_t millivolts)
{
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0 + channel), millivolts);
}

/* Something outside drives a pin. */
void ws_simavr_set_pin(avr_t *avr, char port, int bit, int level)
{
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), IOPORT_IRQ_PIN0 + bit), level);
}

/* Joins the output of the serial interface with its input. */
void ws_simavr_loop_spi(avr_t *avr)
{
    avr_connect_irq(avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_OUTPUT),
                    avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_INPUT));
}

int ws_simavr_is_alive(int state) { return state == cpu_Running || state == cpu_Sleeping; }
