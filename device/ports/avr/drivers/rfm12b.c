/* The RFM12B at 49.26 kbit/s, FSK, in JeeLib's framing (docs/reference/protocol.md). HopeRF's data sheet of the RFM12B, 41 pages; Si4421-DS rev
 * 2.4, whose text is the same, where a page is named.
 *
 * It has no buffer for a packet, but registers of two bytes each way: every 162.4 us a byte has to be fetched from it or brought to
 * it, or the packet is lost. INT0 does that, at any place of any program that is not in an interrupt itself for so long,
 * between the caller's buffer and the radio, while the caller sleeps in idle. What a packet needs besides is 11 bytes of RAM.
 *
 * channel: the group, 1 to 255. power: 0 is the most, each more 2.5 dB less, to 7 (AC Characteristics, P_out). address: the
 * whole byte that packets to this station begin with, in JeeLib's terms RF12_HDR_DST | node. */
#include "../../../drivers/clock.h"
#include "../../../drivers/radio.h"

#include "spi.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <util/crc16.h>

#if !defined(WS_RADIO_RFM12B) || !defined(WS_RADIO_SPI_SPI) || !defined(WS_RADIO_SELECT_PORT_PORTB)
#error "the board's file: the radio has to be an RFM12B on SPI, selected by a pin of PORTB"
#endif
#if !defined(WS_RADIO_NIRQ_PORT_PORTD) || WS_RADIO_NIRQ_BIT != 2
#error "the board's file: nIRQ has to be at PD2, which is INT0"
#endif

/* WS_RADIO_BAND: 1 is 433 MHz, 2 is 868 MHz, 3 is 915 MHz: what the module is made for. */
#ifndef WS_RADIO_BAND
#define WS_RADIO_BAND 1u
#endif

/* Status Read Command, and its bits, the first and the third one of the FIFO or of the TX register. */
#define STATUS 0x0000u
#define STATUS_READY 0x8000u
#define STATUS_RESET 0x4000u
#define STATUS_MISSED 0x2000u
#define STATUS_EMPTY 0x0200u
/* What comes back where nobody answers: the pull-up at MISO. */
#define STATUS_NOBODY 0xffffu

/* Power Management Command. All blocks are off; crystal oscillator; that, synthesizer and receiver, or transmitter. Never the clock
 * output. */
#define SLEEP 0x8201u
#define IDLE 0x8209u
#define RECEIVE 0x82d9u
#define TRANSMIT 0x8239u

/* FIFO and Reset Mode Command: 8 bits an interrupt, a synchron pattern of two bytes, no reset by glitches of the supply. */
#define FIFO_OFF 0xca81u
#define FIFO_ON 0xca83u
#define FIFO_READ 0xb000u
#define REGISTER_WRITE 0xb800u
#define PATTERN 0xce00u
/* 90 kHz of deviation. */
#define TX_CONFIGURATION 0x9850u

/* What does not depend on the station. Bit rate, deviation, bandwidth and frequency are those of JeeLib's stations. */
static const uint16_t settings[] PROGMEM = {
    0x80c7u | WS_RADIO_BAND << 4, /* Configuration Setting: TX register and FIFO; 12 pF at the crystal */
    0xa640u, /* Frequency Setting: 434, 868 or 912 MHz */
    0xc606u, /* Data Rate: 10 MHz / 29 / 7 = 49,261 bit/s */
    0x94a2u, /* Receiver Control: pin 16 is an output, VDI fast, 134 kHz, full gain, threshold -91 dBm */
    0xc2acu, /* Data Filter: clock recovery locks by itself, digital filter, quality threshold 4 */
    0xc483u, /* AFC: what was found out is kept while VDI is high */
    0xcc77u, /* PLL Setting: up to 256 kbit/s, no dithering */
    0xe000u, /* Wake-Up Timer, Low Duty-Cycle: not used */
    0xc800u,
    0xc000u, /* Low Battery Detector and Microcontroller Clock Divider: not used */
};

/* What goes out before the packet: with the two bytes that the TX registers hold at the start, 40 bits of preamble; then the synchron
 * pattern, whose second byte is the group. */
#define PREAMBLE 3u
#define PREAMBLE_BYTE 0xaau
#define PATTERN_BYTE 0x2du
/* The packet's place among the bytes that are written. */
#define FIRST (PREAMBLE + 2u)

/* Reset Modes: up to 100 ms without an answer; five times that. */
#define RESET_TICKS (WS_CLOCK_TICKS / 2u)
#define LOOK_TICKS (WS_CLOCK_TICKS / 1000u + 1u)
/* t_sx, at most 7 ms. */
#define CRYSTAL_TICKS (WS_CLOCK_TICKS * 7u / 1000u + 2u)
/* The longest packet takes 72 bytes of 162.4 us, 11.7 ms, and T_tx_XTAL_ON, 0.25 ms: four times that. */
#define SEND_TICKS (WS_CLOCK_TICKS * 48u / 1000u)
/* From a packet's first byte to its last, 63 bytes more: 10.3 ms. */
#define RECEIVE_TICKS (WS_CLOCK_TICKS * 12u / 1000u + 2u)

enum mode {
    /* Finished, and well. */
    DONE,
    FAILED,
    /* From here on the interrupt comes. */
    SENDING,
    RECEIVING
};

/* Shared with the interrupt. Outside of it, while INT0 is masked; mode and at may be read always. */
static uint8_t *packet;
/* Of the packet, its first byte among them. */
static uint8_t length;
/* How many bytes are written; how many of the packet are read. */
static volatile uint8_t at;
static volatile uint8_t mode;
/* The check sum so far, and what it begins with: the group. */
static uint16_t check;
static uint8_t group;
static uint8_t address;
/* Something has happened that the caller is to see. */
static volatile uint8_t event;

static uint8_t asleep;

static inline void select(void)
{
    PORTB &= (uint8_t)~_BV(WS_RADIO_SELECT_BIT);
}

static inline void deselect(void)
{
    PORTB |= _BV(WS_RADIO_SELECT_BIT);
}

/* Sends a command, and returns what comes back. With INT0 masked. One of it, not one at each place: flash is scarcer than the 30
 * cycles that the interrupt takes longer by the call. */
static __attribute__((noinline)) uint16_t command(uint16_t word)
{
    uint8_t high;
    uint8_t low;

    select();
    high = ws_spi_transfer((uint8_t)(word >> 8));
    low = ws_spi_transfer((uint8_t)word);
    deselect();
    return (uint16_t)(high << 8 | low);
}

/* nIRQ low is an interrupt for as long as it is: none gets lost. What the interrupt shares is written before it is allowed, and read
 * after it is not any more. */
static inline __attribute__((always_inline)) void mask(void)
{
    EIMSK &= (uint8_t)~_BV(INT0);
    __asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void unmask(void)
{
    __asm__ volatile("" ::: "memory");
    EIMSK |= _BV(INT0);
}

/* Before the first byte of a packet. The receiver waits for its synchron pattern. */
static __attribute__((noinline)) void search(void)
{
    command(FIFO_OFF);
    command(FIFO_ON);
    at = 0;
    check = _crc16_update(0xffffu, group);
}

/* Writes the next byte, or finishes. */
static inline void send_on(void)
{
    uint8_t index = at++;
    uint8_t byte = PREAMBLE_BYTE;

    if (index >= FIRST) {
        index = (uint8_t)(index - FIRST);
        if (index > length) {
            index = (uint8_t)(index - length);
            if (index == 1) {
                byte = (uint8_t)check;
            } else if (index == 2) {
                byte = (uint8_t)(check >> 8);
            } else if (index > 3) {
                /* The byte behind the check sum is on the air, and nobody minds it. */
                command(IDLE);
                mode = DONE;
                event = 1;
                return;
            }
        } else {
            if (index == 0) {
                byte = packet[0];
            } else if (index == 1) {
                byte = (uint8_t)(length - 1);
            } else {
                byte = packet[index - 1];
            }
            check = _crc16_update(check, byte);
        }
    } else if (index == PREAMBLE) {
        byte = PATTERN_BYTE;
    } else if (index > PREAMBLE) {
        byte = group;
    }
    command(REGISTER_WRITE | byte);
}

/* Takes the next byte. */
static inline void receive_on(void)
{
    uint8_t index = at++;
    uint8_t byte;

    ws_spi_slow();
    byte = (uint8_t)command(FIFO_READ);
    ws_spi_fast();
    check = _crc16_update(check, byte);
    if (index == 0) {
        if (byte != address) {
            search();
            return;
        }
        packet[0] = byte;
        event = 1;
    } else if (index == 1) {
        length = (uint8_t)(byte + 1);
        if (byte >= WS_RADIO_PACKET) {
            event = 1;
            search();
        }
    } else if (index <= length) {
        packet[index - 1] = byte;
    } else if (index == length + 2) {
        event = 1;
        /* Over itself it is zero. */
        if (check == 0) {
            mode = DONE;
        } else {
            search();
        }
    }
}

/* Others may interrupt it: the sampler's timing is finer than the radio's. There is stack enough, as its caller sleeps. */
ISR(INT0_vect)
{
    uint16_t status;

    mask();
    sei();
    status = command(STATUS);
    if (status & STATUS_READY && !(status & STATUS_RESET)) {
        if (mode == SENDING) {
            send_on();
        } else {
            receive_on();
        }
    } else if ((status & (STATUS_RESET | STATUS_MISSED)) != STATUS_MISSED) {
        /* It has lost its settings, or asks for nothing and does not leave it. */
        mode = FAILED;
        event = 1;
    }
    cli();
    if (mode >= SENDING) {
        unmask();
    }
}

static __attribute__((noinline)) uint8_t passed(uint32_t deadline)
{
    return (int32_t)(deadline - ws_clock_ticks()) <= 0;
}

/* With its FIFO empty: returns whether it answers, and was not reset since it was last asked. */
static __attribute__((noinline)) uint8_t is_well(void)
{
    return (command(STATUS) & (STATUS_RESET | STATUS_EMPTY)) == STATUS_EMPTY;
}

/* Out of sleep, and before the first byte of a packet, which is at data. Returns whether the radio is well. */
static __attribute__((noinline)) uint8_t begin(uint8_t *data)
{
    command(IDLE);
    if (asleep) {
        ws_clock_sleep(ws_clock_ticks() + CRYSTAL_TICKS, 0);
        asleep = 0;
    }
    packet = data;
    event = 0;
    search();
    return is_well();
}

int ws_radio_start(uint8_t own_address, uint8_t channel, uint8_t power)
{
    const uint32_t deadline = ws_clock_ticks() + RESET_TICKS;
    uint16_t status;
    uint8_t i;

    mask();
    /* Level-triggered: only so does it wake from any sleep. */
    EICRA &= (uint8_t)~(_BV(ISC01) | _BV(ISC00));
    ws_spi_start();
    /* In its reset it answers zeros. */
    while ((status = command(STATUS)) == 0 || status == STATUS_NOBODY) {
        if (passed(deadline)) {
            return -1;
        }
        ws_clock_sleep(ws_clock_ticks() + LOOK_TICKS, 0);
    }
    /* It may be at anything, if the processor alone was reset. */
    command(IDLE);
    for (i = 0; i < sizeof settings / sizeof *settings; i++) {
        command(pgm_read_word(&settings[i]));
    }
    command(PATTERN | channel);
    command(TX_CONFIGURATION | (power & 7u));
    command(FIFO_OFF);
    group = channel;
    address = own_address;
    ws_radio_sleep();
    return is_well() ? 0 : -1;
}

int ws_radio_send(const uint8_t *data, uint8_t len)
{
    /* It is read alone. */
    if (!begin((uint8_t *)data)) {
        return -1;
    }
    length = len;
    mode = SENDING;
    command(TRANSMIT);
    unmask();
    ws_clock_sleep(ws_clock_ticks() + SEND_TICKS, &event);
    mask();
    command(IDLE);
    return mode == DONE ? 0 : -1;
}

int ws_radio_listen(uint32_t deadline, uint8_t *data)
{
    uint32_t until = deadline;
    uint8_t coming = 0;

    if (!begin(data)) {
        return -1;
    }
    mode = RECEIVING;
    command(RECEIVE);
    unmask();
    for (;;) {
        ws_clock_sleep(until, &event);
        event = 0;
        if (mode != RECEIVING) {
            break;
        }
        if (at == 0) {
            coming = 0;
            until = deadline;
            if (passed(deadline)) {
                break;
            }
        } else if (!coming) {
            coming = 1;
            until = ws_clock_ticks() + RECEIVE_TICKS;
        } else if (passed(until)) {
            /* It broke off. */
            mask();
            search();
            unmask();
        }
    }
    mask();
    command(IDLE);
    return mode == DONE ? length : mode == FAILED ? -1 : 0;
}

void ws_radio_sleep(void)
{
    command(SLEEP);
    asleep = 1;
}
