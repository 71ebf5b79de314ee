/* The app's functions over a USART of an STM32 whose bytes leave by one register.
 *
 * Before it is included: ws_verify_start, with start_counter; USART_STATUS with TXE and TC in bits
 * 7 and 6; USART_DATA. */
#ifndef WS_VERIFY_USART_H
#define WS_VERIFY_USART_H

#define STATUS_TC (1u << 6)
#define STATUS_TXE (1u << 7)

void ws_verify_begin(void)
{
    reset_counter();
}

uint32_t ws_verify_end(void)
{
    return count();
}

void ws_verify_send(uint8_t byte)
{
    while (!(USART_STATUS & STATUS_TXE)) {
    }
    USART_DATA = byte;
}

void ws_verify_flush(void)
{
    while (!(USART_STATUS & STATUS_TC)) {
    }
}

#endif
