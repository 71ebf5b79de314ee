#include "node.h"

#include "power.h"

#include "../crypto/ecdsa_p256.h"
#include "../crypto/ecdsa_secp160r1.h"
#include "../crypto/secret.h"
#include "../drivers/clock.h"
#include "../drivers/radio.h"
#include "../drivers/stored_energy.h"
#include "../drivers/wake_on_radio.h"

#include <stddef.h>

/* The offsets that node.h promises to the host; an array of -1 elements does not compile. */
#define AT(type, member, offset) typedef char type##_##member[offsetof(struct type, member) == (offset) ? 1 : -1]
AT(ws_node_config, node_id, 4);
AT(ws_node_config, interval_s, 12);
AT(ws_node_config, listen_for_ms, 18);
AT(ws_node_config, private_key, 24);
AT(ws_node_status, starts, 40);
AT(ws_node_status, key_refused, 47);

/* in: below 2^23 milliseconds. */
static uint32_t ticks(uint32_t milliseconds)
{
    return milliseconds * (WS_CLOCK_TICKS / 8) / 125;
}

/* Whether a is later than b. */
static uint8_t later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static uint8_t energy_suffices(ws_node *node)
{
    uint16_t stored_mv = ws_stored_energy_mv();

    node->status->stored_mv = stored_mv;
    return ws_power_suffices(stored_mv, node->config->threshold_mv);
}

/* Starts the radio where it has not, or failed since. Returns whether it is there. */
static uint8_t radio_ready(ws_node *node)
{
    const volatile struct ws_node_config *config = node->config;

    if (!node->radio_ready) {
        node->radio_ready = ws_radio_start(config->node_address, config->channel, config->power) == 0;
        node->status->radio_faults += !node->radio_ready;
    }
    return node->radio_ready;
}

static void radio_failed(ws_node *node)
{
    ws_radio_sleep();
    node->radio_ready = 0;
    node->status->radio_faults++;
}

/* Signs the message. Returns whether there is a signature. */
static uint8_t sign(ws_node *node, const ws_message *message, uint8_t signature[WS_SIGNATURE_MAX])
{
    uint8_t key[sizeof node->config->private_key];
    uint8_t bytes[WS_SIGNED_MAX];
    uint8_t len = ws_message_signed(message, bytes);
    uint8_t i;
    int result;

    for (i = 0; i < sizeof key; i++) {
        key[i] = node->config->private_key[i];
    }
    if (message->scheme == WS_SCHEME_P256) {
        result = ws_ecdsa_p256_sign(key, bytes, len, 0, 0, signature);
    } else {
        result = ws_ecdsa_secp160r1_sign(key, bytes, len, 0, 0, signature);
    }
    ws_wipe(key, sizeof key);
    node->status->key_refused = result != 0;
    return result == 0;
}

/* Gives the message its counter, signs it, and sends it when the clock is at when. The radio is asleep before and after. */
static void authenticate(ws_node *node, ws_message *message, uint32_t when)
{
    volatile struct ws_node_status *status = node->status;
    uint8_t signature[WS_SIGNATURE_MAX];
    uint8_t packet[WS_RADIO_PACKET];
    uint8_t index;

    message->scheme = node->config->scheme;
    message->node_id = node->config->node_id;
    message->stored_mv = status->stored_mv;
    message->uptime_s = ws_clock_seconds();
    status->state = WS_NODE_SIGNING;
    if (ws_counter_take(&node->counter, &message->counter) != 0) {
        status->counter_faults++;
        return;
    }
    status->starts = node->counter.starts;
    if (!sign(node, message, signature)) {
        return;
    }
    status->signatures++;
    status->counter = message->counter;
    status->state = WS_NODE_SENDING;
    ws_clock_sleep(when, 0);
    if (!radio_ready(node)) {
        return;
    }
    for (index = 0; index < ws_message_packets(message); index++) {
        uint8_t len = ws_message_packet(message, signature, node->config->server_address, index, packet);

        if (ws_radio_send(packet, len) != 0) {
            radio_failed(node);
            return;
        }
    }
    status->sent++;
    ws_radio_sleep();
}

/* The next of times that are interval apart; from now, where that one is past already. */
static void schedule(ws_node *node, uint32_t interval)
{
    uint32_t now = ws_clock_ticks();

    node->next += interval;
    if (!later(node->next, now)) {
        node->next = now + interval;
    }
}

static void report(ws_node *node)
{
    ws_message message;

    if (!energy_suffices(node)) {
        node->status->refused++;
        return;
    }
    message.type = WS_MESSAGE_READING;
    authenticate(node, &message, ws_clock_ticks());
}

/* Hears packets until one is a challenge to this node, or until the deadline. Returns whether there is one, and the
 * milliseconds after which it may be answered. */
static uint8_t hear_challenge(ws_node *node, uint32_t deadline, uint8_t challenge[WS_CHALLENGE_BYTES], uint16_t *answer_in_ms)
{
    uint8_t packet[WS_RADIO_PACKET];

    for (;;) {
        int len = ws_radio_listen(deadline, packet);

        if (len == 0) {
            return 0;
        }
        if (len < 0) {
            radio_failed(node);
            return 0;
        }
        if (ws_message_read_challenge(packet, (uint8_t)len, node->config->node_id, challenge, answer_in_ms)) {
            return 1;
        }
        node->status->ignored++;
    }
}

/* Sleeps until the radio, which listens by turns by itself, has heard something, or for an
 * interval. Returns as hear_challenge. */
static uint8_t wait_for_challenge(ws_node *node, uint8_t challenge[WS_CHALLENGE_BYTES], uint16_t *answer_in_ms)
{
    const volatile struct ws_node_config *config = node->config;
    const uint32_t deadline = ws_clock_ticks() + (uint32_t)config->interval_s * WS_CLOCK_TICKS;
    uint8_t packet[WS_RADIO_PACKET];
    int len = ws_radio_wait(config->listen_every_ms, config->listen_for_ms, deadline, packet);

    if (len < 0) {
        radio_failed(node);
    }
    if (len <= 0) {
        return 0;
    }
    if (ws_message_read_challenge(packet, (uint8_t)len, config->node_id, challenge, answer_in_ms)) {
        return 1;
    }
    node->status->ignored++;
    return 0;
}

/* Returns whether it could listen. */
static uint8_t answer(ws_node *node)
{
    const volatile struct ws_node_config *config = node->config;
    const uint32_t longest_ms = (uint32_t)config->listen_every_ms + config->listen_for_ms;
    ws_message message;
    uint16_t answer_in_ms;
    uint8_t challenged;
    uint32_t heard;

    if (!energy_suffices(node)) {
        node->status->closed++;
        return 0;
    }
    if (!radio_ready(node)) {
        return 0;
    }
    node->status->state = WS_NODE_LISTENING;
    /* The radio's first turn comes after listen_every_ms: before that the processor has it listen,
     * so that no turn is left out. */
    challenged = hear_challenge(node, ws_clock_ticks() + ticks(config->listen_for_ms), message.challenge, &answer_in_ms);
    if (config->mode == WS_NODE_WAKE_ON_RADIO && !challenged && node->radio_ready) {
        challenged = wait_for_challenge(node, message.challenge, &answer_in_ms);
    }
    heard = ws_clock_ticks();
    if (node->radio_ready) {
        ws_radio_sleep();
    }
    if (!challenged) {
        return 1;
    }
    node->status->challenges++;
    if (!energy_suffices(node)) {
        node->status->refused++;
        return 1;
    }
    message.type = WS_MESSAGE_ANSWER;
    authenticate(node, &message, heard + ticks(answer_in_ms < longest_ms ? answer_in_ms : longest_ms));
    return 1;
}

int ws_node_start(ws_node *node, const volatile struct ws_node_config *config, volatile struct ws_node_status *status)
{
    const uint8_t mode = config->mode;

    node->config = config;
    node->status = status;
    status->state = WS_NODE_UNCONFIGURED;
    /* Out of power-up a radio's crystal runs until it is put to sleep, whether the node may work or not. */
    node->radio_ready = 0;
    radio_ready(node);
    if (config->format != WS_NODE_FORMAT || config->interval_s == 0 || ws_message_signature_bytes(config->scheme) == 0 ||
        !(mode == WS_NODE_PERIODIC || (mode == WS_NODE_ASYNCHRONOUS && config->listen_for_ms != 0) ||
          (mode == WS_NODE_WAKE_ON_RADIO && ws_radio_can_wait(config->listen_every_ms, config->listen_for_ms)))) {
        return -1;
    }
    ws_counter_start(&node->counter, config->first_counter, WS_COUNTER_BLOCK);
    status->starts = node->counter.starts;
    node->next = ws_clock_ticks();
    return 0;
}

void ws_node_turn(ws_node *node)
{
    const volatile struct ws_node_config *config = node->config;
    const uint32_t interval = (uint32_t)config->interval_s * WS_CLOCK_TICKS;

    node->status->state = WS_NODE_SLEEPING;
    ws_clock_sleep(node->next, 0);
    node->status->wakes++;
    if (config->mode == WS_NODE_PERIODIC) {
        report(node);
        schedule(node, interval);
    } else if (!answer(node)) {
        schedule(node, interval);
    } else {
        schedule(node, config->mode == WS_NODE_WAKE_ON_RADIO && node->radio_ready ? 0 : ticks(config->listen_every_ms));
    }
}
