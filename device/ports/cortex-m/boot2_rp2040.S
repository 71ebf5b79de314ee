/* Second stage of the RP2040's start: the first 256 bytes of the flash, which the boot ROM copies to the end of the RAM and
 * calls there once their checksum is right (RP2040 Datasheet, section 2.8.1). It sets the serial interface up (SSI, section
 * 4.10) so that the flash of a Raspberry Pi Pico (W25Q16JV) is read with four lines at half the core's clock, addresses sent
 * without a command (W25Q16JV, fast read quad I/O EBh, continuous read mode A0h); then the program's vectors begin.
 *
 * It stays in the RAM's last 256 bytes, where the stack will be, and needs no stack.
 * Registers touched: PADS_QSPI at 0x40020000, SSI at 0x18000000, VTOR 0xe000ed08, MSP; r0 to r6. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* PADS_QSPI, section 2.19.6.4. */
#define PADS_QSPI_SCLK 0x04
#define PADS_QSPI_SD0 0x08
#define PADS_8_MA_FAST ((2 << 4) | 1)
#define PADS_SCHMITT (1 << 1)

/* SSI. */
#define SSI_CTRLR0 0x00
#define SSI_CTRLR1 0x04
#define SSI_SSIENR 0x08
#define SSI_BAUDR 0x14
#define SSI_SR 0x28
#define SSI_DR0 0x60
#define SSI_SPI_CTRLR0 0xf4
#define SSI_RX_SAMPLE_DLY 0xf0

/* CTRLR0: eight bits both ways on one line; 32 bits on four lines, as a read of an EEPROM. */
#define ONE_LINE_8_BITS (7 << 16)
#define FOUR_LINES_32_BITS ((2 << 21) | (31 << 16) | (3 << 8))
/* SPI_CTRLR0: 24 bits of address with 8 of mode on four lines, 4 cycles to wait; behind a command of 8 bits on one line, or
 * behind none, with these bits of mode. */
#define ADDRESS_AND_WAIT ((8 << 2) | (4 << 11))
#define BEHIND_COMMAND (ADDRESS_AND_WAIT | (2 << 8) | 1)
#define BEHIND_NONE (ADDRESS_AND_WAIT | (CONTINUOUS_READ << 24) | 2)
#define SR_TFE (1 << 2)
#define SR_BUSY (1 << 0)

/* Commands of the W25Q16JV. */
#define READ_STATUS_1 0x05
#define READ_STATUS_2 0x35
#define WRITE_ENABLE 0x06
#define WRITE_STATUS_2 0x31
#define STATUS_2_QE 2
#define STATUS_1_BUSY 1
#define FAST_READ_QUAD_IO 0xeb
#define CONTINUOUS_READ 0xa0

    .section .boot2, "ax", %progbits
    .global ws_boot2
    .type ws_boot2, %function
    .thumb_func
ws_boot2:
    /* The pads: for these 60 MHz the clock's is driven with 8 mA and fast, the Schmitt triggers of the data's are off. */
    ldr r4, =0x40020000
    movs r0, #PADS_8_MA_FAST
    str r0, [r4, #PADS_QSPI_SCLK]
    ldr r0, [r4, #PADS_QSPI_SD0]
    movs r1, #PADS_SCHMITT
    bics r0, r1
    str r0, [r4, #PADS_QSPI_SD0]
    str r0, [r4, #PADS_QSPI_SD0 + 4]
    str r0, [r4, #PADS_QSPI_SD0 + 8]
    str r0, [r4, #PADS_QSPI_SD0 + 12]
    ldr r4, =0x18000000
    movs r5, #0
    str r5, [r4, #SSI_SSIENR]
    movs r0, #2
    str r0, [r4, #SSI_BAUDR]
    movs r0, #1
    movs r1, #SSI_RX_SAMPLE_DLY
    str r0, [r4, r1]
    ldr r0, =ONE_LINE_8_BITS
    str r0, [r4, #SSI_CTRLR0]
    movs r0, #1
    str r0, [r4, #SSI_SSIENR]

    /* Quad mode is on, or is switched on: it stays on without power. */
    movs r0, #READ_STATUS_2
    bl exchange
    movs r1, #STATUS_2_QE
    tst r0, r1
    bne quad
    movs r0, #WRITE_ENABLE
    str r0, [r4, #SSI_DR0]
    bl drain
    ldr r0, [r4, #SSI_DR0]
    movs r6, #STATUS_2_QE
    movs r0, #WRITE_STATUS_2
    bl exchange_with
writing:
    movs r0, #READ_STATUS_1
    bl exchange
    movs r1, #STATUS_1_BUSY
    tst r0, r1
    bne writing

quad:
    str r5, [r4, #SSI_SSIENR]
    ldr r0, =FOUR_LINES_32_BITS
    str r0, [r4, #SSI_CTRLR0]
    str r5, [r4, #SSI_CTRLR1]
    movs r1, #SSI_SPI_CTRLR0
    ldr r0, =BEHIND_COMMAND
    str r0, [r4, r1]
    movs r0, #1
    str r0, [r4, #SSI_SSIENR]
    /* A first read, at address 0, from which on the flash takes addresses alone. */
    movs r0, #FAST_READ_QUAD_IO
    str r0, [r4, #SSI_DR0]
    movs r0, #CONTINUOUS_READ
    str r0, [r4, #SSI_DR0]
    bl drain
    str r5, [r4, #SSI_SSIENR]
    ldr r0, =BEHIND_NONE
    str r0, [r4, r1]
    movs r0, #1
    str r0, [r4, #SSI_SSIENR]

    ldr r0, =0x10000100
    ldr r1, =0xe000ed08
    str r0, [r1]
    ldmia r0, {r0, r1}
    msr msp, r0
    bx r1

/* Sends the command in r0 and a byte, r6 or any, and returns the answer to that byte in r0. Changes r1 and r2. */
exchange:
    movs r6, #0
exchange_with:
    mov r3, lr
    str r0, [r4, #SSI_DR0]
    str r6, [r4, #SSI_DR0]
    bl drain
    ldr r0, [r4, #SSI_DR0]
    ldr r0, [r4, #SSI_DR0]
    bx r3

/* Returns when all is sent. Changes r0 and r2. */
drain:
    ldr r0, [r4, #SSI_SR]
    movs r2, #SR_TFE
    tst r0, r2
    beq drain
    movs r2, #SR_BUSY
    tst r0, r2
    bne drain
    bx lr

    .ltorg
    .org 252
    /* Section 2.8.1.3.1: CRC-32 of the bytes before (polynomial 0x04c11db7, from all ones, not reflected, not inverted). Whoever
     * changes them puts the new one here; without it the ROM, and its model, do not start the program. */
    .word 0x0efad26a
