/* Provisioning and EEPROM in files. What is written is durable when the function returns, so that nothing is ever in the background. */
#include "../../drivers/eeprom.h"
#include "../../drivers/provision.h"

#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static uint8_t provision[WS_PROVISION_BYTES];
static int eeprom;

/* Behind what a file of the EEPROM is provisioned with there is 0xff at first, as in the part. */
static void fill(int file, const char *path)
{
    const uint8_t erased = 0xff;
    off_t at = lseek(file, 0, SEEK_END);

    for (; at >= WS_EEPROM_BYTES && at < WS_EEPROM_BYTES_WITH_KEY; at++) {
        if (pwrite(file, &erased, 1, at) != 1) {
            ws_posix_give_up(path);
        }
    }
}

static int open_whole(const char *path, int flags, off_t bytes)
{
    const int file = open(path, flags);

    if (file < 0) {
        ws_posix_give_up(path);
    }
    if (lseek(file, 0, SEEK_END) != bytes) {
        errno = EINVAL;
        ws_posix_give_up(path);
    }
    return file;
}

void ws_posix_open_memories(const char *provision_path, const char *eeprom_path)
{
    const int file = open_whole(provision_path, O_RDONLY, sizeof provision);

    if (pread(file, provision, sizeof provision, 0) != (ssize_t)sizeof provision) {
        ws_posix_give_up(provision_path);
    }
    close(file);
    eeprom = open(eeprom_path, O_RDWR | O_CLOEXEC);
    if (eeprom >= 0) {
        fill(eeprom, eeprom_path);
        close(eeprom);
    }
    eeprom = open_whole(eeprom_path, O_RDWR | O_CLOEXEC, WS_EEPROM_BYTES_WITH_KEY);
}

void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len)
{
    while (len-- != 0) {
        *out++ = provision[at++];
    }
}

void ws_eeprom_read(uint16_t at, uint8_t *out, uint8_t len)
{
    if (pread(eeprom, out, len, at) != len) {
        ws_posix_give_up("EEPROM");
    }
}

void ws_eeprom_write(uint16_t at, const uint8_t *in, uint8_t len)
{
    if (pwrite(eeprom, in, len, at) != len || fdatasync(eeprom) != 0) {
        ws_posix_give_up("EEPROM");
    }
}

void ws_eeprom_begin(uint16_t at, const uint8_t *in, uint8_t len)
{
    ws_eeprom_write(at, in, len);
}

uint8_t ws_eeprom_busy(void)
{
    return 0;
}

void ws_eeprom_abandon(void)
{
}
