/* The host's monotonic clock, from the process's begin. */
#include "../../drivers/clock.h"

#include "posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS 1000000000u

static uint64_t begun_ns;

static uint64_t host_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

uint64_t ws_posix_now_ns(void)
{
    return host_ns() - begun_ns;
}

void ws_clock_start(void)
{
    begun_ns = host_ns();
}

uint32_t ws_clock_ticks(void)
{
    const uint64_t now_ns = ws_posix_now_ns();

    /* Seconds and the rest apart: products fit. */
    return (uint32_t)(now_ns / SECOND_NS * WS_CLOCK_TICKS + now_ns % SECOND_NS * WS_CLOCK_TICKS / SECOND_NS);
}

uint32_t ws_clock_seconds(void)
{
    return (uint32_t)(ws_posix_now_ns() / SECOND_NS);
}

uint8_t ws_clock_sleep(uint32_t deadline, const volatile uint8_t *event)
{
    /* A tick, or less where the sampler's signal comes: an event that came just before it is seen by then. */
    const struct timespec tick = {0, SECOND_NS / WS_CLOCK_TICKS};

    while ((event == 0 || *event == 0) && (int32_t)(deadline - ws_clock_ticks()) > 0) {
        nanosleep(&tick, 0);
    }
    return event != 0 ? *event : 0;
}

void ws_clock_stop(void)
{
    fputs("not provisioned\n", stderr);
    exit(2);
}
