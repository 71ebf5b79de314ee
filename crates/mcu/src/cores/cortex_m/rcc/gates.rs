//! The bits by which the RCC lets peripherals have their clocks, and resets them.
//!
//! RM0091 sections 6.4.4 to 6.4.8 and 6.4.11 (STM32F0), RM0041 section 6.3 and RM0008 section 7.3
//! (STM32F1), RM0090 and RM0368 section 6.3 to 7.3 (STM32F4), RM0410 section 5.3 (STM32F7), RM0432
//! section 6.4 (STM32L4+). Names of bits: ST's CMSIS headers of the parts. A field without a
//! peripheral of that name in the target file is for one without a model. The RTC's interface is
//! always clocked here: the manuals of the F0, F1 and F4 name no bit for it.

use super::layout::Series;
use crate::{ControlRegister, GateRegister};

/// Enables, resets and enables in sleep of one bus, by their names and offsets.
macro_rules! gates {
    ($fields:expr, $enable:literal $at:literal) => {
        GateRegister {
            enable: enable($enable, $at),
            reset: None,
            in_sleep: None,
            is_bus_only: false,
            fields: $fields,
        }
    };
    ($fields:expr, $enable:literal $at:literal, $reset:literal $reset_at:literal) => {
        GateRegister {
            reset: Some(ControlRegister::new($reset, $reset_at, "RST")),
            ..gates!($fields, $enable $at)
        }
    };
    ($fields:expr, $enable:literal $at:literal, $reset:literal $reset_at:literal,
     $in_sleep:literal $in_sleep_at:literal $suffix:literal) => {
        GateRegister {
            in_sleep: Some(ControlRegister::new($in_sleep, $in_sleep_at, $suffix)),
            ..gates!($fields, $enable $at, $reset $reset_at)
        }
    };
}

const fn enable(name: &'static str, offset: u32) -> ControlRegister {
    ControlRegister::new(name, offset, "EN")
}

/// The gates of a series.
pub(super) fn gates(series: Series) -> &'static [GateRegister] {
    match series {
        Series::F0 => F0,
        Series::F1ValueLine | Series::F1 => F1,
        Series::F401 | Series::F407 | Series::F411 | Series::F7 => F4,
        Series::L4 => L4,
    }
}

static F0: &[GateRegister] = &[
    gates!(
        &[(0, "DMA1"), (6, "CRC"), (17, "GPIOA"), (18, "GPIOB"), (19, "GPIOC"), (20, "GPIOD"), (22, "GPIOF")],
        "RCC_AHBENR" 0x14, "RCC_AHBRSTR" 0x28
    ),
    gates!(
        &[
            (0, "SYSCFG"), (9, "ADC"), (11, "TIM1"), (12, "SPI1"), (14, "USART1"), (16, "TIM15"), (17, "TIM16"),
            (18, "TIM17"), (22, "DBGMCU"),
        ],
        "RCC_APB2ENR" 0x18, "RCC_APB2RSTR" 0x0c
    ),
    gates!(
        &[
            (0, "TIM2"), (1, "TIM3"), (4, "TIM6"), (8, "TIM14"), (11, "WWDG"), (14, "SPI2"), (17, "USART2"),
            (21, "I2C1"), (22, "I2C2"), (28, "PWR"), (29, "DAC"),
        ],
        "RCC_APB1ENR" 0x1c, "RCC_APB1RSTR" 0x10
    ),
];

/// STM32F100 and F103, of which neither has all. What is on AHB has no reset.
static F1: &[GateRegister] = &[
    gates!(&[(0, "DMA1"), (1, "DMA2"), (6, "CRC")], "RCC_AHBENR" 0x14),
    gates!(
        &[
            (0, "AFIO"), (2, "IOPA"), (3, "IOPB"), (4, "IOPC"), (5, "IOPD"), (6, "IOPE"), (9, "ADC1"), (10, "ADC2"),
            (11, "TIM1"), (12, "SPI1"), (14, "USART1"), (16, "TIM15"), (17, "TIM16"), (18, "TIM17"),
        ],
        "RCC_APB2ENR" 0x18, "RCC_APB2RSTR" 0x0c
    ),
    gates!(
        &[
            (0, "TIM2"), (1, "TIM3"), (2, "TIM4"), (4, "TIM6"), (5, "TIM7"), (11, "WWDG"), (14, "SPI2"),
            (17, "USART2"), (18, "USART3"), (21, "I2C1"), (22, "I2C2"), (28, "PWR"), (29, "DAC"),
        ],
        "RCC_APB1ENR" 0x1c, "RCC_APB1RSTR" 0x10
    ),
];

/// STM32F4 and F7, of which none has all. The reset of the converters is one for all.
static F4: &[GateRegister] = &[
    gates!(
        &[
            (0, "GPIOA"), (1, "GPIOB"), (2, "GPIOC"), (3, "GPIOD"), (4, "GPIOE"), (5, "GPIOF"), (6, "GPIOG"),
            (7, "GPIOH"), (8, "GPIOI"), (9, "GPIOJ"), (10, "GPIOK"), (12, "CRC"), (18, "BKPSRAM"), (21, "DMA1"),
            (22, "DMA2"),
        ],
        "RCC_AHB1ENR" 0x30, "RCC_AHB1RSTR" 0x10, "RCC_AHB1LPENR" 0x50 "LPEN"
    ),
    gates!(&[(6, "RNG")], "RCC_AHB2ENR" 0x34, "RCC_AHB2RSTR" 0x14, "RCC_AHB2LPENR" 0x54 "LPEN"),
    gates!(
        &[
            (0, "TIM2"), (1, "TIM3"), (2, "TIM4"), (3, "TIM5"), (4, "TIM6"), (5, "TIM7"), (6, "TIM12"), (7, "TIM13"),
            (8, "TIM14"), (11, "WWDG"), (14, "SPI2"), (15, "SPI3"), (17, "USART2"), (18, "USART3"), (19, "UART4"),
            (20, "UART5"), (21, "I2C1"), (22, "I2C2"), (23, "I2C3"), (24, "I2C4"), (28, "PWR"), (29, "DAC"),
            (30, "UART7"), (31, "UART8"),
        ],
        "RCC_APB1ENR" 0x40, "RCC_APB1RSTR" 0x20, "RCC_APB1LPENR" 0x60 "LPEN"
    ),
    gates!(
        &[
            (0, "TIM1"), (1, "TIM8"), (4, "USART1"), (5, "USART6"), (8, "ADC1/ADC"), (12, "SPI1"), (13, "SPI4"),
            (14, "SYSCFG"), (16, "TIM9"), (17, "TIM10"), (18, "TIM11"), (20, "SPI5"), (21, "SPI6"),
        ],
        "RCC_APB2ENR" 0x44, "RCC_APB2RSTR" 0x24, "RCC_APB2LPENR" 0x64 "LPEN"
    ),
];

static L4: &[GateRegister] = &[
    gates!(
        &[(0, "DMA1"), (1, "DMA2"), (2, "DMAMUX1"), (12, "CRC")],
        "RCC_AHB1ENR" 0x48, "RCC_AHB1RSTR" 0x28, "RCC_AHB1SMENR" 0x68 "SMEN"
    ),
    gates!(
        &[
            (0, "GPIOA"), (1, "GPIOB"), (2, "GPIOC"), (3, "GPIOD"), (4, "GPIOE"), (5, "GPIOF"), (6, "GPIOG"),
            (7, "GPIOH"), (8, "GPIOI"), (13, "ADC"), (18, "RNG"),
        ],
        "RCC_AHB2ENR" 0x4c, "RCC_AHB2RSTR" 0x2c, "RCC_AHB2SMENR" 0x6c "SMEN"
    ),
    gates!(
        &[
            (0, "TIM2"), (1, "TIM3"), (2, "TIM4"), (3, "TIM5"), (4, "TIM6"), (5, "TIM7"), (11, "WWDG"), (14, "SPI2"),
            (15, "SPI3"), (17, "USART2"), (18, "USART3"), (19, "UART4"), (20, "UART5"), (21, "I2C1"), (22, "I2C2"),
            (23, "I2C3"), (28, "PWR"), (29, "DAC1"),
        ],
        "RCC_APB1ENR1" 0x58, "RCC_APB1RSTR1" 0x38, "RCC_APB1SMENR1" 0x78 "SMEN"
    ),
    gates!(
        &[(0, "LPUART1"), (1, "I2C4")],
        "RCC_APB1ENR2" 0x5c, "RCC_APB1RSTR2" 0x3c, "RCC_APB1SMENR2" 0x7c "SMEN"
    ),
    gates!(
        &[
            (0, "SYSCFG"), (11, "TIM1"), (12, "SPI1"), (13, "TIM8"), (14, "USART1"), (16, "TIM15"), (17, "TIM16"),
            (18, "TIM17"),
        ],
        "RCC_APB2ENR" 0x60, "RCC_APB2RSTR" 0x40, "RCC_APB2SMENR" 0x80 "SMEN"
    ),
];
