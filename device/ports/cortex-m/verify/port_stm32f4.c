/* The STM32F407's, as all of its family. */
#include "stm32f4.h"
