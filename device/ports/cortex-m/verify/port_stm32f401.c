/* The STM32F401's, as all of its family. */
#include "stm32f4.h"
