/* The sampler: a signal each 10 ms, as an interrupt, in which the pairs of samples that are due are taken of a mains signal of 50 Hz:
 * voltage and current in phase, WS_POSIX_VOLTAGE and WS_POSIX_CURRENT steps of the converter at their peaks. The noise source is the
 * host's generator. */
#include "../../drivers/sampler.h"

#include "../../crypto/entropy.h"
#include "../../meter/metering.h"
#include "posix.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef WS_POSIX_VOLTAGE
#define WS_POSIX_VOLTAGE 400.0
#endif
#ifndef WS_POSIX_CURRENT
#define WS_POSIX_CURRENT 100.0
#endif

#define PERIOD (WS_SAMPLER_HZ / 50)
#define SIGNAL_US 10000
#define SECOND_NS 1000000000u
/* What a host that slept for longer has missed is missed. */
#define MOST (10u * WS_SAMPLER_HZ)

static uint16_t voltage[PERIOD];
static uint16_t current[PERIOD];
static uint64_t taken;
static uint64_t from_ns;
static int noise = -1;

static void sample(int number)
{
    const uint64_t for_ns = ws_posix_now_ns() - from_ns;
    const uint64_t due = for_ns / SECOND_NS * WS_SAMPLER_HZ + for_ns % SECOND_NS * WS_SAMPLER_HZ / SECOND_NS;

    (void)number;
    if (due - taken > MOST) {
        taken = due - MOST;
    }
    for (; taken < due; taken++) {
        ws_metering_sample(voltage[taken % PERIOD], current[taken % PERIOD]);
    }
    ws_posix_watch();
}

void ws_sampler_start(void)
{
    struct itimerval every;
    struct sigaction action;
    int i;

    for (i = 0; i < PERIOD; i++) {
        const double sine = sin(2.0 * 3.14159265358979323846 * i / PERIOD);

        voltage[i] = (uint16_t)lround(512.0 + WS_POSIX_VOLTAGE * sine);
        current[i] = (uint16_t)lround(512.0 + WS_POSIX_CURRENT * sine);
    }
    from_ns = ws_posix_now_ns();
    noise = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    memset(&action, 0, sizeof action);
    action.sa_handler = sample;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    memset(&every, 0, sizeof every);
    every.it_interval.tv_usec = SIGNAL_US;
    every.it_value = every.it_interval;
    if (sigaction(SIGALRM, &action, 0) != 0 || setitimer(ITIMER_REAL, &every, 0) != 0) {
        ws_posix_give_up("sampler");
    }
}

int ws_entropy_read(uint8_t *out)
{
    return read(noise, out, 1) == 1 ? 0 : -1;
}
