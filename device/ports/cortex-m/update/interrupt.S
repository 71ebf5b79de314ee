/* SysTick's exception, which its handler forbids again. ARM DDI 0403E, B3.3. */
    .syntax unified
    .thumb

#define SYST_CSR 0xe000e010
#define TICKINT 2

    .section .text.ws_update_await_interrupt, "ax"
    .global ws_update_await_interrupt
    .thumb_func
    .type ws_update_await_interrupt, %function
ws_update_await_interrupt:
    ldr r1, =SYST_CSR
    ldr r0, [r1]
    orr r0, #TICKINT
    str r0, [r1]
    /* Until the handler has taken the bit away. */
1:  ldr r0, [r1]
    tst r0, #TICKINT
    bne 1b
    bx lr
    .size ws_update_await_interrupt, . - ws_update_await_interrupt

    .section .text.SysTick_Handler, "ax"
    .global SysTick_Handler
    .thumb_func
    .type SysTick_Handler, %function
SysTick_Handler:
    ldr r1, =SYST_CSR
    ldr r0, [r1]
    bic r0, #TICKINT
    str r0, [r1]
    bx lr
    .size SysTick_Handler, . - SysTick_Handler

    .section .text.ws_update_sleep, "ax"
    .global ws_update_sleep
    .thumb_func
    .type ws_update_sleep, %function
ws_update_sleep:
    wfi
    b ws_update_sleep
    .size ws_update_sleep, . - ws_update_sleep
