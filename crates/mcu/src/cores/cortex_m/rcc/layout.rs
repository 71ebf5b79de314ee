//! The registers of each series' RCC: offset, bits that keep what is written, value after a reset.
//!
//! Reset values: RM0091 section 6.4, RM0041 section 6.3, RM0090 section 7.3; those of the STM32F7's
//! PLLs as `HAL_RCC_DeInit` of STM32CubeF7 restores them; clocks in sleep mode (LPENR, SMENR) are
//! all on. Bits: ST's CMSIS headers of the parts. A bit that is not kept reads as after a reset;
//! ready bits, SWS and the causes of a reset follow ([`super::Rcc`]).

/// Bytes of the block in the memory map.
pub(super) const BLOCK: u32 = 0x400;

/// A register: offset, bits that keep what is written, value after a reset.
type Row = (u32, u32, u32);

/// The series, and what its parts have otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    F0,
    /// STM32F100.
    F1ValueLine,
    F1,
    /// STM32F401.
    F401,
    /// STM32F405, F407.
    F407,
    F411,
    F7,
    L4,
}

impl Series {
    /// Its registers, part by part; a later row stands for an earlier one of the same offset.
    pub fn rows(self) -> [&'static [Row]; 2] {
        match self {
            Series::F0 => [&F0, &[]],
            Series::F1ValueLine => [&F100, &[]],
            Series::F1 => [&F103, &[]],
            Series::F401 => [&F4, &F401],
            Series::F407 => [&F4, &F407],
            Series::F411 => [&F4, &F411],
            Series::F7 => [&F7, &[]],
            Series::L4 => [&L4, &[]],
        }
    }

    /// The enables of interrupts that the RCC never requests: its register, the bits.
    pub fn interrupt_enables(self) -> (u32, u32) {
        match self {
            Series::F0 => (0x08, 0x3f00),
            Series::F1 | Series::F1ValueLine => (0x08, 0x1f00),
            Series::F401 | Series::F407 | Series::F411 => (0x0c, 0x3f00),
            Series::F7 => (0x0c, 0x7f00),
            Series::L4 => (0x18, 0x06ff),
        }
    }

    /// The settings of the PLL, which can be written only while it is off: registers, bits.
    pub fn pll_settings(self) -> &'static [(u32, u32)] {
        match self {
            // PLLMUL, PLLXTPRE, PLLSRC; PREDIV.
            Series::F0 | Series::F1ValueLine => &[(0x04, 0x003f_0000), (0x2c, 0xf)],
            Series::F1 => &[(0x04, 0x003f_0000)],
            Series::F401 | Series::F407 | Series::F411 | Series::F7 => &[(0x04, u32::MAX)],
            // All but the enables of its outputs.
            Series::L4 => &[(0x0c, !(1 << 16 | 1 << 20 | 1 << 24))],
        }
    }
}

/// STM32F051: CR to CR2.
const F0: [Row; 14] = [
    (0x00, 0x010d_00f9, 0x0000_0083), // CR
    (0x04, 0x0f3f_47f3, 0),           // CFGR
    (0x08, 0, 0),                     // CIR
    (0x0c, 0x0047_5a01, 0),           // APB2RSTR
    (0x10, 0x7062_4913, 0),           // APB1RSTR
    (0x14, 0x015e_0055, 0x14),        // AHBENR: SRAM, FLITF
    (0x18, 0x0047_5a01, 0),           // APB2ENR
    (0x1c, 0x7062_4913, 0),           // APB1ENR
    (0x20, 0x0001_831d, 0x18),        // BDCR: LSEDRV
    (0x24, 0x0000_0001, 0x0c00_0000), // CSR: power-on and pin reset
    (0x28, 0x015e_0000, 0),           // AHBRSTR
    (0x2c, 0x0000_000f, 0),           // CFGR2
    (0x30, 0x0000_0053, 0),           // CFGR3
    (0x34, 0x0000_00fd, 0x80),        // CR2: HSI14TRIM
];

/// STM32F100: CR to CSR, CFGR2.
const F100: [Row; 11] = [
    (0x00, 0x010d_00f9, 0x0000_0083),
    (0x04, 0x073f_fff3, 0),
    (0x08, 0, 0),
    (0x0c, 0x0007_5a7d, 0),
    (0x10, 0x7866_4837, 0),
    (0x14, 0x0000_0055, 0x14),
    (0x18, 0x0007_5a7d, 0),
    (0x1c, 0x7866_4837, 0),
    (0x20, 0x0001_8305, 0),
    (0x24, 0x0000_0001, 0x0c00_0000),
    (0x2c, 0x0000_000f, 0), // CFGR2
];

/// STM32F103: CR to CSR.
const F103: [Row; 10] = [
    (0x00, 0x010d_00f9, 0x0000_0083),
    (0x04, 0x077f_fff3, 0),
    (0x08, 0, 0),
    (0x0c, 0x0000_5e7d, 0),
    (0x10, 0x1ae6_4807, 0),
    (0x14, 0x0000_0055, 0x14),
    (0x18, 0x0000_5e7d, 0),
    (0x1c, 0x1ae6_4807, 0),
    (0x20, 0x0001_8305, 0),
    (0x24, 0x0000_0001, 0x0c00_0000),
];

/// Those that all STM32F4 have alike.
const F4: [Row; 7] = [
    (0x00, 0x050d_00f9, 0x0000_0083), // CR
    (0x04, 0x0f43_7fff, 0x2400_3010), // PLLCFGR
    (0x08, 0xffff_fcf3, 0),           // CFGR
    (0x0c, 0, 0),                     // CIR
    (0x74, 0x0000_0001, 0x0e00_0000), // CSR
    (0x80, 0xcfff_ffff, 0),           // SSCGR
    (0x70, 0x0001_8305, 0),           // BDCR
];

const F401: [Row; 14] = [
    (0x10, 0x0060_109f, 0), // AHB1RSTR
    (0x14, 0x0000_0080, 0),
    (0x20, 0x10e2_c80f, 0), // APB1RSTR
    (0x24, 0x0007_7931, 0),
    (0x30, 0x0060_109f, 0), // AHB1ENR
    (0x34, 0x0000_0080, 0),
    (0x40, 0x10e2_c80f, 0), // APB1ENR
    (0x44, 0x0007_7931, 0),
    (0x50, 0x0061_909f, 0x0061_909f), // AHB1LPENR
    (0x54, 0x0000_0080, 0x0000_0080),
    (0x60, 0x10e2_c80f, 0x10e2_c80f), // APB1LPENR
    (0x64, 0x0007_7931, 0x0007_7931),
    (0x84, 0x7000_7fc0, 0x2000_3000), // PLLI2SCFGR
    (0x8c, 0x0100_0000, 0),           // DCKCFGR
];

/// With SPI5 and the I2S PLL's own divider PLLI2SM.
const F411: [Row; 15] = [
    (0x10, 0x0060_109f, 0),
    (0x14, 0x0000_0080, 0),
    (0x20, 0x10e2_c80f, 0),
    (0x24, 0x0017_7931, 0),
    (0x30, 0x0060_109f, 0),
    (0x34, 0x0000_0080, 0),
    (0x40, 0x10e2_c80f, 0),
    (0x44, 0x0017_7931, 0),
    (0x50, 0x0061_909f, 0x0061_909f),
    (0x54, 0x0000_0080, 0x0000_0080),
    (0x60, 0x10e2_c80f, 0x10e2_c80f),
    (0x64, 0x0017_7931, 0x0017_7931),
    (0x70, 0x0001_830d, 0), // BDCR: LSEMOD
    (0x84, 0x7000_7fff, 0x2000_3010),
    (0x8c, 0x0100_0000, 0),
];

const F407: [Row; 16] = [
    (0x10, 0x2260_11ff, 0), // AHB1RSTR
    (0x14, 0x0000_00c1, 0),
    (0x18, 0x0000_0001, 0),
    (0x20, 0x36fe_c9ff, 0), // APB1RSTR
    (0x24, 0x0007_5933, 0),
    (0x30, 0x7e74_11ff, 0x0010_0000), // AHB1ENR: CCMDATARAMEN
    (0x34, 0x0000_00c1, 0),
    (0x38, 0x0000_0001, 0),
    (0x40, 0x36fe_c9ff, 0), // APB1ENR
    (0x44, 0x0007_5f33, 0),
    (0x50, 0x7e67_91ff, 0x7e67_91ff), // AHB1LPENR
    (0x54, 0x0000_00c1, 0x0000_00f1),
    (0x58, 0x0000_0001, 0x0000_0001),
    (0x60, 0x36fe_c9ff, 0x36fe_c9ff), // APB1LPENR
    (0x64, 0x0007_5f33, 0x0007_5f33),
    (0x84, 0x7000_7fc0, 0x2000_3000), // PLLI2SCFGR
];

/// STM32F767.
const F7: [Row; 26] = [
    (0x00, 0x150d_00f9, 0x0000_0083),
    (0x04, 0x7f43_7fff, 0x2400_3010),
    (0x08, 0xffff_fcf3, 0),
    (0x0c, 0, 0),
    (0x10, 0x22e0_17ff, 0), // AHB1RSTR
    (0x14, 0x0000_00c3, 0),
    (0x18, 0x0000_0003, 0),
    (0x20, 0xffff_ebff, 0), // APB1RSTR
    (0x24, 0x64f7_79b3, 0),
    (0x30, 0x7ef4_17ff, 0x0010_0000), // AHB1ENR: DTCMRAMEN
    (0x34, 0x0000_00c3, 0),
    (0x38, 0x0000_0003, 0),
    (0x40, 0xffff_efff, 0), // APB1ENR
    (0x44, 0x64f7_7fb3, 0),
    (0x50, 0x7ef7_b7ff, 0x7ef7_b7ff), // AHB1LPENR
    (0x54, 0x0000_00c3, 0x0000_00c3),
    (0x58, 0x0000_0003, 0x0000_0003),
    (0x60, 0xffff_efff, 0xffff_efff), // APB1LPENR
    (0x64, 0x64f7_7fb3, 0x64f7_7fb3),
    (0x70, 0x0001_831d, 0),
    (0x74, 0x0000_0001, 0x0e00_0000),
    (0x80, 0xcfff_ffff, 0),
    (0x84, 0x7f03_7fc0, 0x2400_3000), // PLLI2SCFGR
    (0x88, 0x7f03_7fc0, 0x2400_3000), // PLLSAICFGR
    (0x8c, 0x07f3_1f1f, 0),           // DCKCFGR1
    (0x90, 0x3fff_ffff, 0),           // DCKCFGR2
];

/// STM32L4R5.
const L4: [Row; 33] = [
    (0x00, 0x150d_0bfd, 0x0000_0063), // CR: MSI on and ready, 4 MHz
    (0x04, 0x7f00_ff00, 0x4000_0000), // ICSCR: HSITRIM
    (0x08, 0x7f00_bff3, 0),           // CFGR
    (0x0c, 0xff73_7ff3, 0x1000),      // PLLCFGR
    (0x10, 0xff73_7ff0, 0x1000),
    (0x14, 0xff73_7ff0, 0x1000),
    (0x18, 0, 0), // CIER
    (0x1c, 0, 0), // CIFR
    (0x20, 0, 0), // CICR
    (0x28, 0x0003_1107, 0),
    (0x2c, 0x0054_71ff, 0),
    (0x30, 0x0000_0301, 0),
    (0x38, 0xf3fe_c03f, 0),
    (0x3c, 0x0000_0023, 0),
    (0x40, 0x0167_7801, 0),
    (0x48, 0x0003_1107, 0x100), // AHB1ENR: flash
    (0x4c, 0x0054_71ff, 0),
    (0x50, 0x0000_0301, 0),
    (0x58, 0xf3fe_cc3f, 0),
    (0x5c, 0x0000_0023, 0),
    (0x60, 0x0167_7881, 0),
    (0x68, 0x0003_1307, 0x0003_1307), // AHB1SMENR
    (0x6c, 0x0054_77ff, 0x0054_77ff),
    (0x70, 0x0000_0301, 0x0000_0301),
    (0x78, 0xf3fe_cc3f, 0xf3fe_cc3f),
    (0x7c, 0x0000_0023, 0x0000_0023),
    (0x80, 0x0167_7801, 0x0167_7801),
    (0x88, 0x3c3f_ffff, 0),           // CCIPR
    (0x90, 0x0301_833d, 0),           // BDCR
    (0x94, 0x0000_0f01, 0x0c00_0600), // CSR: brown-out and pin reset, MSISRANGE 4 MHz
    (0x98, 0x0000_0001, 0),           // CRRCR
    (0x9c, 0x0033_47ff, 0),           // CCIPR2
    (0xa4, 0x0000_00ff, 0),           // DLYCFGR
];
