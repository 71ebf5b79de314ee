#include "clock.h"

void ws_clock_init(void)
{
}
