/* The STM32F100's, as all of its family. */
#include "stm32f1.h"
