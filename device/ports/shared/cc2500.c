/* The CC2500 at 250 kbit/s, MSK, 2.4 GHz. Data sheet SWRS040.
 *
 * Between its tasks it sleeps (SPWD), at 400 nA with its outputs at 0 (SWRS040C, Table 4). Where it
 * listens by turns by itself (wake-on-radio), its RC oscillator runs, too, at 900 nA together. */
#include "cc2500.h"

#include "compiler.h"

#include "../../drivers/clock.h"
#include "../../drivers/radio.h"
#include "../../drivers/wake_on_radio.h"

#include "spi.h"

/* SWRS040, "SPI Interface Access": bits of the header byte. */
#define READ 0x80u
#define BURST 0x40u
/* Strobes, status registers and FIFO. */
#define SRES 0x30u
#define SRX 0x34u
#define STX 0x35u
#define SIDLE 0x36u
#define SWOR 0x38u
#define SPWD 0x39u
#define SFRX 0x3au
#define SFTX 0x3bu
#define SNOP 0x3du
#define PARTNUM 0x30u
#define MARCSTATE 0x35u
#define RXBYTES 0x3bu
#define PATABLE 0x3eu
#define FIFO 0x3fu

#define PARTNUM_CC2500 0x80u
#define RXBYTES_OVERFLOW 0x80u
/* Of the second status byte behind a packet. */
#define CRC_OK 0x80u

#define ADDR 0x09u
#define CHANNR 0x0au

/* SWRS040, "Configuration Registers", 0x16 to 0x20, with their values after reset. */
#define MCSM2 0x16u
#define MCSM2_RESET 0x07u
#define WOREVT1 0x1eu
#define WOREVT0 0x1fu
#define WORCTRL 0x20u
#define WORCTRL_RESET 0xf8u
/* The RC oscillator runs and is calibrated. From Event 0, which starts the crystal, to Event 1 are
 * 16 of its periods, 0.46 ms: the crystal and PO_TIMEOUT take 0.31 ms. Beside it WOR_RES. */
#define WORCTRL_RUNS 0x48u

/* The modem's registers, FSCTRL1 to TEST0, are those of SmartRF Studio for 250 kBaud, MSK, 540 kHz filter, 2433 MHz, 26 MHz
 * crystal, as TI publishes them for the CC2500 in "MSP430 Interface to CC1100/2500 Code Library" (SLAA325),
 * CC1100-CC2500.c, section for 2400 MHz. The others: SWRS040, "Configuration Registers". */
static const struct {
    uint8_t address;
    uint8_t value;
} settings[] = {
    {0x00, 0x2f}, /* IOCFG2: GDO2 is 0 */
    {0x02, 0x06}, /* IOCFG0: GDO0 is high from the sync word to the end of a packet */
    {0x06, WS_RADIO_PACKET}, /* PKTLEN: longer packets are not received */
    {0x07, 0x05}, /* PKTCTRL1: status bytes behind a packet; the address is checked */
    {0x08, 0x05}, /* PKTCTRL0: a check sum, and a length byte */
    {0x0b, 0x07}, /* FSCTRL1 */
    {0x0c, 0x00}, /* FSCTRL0 */
    {0x0d, 0x5d}, /* FREQ2, FREQ1, FREQ0: 0x5d93b1 26 MHz / 2^16 = 2433.0 MHz */
    {0x0e, 0x93},
    {0x0f, 0xb1},
    {0x10, 0x2d}, /* MDMCFG4, MDMCFG3: (256 + 0x3b) 2^13 26 MHz / 2^28 = 249.9 kBaud */
    {0x11, 0x3b},
    {0x12, 0x73}, /* MDMCFG2: MSK, 30 of 32 bits of the sync word */
    {0x13, 0x22}, /* MDMCFG1: 4 bytes of preamble */
    {0x14, 0xf8}, /* MDMCFG0 */
    {0x15, 0x00}, /* DEVIATN */
    {0x17, 0x30}, /* MCSM1: idle after a packet, received or sent */
    {0x18, 0x18}, /* MCSM0: calibrates on the way from idle to receiving and sending */
    {0x19, 0x1d}, /* FOCCFG */
    {0x1a, 0x1c}, /* BSCFG */
    {0x1b, 0xc7}, /* AGCCTRL2 */
    {0x1c, 0x00}, /* AGCCTRL1 */
    {0x1d, 0xb2}, /* AGCCTRL0 */
    {0x21, 0xb6}, /* FREND1 */
    {0x22, 0x10}, /* FREND0 */
    {0x23, 0xea}, /* FSCAL3 */
    {0x24, 0x0a}, /* FSCAL2 */
    {0x25, 0x00}, /* FSCAL1 */
    {0x26, 0x11}, /* FSCAL0 */
};

/* What SLEEP does not keep (SWRS040, "Configuration Registers", table of registers not retained). */
static const struct {
    uint8_t address;
    uint8_t value;
} lost[] = {
    {0x29, 0x59}, /* FSTEST */
    {0x2c, 0x88}, /* TEST2 */
    {0x2d, 0x31}, /* TEST1 */
    {0x2e, 0x0b}, /* TEST0 */
};

/* The crystal starts in 0.15 ms, and MCSM0 has the chip wait as long again (SWRS040C, Table 7): five times both, in looks of
 * 8 us. */
#define READY_LOOKS 200u
/* A packet of 72 bytes takes 2.3 ms, calibration 0.81 ms (SWRS040C, Table 28): ten times that. */
#define SEND_TICKS (WS_CLOCK_TICKS * 31u / 1000u)
/* The rest of a packet whose sync word was heard. */
#define RECEIVE_TICKS (WS_CLOCK_TICKS * 4u / 1000u + 1u)
/* The RC oscillator's first calibration takes 2 ms (SWRS040, "RC Oscillator": from memory, not yet
 * compared). */
#define RC_CALIBRATION_TICKS (WS_CLOCK_TICKS * 2u / 1000u + 1u)
/* From sleep to a receiver that is on: 0.46 ms to Event 1, 0.81 ms of calibration and settling
 * (SWRS040C, Table 28). */
#define RECEIVER_START_US 1300u
/* Between two turns the chip has to sleep for 11.08 ms (SWRS061I, section 19.5: the CC1101 has the
 * same timer). */
#define SLEEP_US 11080u

volatile uint8_t ws_radio_event;

static uint8_t asleep;

/* Selects the chip, and waits until its crystal runs, when SO goes low. Returns whether it does. */
static uint8_t select(void)
{
    uint8_t looks;

    ws_spi_select(WS_SPI_RADIO);
    for (looks = READY_LOOKS; ws_spi_line() != 0; looks--) {
        if (looks == 0) {
            return 0;
        }
        ws_spi_wait_us(8);
    }
    return 1;
}

static void deselect(void)
{
    ws_spi_release(WS_SPI_RADIO);
}

/* A header byte, and a data byte. Returns what comes back with the latter. */
static uint8_t access(uint8_t header, uint8_t value)
{
    uint8_t back = 0;

    if (select()) {
        ws_spi_transfer(header);
        back = ws_spi_transfer(value);
    }
    deselect();
    return back;
}

/* Returns whether the chip is there. */
static uint8_t strobe(uint8_t command)
{
    uint8_t ready = select();

    if (ready) {
        ws_spi_transfer(command);
    }
    deselect();
    return ready;
}

static uint8_t status(uint8_t address)
{
    return access(address | READ | BURST, 0);
}

/* Bytes received. The register may be read in the midst of a change: two equal readings are right. */
static uint8_t received(void)
{
    uint8_t value = status(RXBYTES);
    uint8_t again;

    while ((again = status(RXBYTES)) != value) {
        value = again;
    }
    return value;
}

static void restore(void)
{
    uint8_t i;

    for (i = 0; i < sizeof lost / sizeof *lost; i++) {
        access(lost[i].address, lost[i].value);
    }
}

/* From sleep to idle. Returns whether the chip is there. */
static uint8_t wake(void)
{
    if (asleep) {
        if (!strobe(SNOP)) {
            return 0;
        }
        restore();
        asleep = 0;
    }
    return 1;
}

static void idle(void)
{
    strobe(SIDLE);
    strobe(SFRX);
    strobe(SFTX);
}

int ws_radio_start(uint8_t address, uint8_t channel, uint8_t power)
{
    uint8_t i;

    /* SWRS040, "Manual Reset": CSn low, high for 40 us and more, SRES; SO goes low when it is done. */
    ws_spi_select(WS_SPI_RADIO);
    ws_spi_wait_us(2);
    deselect();
    ws_spi_wait_us(45);
    asleep = 0;
    if (!strobe(SRES) || !strobe(SNOP) || status(PARTNUM) != PARTNUM_CC2500) {
        return -1;
    }
    for (i = 0; i < sizeof settings / sizeof *settings; i++) {
        access(settings[i].address, settings[i].value);
    }
    access(ADDR, address);
    access(CHANNR, channel);
    /* The first entry is kept in sleep. */
    access(PATABLE, power);
    restore();
    ws_radio_sleep();
    return 0;
}

int ws_radio_send(const uint8_t *packet, uint8_t len)
{
    uint8_t i;
    uint8_t sent;

    if (!wake()) {
        return -1;
    }
    strobe(SFTX);
    if (!select()) {
        deselect();
        return -1;
    }
    ws_spi_transfer(FIFO | BURST);
    ws_spi_transfer(len);
    for (i = 0; i < len; i++) {
        ws_spi_transfer(packet[i]);
    }
    deselect();
    ws_cc2500_watch();
    strobe(STX);
    sent = ws_clock_sleep(ws_clock_ticks() + SEND_TICKS, &ws_radio_event);
    ws_cc2500_unwatch();
    if (!sent) {
        idle();
        return -1;
    }
    return 0;
}

/* Takes the packet that has been received, if it is one: its length byte, itself, and two status
 * bytes. Returns its length, or 0. Always inline: with a frame of its own, what a meter's Ascon
 * leaves on an MSP430's stack is not overwritten. */
__attribute__((always_inline)) WS_INLINE uint8_t take(uint8_t *packet)
{
    uint8_t count = received();
    uint8_t len;
    uint8_t quality;
    uint8_t i;

    if ((count & RXBYTES_OVERFLOW) != 0 || count < 4 || count > WS_RADIO_PACKET + 3 || !select()) {
        deselect();
        return 0;
    }
    ws_spi_transfer(FIFO | READ | BURST);
    len = ws_spi_transfer(0);
    if (len != count - 3) {
        deselect();
        return 0;
    }
    for (i = 0; i < len; i++) {
        packet[i] = ws_spi_transfer(0);
    }
    ws_spi_transfer(0);
    quality = ws_spi_transfer(0);
    deselect();
    return quality & CRC_OK ? len : 0;
}

int ws_radio_listen(uint32_t deadline, uint8_t *packet)
{
    int len = 0;

    if (!wake()) {
        return -1;
    }
    ws_cc2500_watch();
    strobe(SFRX);
    strobe(SRX);
    for (;;) {
        uint8_t ended = ws_clock_sleep(deadline, &ws_radio_event);

        if (!ended && ws_cc2500_busy() != 0) {
            /* A packet is coming. */
            ended = ws_clock_sleep(ws_clock_ticks() + RECEIVE_TICKS, &ws_radio_event);
        }
        if (!ended) {
            break;
        }
        ws_radio_event = 0;
        /* To others' packets the receiver returns by itself, and there is nothing to take. */
        if (received() == 0) {
            continue;
        }
        len = take(packet);
        if (len != 0) {
            break;
        }
        idle();
        strobe(SRX);
    }
    ws_cc2500_unwatch();
    idle();
    return len;
}

/* The radio's own turns. */
typedef struct {
    uint16_t event0;
    uint8_t resolution;
    uint8_t rx_time;
} turns;

/* Finds the settings of the shortest turns that are long enough. Returns whether there are any.
 *
 * A period of the RC oscillator is 750 / 26 MHz, and may be 1 % off (SWRS061, "RC Oscillator": from
 * memory, not yet compared): Event 0 comes after 99 % of every_ms. WOR_RES 0 counts single periods,
 * up to 1.9 s, WOR_RES 1 counts 32 of them. RX_TIME 0 listens for 93.75 / 26 or 468.75 / 26 us of
 * each count, the next ones for half as long. RX_TIME leaves out 3 or more of the count's lowest
 * bits. The table of MCSM2 has 7 values for WOR_RES 0, 4 for WOR_RES 1 (SWRS061I, page 80). */
static uint8_t find_turns(uint16_t every_ms, uint16_t for_ms, turns *out)
{
    const uint32_t periods = (uint32_t)every_ms * 3432u / 100u;
    const uint32_t for_us = (uint32_t)for_ms * 1000u;
    uint32_t count = periods;
    uint32_t factor = 375;
    uint8_t rx_time = 6;

    out->resolution = 0;
    if (periods > 0xffffu) {
        out->resolution = 1;
        count = periods / 32u;
        factor = 1875;
        rx_time = 3;
    }
    if (count > 0xffffu || for_us <= RECEIVER_START_US) {
        return 0;
    }
    out->event0 = (uint16_t)count;
    for (;; rx_time--) {
        const uint32_t heard_us = (count >> (3u + rx_time) << (3u + rx_time)) * factor / 104u >> rx_time;

        if (heard_us >= for_us - RECEIVER_START_US) {
            out->rx_time = rx_time;
            return (uint32_t)every_ms * 990u >= heard_us + RECEIVER_START_US + SLEEP_US;
        }
        if (rx_time == 0) {
            return 0;
        }
    }
}

uint8_t ws_radio_can_wait(uint16_t every_ms, uint16_t for_ms)
{
    turns found;

    return find_turns(every_ms, for_ms, &found);
}

int ws_radio_wait(uint16_t every_ms, uint16_t for_ms, uint32_t deadline, uint8_t *packet)
{
    turns by;
    uint8_t ended;
    int len = 0;

    if (!find_turns(every_ms, for_ms, &by) || !wake()) {
        return -1;
    }
    access(WORCTRL, (uint8_t)(WORCTRL_RUNS | by.resolution));
    access(WOREVT1, (uint8_t)(by.event0 >> 8));
    access(WOREVT0, (uint8_t)by.event0);
    access(MCSM2, by.rx_time);
    ws_clock_sleep(ws_clock_ticks() + RC_CALIBRATION_TICKS, 0);
    strobe(SFRX);
    ws_cc2500_watch();
    strobe(SWOR);
    ended = ws_clock_sleep(deadline, &ws_radio_event);
    if (!ended && ws_cc2500_busy() != 0) {
        ended = ws_clock_sleep(ws_clock_ticks() + RECEIVE_TICKS, &ws_radio_event);
    }
    ws_cc2500_unwatch();
    if (ended) {
        len = take(packet);
    }
    idle();
    access(MCSM2, MCSM2_RESET);
    access(WORCTRL, WORCTRL_RESET);
    return len;
}

void ws_radio_sleep(void)
{
    strobe(SIDLE);
    strobe(SPWD);
    asleep = 1;
}
