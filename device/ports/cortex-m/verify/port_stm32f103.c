/* The STM32F103's, as all of its family. */
#include "stm32f1.h"
