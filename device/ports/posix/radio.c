/* Packets in UDP datagrams: "WS1", the strength, which nobody knows here, and the packet (docs/how-to/collector/gateways.md, "UDP"). A datagram that is
 * lost is a packet that is lost. */
#include "../../drivers/clock.h"
#include "../../drivers/radio.h"

#include "posix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEFORE 4
#define UNKNOWN_DBM 127

static const uint8_t before[BEFORE] = {'W', 'S', '1', UNKNOWN_DBM};
static int channel;
static uint8_t own;

void ws_posix_open_radio(const char *text)
{
    struct sockaddr_in collector;
    char numbers[INET_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    const size_t len = colon ? (size_t)(colon - text) : sizeof numbers;

    memset(&collector, 0, sizeof collector);
    collector.sin_family = AF_INET;
    if (len < sizeof numbers) {
        memcpy(numbers, text, len);
        numbers[len] = 0;
        collector.sin_port = htons((uint16_t)strtoul(colon + 1, 0, 10));
    }
    errno = EINVAL;
    if (collector.sin_port == 0 || inet_pton(AF_INET, numbers, &collector.sin_addr) != 1) {
        ws_posix_give_up(text);
    }
    channel = socket(AF_INET, SOCK_DGRAM, 0);
    if (channel < 0 || fcntl(channel, F_SETFD, FD_CLOEXEC) != 0 ||
        connect(channel, (const struct sockaddr *)&collector, sizeof collector) != 0) {
        ws_posix_give_up(text);
    }
}

int ws_radio_start(uint8_t address, uint8_t group, uint8_t power)
{
    (void)group;
    (void)power;
    own = address;
    return 0;
}

int ws_radio_send(const uint8_t *packet, uint8_t len)
{
    uint8_t datagram[BEFORE + WS_RADIO_PACKET];

    memcpy(datagram, before, BEFORE);
    memcpy(datagram + BEFORE, packet, len);
    /* Nobody there, no route: it is out, and nobody hears it. */
    (void)send(channel, datagram, (size_t)BEFORE + len, 0);
    return 0;
}

int ws_radio_listen(uint32_t deadline, uint8_t *packet)
{
    for (;;) {
        struct pollfd heard = {channel, POLLIN, 0};
        const int32_t left = (int32_t)(deadline - ws_clock_ticks());
        uint8_t datagram[BEFORE + WS_RADIO_PACKET + 1];
        ssize_t len;

        if (left <= 0) {
            return 0;
        }
        if (poll(&heard, 1, (int)((int64_t)left * 1000 / WS_CLOCK_TICKS) + 1) <= 0) {
            continue;
        }
        len = recv(channel, datagram, sizeof datagram, 0);
        if (len > BEFORE && len < (ssize_t)sizeof datagram && memcmp(datagram, before, BEFORE - 1) == 0 &&
            datagram[BEFORE] == own) {
            memcpy(packet, datagram + BEFORE, (size_t)(len - BEFORE));
            return (int)(len - BEFORE);
        }
    }
}

void ws_radio_sleep(void)
{
}
