/* An app as a process of the host: meter PROVISION EEPROM ADDRESS:PORT.
 *
 * PROVISION is a file of the 176 bytes that a part has in flash, EEPROM one of the 1024 that it has there, written in place; packets
 * are UDP datagrams to and from the collector at ADDRESS:PORT, IPv4 (docs/how-to/collector/gateways.md, "UDP"). A suite that this build does not have is
 * an error here, where a part of its own could only be silent. The main function of the app is compiled as ws_main. A reset executes the same file again, so it is started by its path, with the cause behind its arguments. */
#include "posix.h"

#include "../../drivers/board.h"
#include "../../drivers/clock.h"
#include "../../drivers/provision.h"
#include "../../drivers/reset.h"
#include "../../meter/message.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define ARGUMENTS 4
/* In what is provisioned: docs/reference/protocol.md. */
#define FORMAT 0
#define SUITE 10
#define WATCHDOG_S 8u

int ws_main(void);

extern char **environ;

/* The arguments of the next process: the same, and the cause's digit. */
static char *again[ARGUMENTS + 2];
static char next_cause[2];
static uint8_t cause = WS_RESET_POWER_ON;

static uint8_t watched;
static volatile uint32_t fed_s;

void ws_posix_give_up(const char *what)
{
    perror(what);
    exit(1);
}

void ws_posix_restart(uint8_t why)
{
    /* Handlers do not outlive it, timers do. */
    static const struct itimerval never;

    setitimer(ITIMER_REAL, &never, 0);
    next_cause[0] = (char)('0' + why);
    again[ARGUMENTS] = next_cause;
    execve(again[0], again, environ);
    _exit(1);
}

void ws_posix_watch(void)
{
    if (watched && ws_clock_seconds() - fed_s > WATCHDOG_S) {
        ws_posix_restart(WS_RESET_WATCHDOG);
    }
}

void ws_board_start(void)
{
}

uint8_t ws_reset_cause(void)
{
    return cause;
}

void ws_watchdog_start(void)
{
    ws_watchdog_feed();
    watched = 1;
}

void ws_watchdog_feed(void)
{
    fed_s = ws_clock_seconds();
}

void ws_reset_now(void)
{
    ws_posix_restart(WS_RESET_COMMANDED);
}

/* Nobody knows. */
uint16_t ws_stack_untouched(void)
{
    return 0;
}

/* What is provisioned, from this file, may have a suite that others have. */
static void require_suite(const char *path)
{
    uint8_t format[2];
    uint8_t suite;

    ws_provision_read(FORMAT, format, sizeof format);
    ws_provision_read(SUITE, &suite, 1);
    if (ws_message_read_16(format) == 1 && ws_message_bytes(WS_KIND_REPORT, suite) == 0) {
        fprintf(stderr, "%s: it is provisioned with suite %u, which this build of the meter does not have; provision it with another, "
                        "or build the meter with SUITES=... (device/Makefile)\n", path, (unsigned)suite);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc < ARGUMENTS || argc > ARGUMENTS + 1) {
        fprintf(stderr, "usage: %s PROVISION EEPROM ADDRESS:PORT\n", argv[0]);
        return 2;
    }
    memcpy(again, argv, ARGUMENTS * sizeof *again);
    if (argc > ARGUMENTS) {
        sigset_t none;

        /* It may have been a handler that began this process. */
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, 0);
        cause = (uint8_t)(argv[ARGUMENTS][0] - '0');
    }
    ws_posix_open_memories(argv[1], argv[2]);
    require_suite(argv[1]);
    ws_posix_open_radio(argv[3]);
    return ws_main();
}
