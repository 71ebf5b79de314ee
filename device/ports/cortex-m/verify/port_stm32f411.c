/* The STM32F411's, as all of its family. */
#include "stm32f4.h"
