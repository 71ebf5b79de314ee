//! The system configuration of the STM32, SYSCFG or (F1) AFIO, and the CH32V003's AFIO: what of it
//! [`super::exti`] does not say itself.
//!
//! RM0091 section 9.1, RM0041 section 7.4, RM0090 section 9.2, RM0410 section 7.2, RM0432 section
//! 9.2; offsets: ST's CMSIS headers. CH32V003: WCH's header as ch32fun has it (ch32v003hw.h). Of
//! which pin a peripheral is at, timers alone take note; that, the Ethernet interface and what
//! breaks a timer are kept. At address 0 is the flash, or the RAM where the program says so.

/// The family whose registers a block has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    F0,
    F1,
    F4,
    F7,
    L4,
    Ch32V003,
}

/// MEM_MODE of CFGR1 (STM32F0) and MEMRMP, and its value for the RAM: RM0091 section 9.1.1, RM0090
/// section 9.2.1, RM0432 section 9.2.1.
const MEM_MODE: u32 = 7;
const RAM: u32 = 3;
/// CMPCR: the compensation cell's switch, and that it is ready.
const CMP_PD: u32 = 1;
const READY: u32 = 1 << 8;

/// Words of the block, up to CMPCR.
const WORDS: usize = 9;

/// The registers.
#[derive(Clone)]
pub(super) struct Syscfg {
    family: Family,
    words: [u32; WORDS],
}

impl Syscfg {
    /// Bytes from its base at which there are registers.
    pub const SIZE: u32 = 4 * WORDS as u32;

    pub fn new(family: Family) -> Syscfg {
        Syscfg { family, words: [0; WORDS] }
    }

    /// The block's name in the manual.
    pub fn name(&self) -> &'static str {
        if matches!(self.family, Family::F1 | Family::Ch32V003) { "AFIO" } else { "SYSCFG" }
    }

    /// The bits of the register at `offset` (a multiple of 4) that keep what is written; none where
    /// there is no register.
    fn kept(&self, offset: u32) -> Option<u32> {
        Some(match (self.family, offset) {
            // PCFR1: the reserved bits are 0; EXTICR, which is alone.
            (Family::Ch32V003, 0x04) => 0x07e6_83c7,
            (Family::Ch32V003, 0x08) => 0xffff,
            (Family::Ch32V003, _) => return None,
            // EXTICR1 to EXTICR4.
            (_, 0x08..=0x14) => 0xffff,
            (Family::F0, 0x00) => 0x000f_1f07,
            (Family::F0, 0x18) => 0x0007,
            // EVCR, MAPR (SWJ_CFG is write-only), MAPR2.
            (Family::F1, 0x00) => 0x007f,
            (Family::F1, 0x04) => 0xf8ff_ffff,
            (Family::F1, 0x1c) => 0x3fff,
            (Family::F4, 0x00) => MEM_MODE,
            (Family::F7, 0x00) => 0,
            (Family::F4, 0x04) => 0x0080_0000,
            (Family::F7, 0x04) => 0x0087_00ff,
            (Family::F7, 0x1c) => 0x5,
            // MEMRMP; CFGR1, whose switches no model looks at; CFGR2.
            (Family::L4, 0x00) => MEM_MODE,
            (Family::L4, 0x04) => 0xfcff_0100,
            (Family::L4, 0x1c) => 0x000f,
            (Family::F4 | Family::F7, 0x20) => CMP_PD,
            _ => return None,
        })
    }

    /// The register at `offset` (a multiple of 4).
    pub fn read(&self, offset: u32) -> Option<u32> {
        self.kept(offset)?;
        let word = self.words[offset as usize / 4];
        let cell = matches!(self.family, Family::F4 | Family::F7) && offset == 0x20 && word & CMP_PD != 0;
        Some(if cell { word | READY } else { word })
    }

    /// Writes the register at `offset` (a multiple of 4).
    ///
    /// # Errors
    /// A setting that is not modelled.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), &'static str> {
        let kept = self.kept(offset).ok_or("register not modelled")?;
        let refused = match (self.family, offset) {
            // DMA_RMP; TIM1_DMA_REMAP, TIM67_DAC_DMA_REMAP.
            (Family::F0, 0x00) if matches!(value & MEM_MODE, 0 | RAM) => {
                (0x1f00, "remapped requests of DMA are not modelled")
            }
            (Family::F1, 0x1c) => (0x0810, "remapped requests of DMA are not modelled"),
            (Family::F4, 0x00) if value & MEM_MODE == RAM => (0, ""),
            (Family::L4, 0x00) if value & MEM_MODE == RAM => (0x100, "swapped flash banks are not modelled"),
            (Family::F0 | Family::F4, 0x00) => {
                (7, "a memory other than the flash at address 0 is not modelled")
            }
            (Family::L4, 0x00) => {
                (0x107, "swapped flash banks and other memories at address 0 are not modelled")
            }
            (Family::F7, 0x00) => (0xd00, "swapped flash banks and memories are not modelled"),
            // TIM1_IREMAP.
            (Family::Ch32V003, 0x04) => (1 << 23, "LSI at TIM1's first channel is not modelled"),
            (Family::F1, 0x00) => (1 << 7, "the event output is not modelled"),
            _ => (0, ""),
        };
        if value & refused.0 != 0 {
            return Err(refused.1);
        }
        self.words[offset as usize / 4] = value & kept;
        Ok(())
    }

    /// The port, from A, whose pin is the line's: EXTICR.
    pub fn port(&self, line: u8) -> u8 {
        if self.family == Family::Ch32V003 {
            return (self.words[2] >> (2 * line) & 3) as u8;
        }
        (self.words[2 + usize::from(line) / 4] >> (line % 4 * 4) & 15) as u8
    }

    /// AFIO_MAPR and AFIO_MAPR2 of the STM32F1, AFIO_PCFR1 of the CH32V003.
    pub fn remaps(&self) -> [u32; 2] {
        let remaps = matches!(self.family, Family::F1 | Family::Ch32V003);
        if remaps { [self.words[1], self.words[7]] } else { [0; 2] }
    }

    /// True where the RAM appears at address 0.
    pub fn shows_ram_at_zero(&self) -> bool {
        matches!(self.family, Family::F0 | Family::F4 | Family::L4) && self.words[0] & MEM_MODE == RAM
    }

    pub fn reset(&mut self) {
        self.words = [0; WORDS];
    }
}
