#include "random_module_stm32.h"
