/* The harvested node as a program. The host writes ws_node_config before the part starts, and reads ws_node_status: node.h. */
#include "node.h"

#include "../drivers/board.h"
#include "../drivers/clock.h"

/* A whole segment of flash, so that the configuration can be erased and written without the program. */
union config_segment {
    struct ws_node_config config;
    uint8_t bytes[512];
};

extern const volatile union config_segment ws_node_config;
extern volatile struct ws_node_status ws_node_status;

__attribute__((used, section(".config"), aligned(512))) const volatile union config_segment ws_node_config = {
    .config = {.format = 0xffff},
};

volatile struct ws_node_status ws_node_status;

int main(void)
{
    static ws_node node;

    ws_board_start();
    ws_clock_start();
    if (ws_node_start(&node, &ws_node_config.config, &ws_node_status) != 0) {
        ws_clock_stop();
    }
    for (;;) {
        ws_node_turn(&node);
    }
}
