//! Reset and clock control (RCC) of the STM32: oscillators that are ready as soon as they are on,
//! and the switch of the system clock.
//!
//! RM0091 (STM32F0) section 6.4, RM0041 (STM32F1) section 6.3, RM0090 (STM32F4) section 7.3, RM0410
//! (STM32F7) section 5.3, RM0432 (STM32L4+) section 6.4. The enables and resets of
//! peripherals are [`gates`]. All other registers keep what is written.

mod gates;
mod layout;

use self::layout::{BLOCK, Series};
use super::flash_interface::Interface;
use crate::{GateRegister, ResetCause};

/// Words up to the last register of the five, RCC_DLYCFGR (0xa4) of the STM32L4+.
const WORDS: usize = 0xa8 / 4;

/// The index of the register at an offset in bytes.
const fn word(offset: u32) -> usize {
    offset as usize / 4
}

/// The registers.
#[derive(Clone)]
pub(super) struct Rcc {
    interface: Interface,
    series: Series,
    words: [u32; WORDS],
    /// Values after a reset, and bits that keep what is written; `None` where there is no register.
    layout: [Option<(u32, u32)>; WORDS],
    /// SWS: the source that is the system clock.
    status: u32,
}

/// RCC_CR: HSION of the STM32L4+, whose lowest bit is MSION; HSEON, HSEBYP, PLLON.
const HSION_L4: u32 = 1 << 8;
const HSEON: u32 = 1 << 16;
const HSEBYP: u32 = 1 << 18;
const PLLON: u32 = 1 << 24;

/// An enable bit and the ready bit that follows it.
const CR_READY: [(u32, u32); 3] = [(0, 1), (16, 17), (24, 25)];
/// STM32F4 and F7: PLLI2S; F7: PLLSAI; STM32L4+: PLLSAI1, PLLSAI2.
const CR_READY_MORE: [(u32, u32); 2] = [(26, 27), (28, 29)];

/// RCC_DCKCFGR, of the STM32F401, F411 and F7, and its TIMPRE: another clock for the timers
/// (RM0383, RM0368, section 6.3.23; RM0410, section 5.3.25).
const DCKCFGR: u32 = 0x8c;
const TIMPRE: u32 = 1 << 24;

/// RCC_PLLSAICFGR of the STM32F42x and F43x, and its value after a reset (RM0090, section 6.3.24).
const PLLSAICFGR: u32 = 0x88;
const PLLSAICFGR_RESET: u32 = 0x2400_3000;
/// RCC_PLLCFGR of the STM32L4+: PLLREN.
const PLLREN_L4: u32 = 1 << 24;

/// RCC_BDCR: the reset of the backup domain, the clock of the RTC and its switch.
const BDRST: u32 = 1 << 16;
const RTCSEL: u32 = 3 << 8;
const RTCEN: u32 = 1 << 15;
/// The crystal of the LSE, in Hz: what the RTC is made for.
const LSE_HZ: u64 = 32_768;

/// RCC_CSR: what was the last reset's cause, and the bit that clears it; on the STM32L4+ one bit
/// lower.
const CAUSES: u32 = 0xfe00_0000;
const RMVF: u32 = 1 << 24;

/// STM32L4+, MSIRANGE: the multispeed oscillator's frequencies in kHz (RM0432, 6.4.1).
const MSI_KHZ: [u64; 12] = [100, 200, 400, 800, 1_000, 2_000, 4_000, 8_000, 16_000, 24_000, 32_000, 48_000];
/// STM32L4+: the HSI16.
const HSI16_HZ: u64 = 16_000_000;

/// The series of a part with this flash interface, by its name and its CCM.
fn series(interface: Interface, part: &str, has_ccm: bool) -> Series {
    match interface {
        Interface::F0 => Series::F0,
        Interface::F1 if part.starts_with("stm32f100") => Series::F1ValueLine,
        Interface::F1 => Series::F1,
        Interface::F4 if has_ccm => Series::F407,
        Interface::F4 if part.starts_with("stm32f411") => Series::F411,
        Interface::F4 => Series::F401,
        Interface::F7 => Series::F7,
        Interface::L4 => Series::L4,
    }
}

impl Rcc {
    pub fn new(interface: Interface, part: &str, has_ccm: bool) -> Rcc {
        let series = series(interface, part, has_ccm);
        let mut layout = [None; WORDS];
        for (offset, kept, reset) in series.rows().into_iter().flatten() {
            layout[word(*offset)] = Some((*reset, *kept));
        }
        let mut rcc = Rcc { interface, series, words: [0; WORDS], layout, status: 0 };
        rcc.words[rcc.bdcr()] = rcc.after_reset(rcc.bdcr());
        rcc.reset();
        rcc
    }

    fn after_reset(&self, index: usize) -> u32 {
        self.layout[index].map_or(0, |(reset, _)| reset)
    }

    pub fn reset(&mut self) {
        // The backup domain keeps its register.
        let backup = self.words[self.bdcr()];
        self.words = std::array::from_fn(|index| self.after_reset(index));
        self.words[self.bdcr()] = backup;
        self.status = 0;
    }

    /// Bytes of the block from its base on.
    pub fn size(&self) -> u32 {
        BLOCK
    }

    fn csr(&self) -> usize {
        match self.interface {
            Interface::F0 | Interface::F1 => word(0x24),
            Interface::F4 | Interface::F7 => word(0x74),
            Interface::L4 => word(0x94),
        }
    }

    fn bdcr(&self) -> usize {
        match self.interface {
            Interface::F0 | Interface::F1 => word(0x20),
            Interface::F4 | Interface::F7 => word(0x70),
            Interface::L4 => word(0x90),
        }
    }

    fn cfgr(&self) -> usize {
        match self.interface {
            Interface::F0 | Interface::F1 => word(0x04),
            Interface::F4 | Interface::F7 | Interface::L4 => word(0x08),
        }
    }

    /// The registers that let peripherals have their clocks, or reset them.
    pub fn gates(&self) -> &'static [GateRegister] {
        gates::gates(self.series)
    }

    /// The register at `offset` (a multiple of 4); zero where there is none.
    pub fn read(&self, offset: u32) -> u32 {
        self.words.get(word(offset)).copied().unwrap_or(0)
    }

    /// Writes the register at `offset` (a multiple of 4), ready and status bits following.
    ///
    /// # Errors
    /// A reason: a setting that is not modelled, or a one where there is no register.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), &'static str> {
        let index = word(offset);
        let Some((reset, kept)) = self.layout.get(index).copied().flatten() else {
            // RCC_DeInit of ST's Standard Peripheral Library writes it on parts without a PLLSAI.
            if self.interface == Interface::F4 && (offset, value) == (PLLSAICFGR, PLLSAICFGR_RESET) {
                return Ok(());
            }
            let reserved = Err("a register that only others of the series have");
            return if value == 0 { Ok(()) } else { reserved };
        };
        let (interrupts, enables) = self.series.interrupt_enables();
        if offset == interrupts && value & enables != 0 {
            return Err(match self.series {
                Series::L4 => "RCC_CIER: its interrupts are not modelled",
                _ => "RCC_CIR: its interrupts are not modelled",
            });
        }
        if offset == DCKCFGR && self.interface != Interface::L4 && value & TIMPRE != 0 {
            return Err("DCKCFGR.TIMPRE is not modelled");
        }
        let before = self.words[index];
        let held = kept & self.held_bits(offset);
        let written = value;
        let value = written & kept & !held | before & held | reset & !kept;
        self.words[index] = value;
        if index == self.bdcr() {
            // RTCSEL, once it is not zero, stays until the backup domain is reset.
            let source = if before & RTCSEL == 0 { value & RTCSEL } else { before & RTCSEL };
            let reset = self.after_reset(index);
            self.words[index] = if value & BDRST != 0 { BDRST | reset } else { value & !RTCSEL | source };
        }
        if index == self.csr() {
            // The causes of the last reset stay until RMVF clears them.
            let (all, clear) = self.cause_bits();
            let causes = if written & clear != 0 { 0 } else { before & all };
            self.words[index] = value & !(all | clear) | causes;
        }
        self.follow(0, &CR_READY);
        match self.interface {
            Interface::F0 | Interface::F1 => {
                self.follow(self.bdcr(), &[(0, 1)]); // LSE
                self.follow(word(0x24), &[(0, 1)]); // RCC_CSR: LSI
                if self.interface == Interface::F0 {
                    self.follow(word(0x34), &[(0, 1)]); // RCC_CR2: HSI14
                }
            }
            Interface::F4 | Interface::F7 => {
                self.follow(0, &CR_READY_MORE);
                self.follow(self.bdcr(), &[(0, 1)]);
                self.follow(word(0x74), &[(0, 1)]);
            }
            Interface::L4 => {
                self.follow(0, &CR_READY_MORE);
                self.follow(0, &[(8, 10)]); // HSI16
                self.follow(self.bdcr(), &[(0, 1)]); // LSE
                self.follow(word(0x94), &[(0, 1)]); // RCC_CSR: LSI
                self.follow(word(0x98), &[(0, 1)]); // RCC_CRRCR: HSI48
            }
        }
        // SWS follows SW as soon as that source is ready.
        let cfgr = self.cfgr();
        let source = self.words[cfgr] & 3;
        // HSI, HSE, PLL; STM32L4+: MSI, HSI16, HSE, PLL.
        let bits = if self.interface == Interface::L4 { [1, 10, 17, 25] } else { [1, 17, 25, 31] };
        let ready = self.words[0] >> bits[source as usize] & 1 == 1;
        let status = if ready { source } else { self.status };
        self.words[cfgr] = self.words[cfgr] & !0xc | status << 2;
        self.status = status;
        Ok(())
    }

    /// The bits of the register at `offset` that a write does not change now: "Clock control
    /// register", HSION, HSEON and PLLON of what makes the system clock, HSEBYP while HSE is on;
    /// the PLL's settings while it is on.
    fn held_bits(&self, offset: u32) -> u32 {
        let control = self.words[0];
        if offset != 0 {
            // PLLREN "cannot be written when PLLCLK output of the PLL is used as the system clock"
            // (RM0432, 6.4.4).
            if self.interface == Interface::L4 && (offset, self.status) == (0x0c, 3) {
                return self.series.pll_settings()[0].1 | PLLREN_L4;
            }
            let settings = self.series.pll_settings().iter().find(|(register, _)| *register == offset);
            return if control & PLLON == 0 { 0 } else { settings.map_or(0, |(_, bits)| *bits) };
        }
        let input = if self.status == 3 || self.interface != Interface::L4 && self.status == 2 {
            PLLON | self.pll_input()
        } else {
            let sources = if self.interface == Interface::L4 { [1, HSION_L4, HSEON] } else { [1, HSEON, 0] };
            sources[self.status as usize]
        };
        control & input | if control & HSEON == 0 { 0 } else { HSEBYP }
    }

    /// The enable bit in RCC_CR of the oscillator that the PLL is made of.
    fn pll_input(&self) -> u32 {
        let by_hse = |on: u32| if on == 1 { HSEON } else { 1 };
        match self.interface {
            Interface::F0 | Interface::F1 => by_hse(self.words[self.cfgr()] >> 16 & 1),
            Interface::F4 | Interface::F7 => by_hse(self.words[word(0x04)] >> 22 & 1),
            Interface::L4 => [0, 1, HSION_L4, HSEON][(self.words[word(0x0c)] & 3) as usize],
        }
    }

    /// The causes of a reset in RCC_CSR, and the bit that clears them.
    fn cause_bits(&self) -> (u32, u32) {
        if self.interface == Interface::L4 { (CAUSES | 1 << 24, 1 << 23) } else { (CAUSES, RMVF) }
    }

    fn follow(&mut self, index: usize, bits: &[(u32, u32)]) {
        for &(enable, ready) in bits {
            let on = self.words[index] >> enable & 1;
            self.words[index] = self.words[index] & !(1 << ready) | on << ready;
        }
    }

    /// Says, after [`Rcc::reset`], what the reset's cause was: RCC_CSR. All but power-up and
    /// brown-out pull the pin NRST, too.
    pub fn set_reset_cause(&mut self, cause: ResetCause) {
        let flags: u32 = match cause {
            ResetCause::PowerOn => {
                let bdcr = self.bdcr();
                self.words[bdcr] = self.after_reset(bdcr);
                return;
            }
            ResetCause::External => 1 << 26,
            ResetCause::BrownOut if self.interface == Interface::L4 => 3 << 26,
            ResetCause::BrownOut => 3 << 25,
            ResetCause::Watchdog => 1 << 29 | 1 << 26,
            ResetCause::WindowWatchdog => 1 << 30 | 1 << 26,
            ResetCause::Software | ResetCause::Password(_) => 1 << 28 | 1 << 26,
            // OBLRSTF of the F0 and the L4.
            ResetCause::OptionBytes => 1 << 25 | 1 << 26,
        };
        let csr = self.csr();
        self.words[csr] = self.words[csr] & !self.cause_bits().0 | flags;
    }

    /// Cycles of the core's clock in one of APB1's and one of APB2's: "Clock configuration
    /// register", PPRE1 and PPRE2 (STM32F0: one bus, PPRE).
    pub fn bus_dividers(&self) -> (u64, u64) {
        let divider = |shift: u32| match self.words[self.cfgr()] >> shift & 7 {
            setting @ 4.. => 1 << (setting - 3),
            _ => 1,
        };
        match self.interface {
            Interface::F0 => (divider(8), divider(8)),
            Interface::F1 | Interface::L4 => (divider(8), divider(11)),
            Interface::F4 | Interface::F7 => (divider(10), divider(13)),
        }
    }

    /// The converters' clock, in Hz: STM32F1: PCLK2 by ADCPRE; L4: ADCSEL of RCC_CCIPR (RM0432,
    /// 6.4.28), 0 where that stands still. Elsewhere the converter divides by itself.
    pub fn converter_hz(&self, crystal_hz: u64) -> Option<u64> {
        match self.interface {
            Interface::F1 => {
                let prescaler = 2 * (u64::from(self.words[self.cfgr()] >> 14 & 3) + 1);
                Some(self.hclk_hz(crystal_hz) / self.bus_dividers().1 / prescaler)
            }
            Interface::L4 => Some(match self.words[word(0x88)] >> 28 & 3 {
                1 => u64::from(self.words[0] >> 27 & 1) * self.pll_output_hz(0x10, 24, crystal_hz),
                3 => self.sysclk_hz(crystal_hz),
                _ => 0,
            }),
            Interface::F0 | Interface::F4 | Interface::F7 => None,
        }
    }

    /// The clock that SW chooses, SYSCLK.
    fn sysclk_hz(&self, crystal_hz: u64) -> u64 {
        match self.status {
            1 if self.interface == Interface::L4 => HSI16_HZ,
            2 if self.interface == Interface::L4 => crystal_hz,
            0 => self.internal_oscillator_hz(),
            1 => crystal_hz,
            _ => self.pll_hz(crystal_hz),
        }
    }

    /// The clocks of I2C1 to I2C4, in Hz; 0 for one that has its bus's. STM32F0: I2C1SW of
    /// RCC_CFGR3 (RM0091, 6.4.13); F7: RCC_DCKCFGR2 (RM0410, 5.3.26); L4: RCC_CCIPR, RCC_CCIPR2
    /// (RM0432, 6.4.28, 6.4.31). HSI is taken to run where it is chosen.
    pub fn i2c_clocks(&self, crystal_hz: u64) -> [u64; 4] {
        let sysclk_hz = self.sysclk_hz(crystal_hz);
        let hsi_hz = if self.interface == Interface::L4 { HSI16_HZ } else { self.internal_oscillator_hz() };
        let selected = |register: u32, shift: u32| match self.words[word(register)] >> shift & 3 {
            1 => sysclk_hz,
            2 => hsi_hz,
            _ => 0,
        };
        match self.interface {
            Interface::F0 if self.words[word(0x30)] >> 4 & 1 == 1 => [sysclk_hz, 0, 0, 0],
            Interface::F0 => [hsi_hz, 0, 0, 0],
            Interface::F7 => [16, 18, 20, 22].map(|shift| selected(0x90, shift)),
            Interface::L4 => [selected(0x88, 12), selected(0x88, 14), selected(0x88, 16), selected(0x9c, 0)],
            Interface::F1 | Interface::F4 => [0; 4],
        }
    }

    /// The clocks of the USARTs that have a choice, in Hz, in the order of their fields, with L4's
    /// LPUART1 behind UART5; 0 for one that has its bus's. STM32F0: USART1SW of RCC_CFGR3 (RM0091,
    /// 6.4.13); F7: RCC_DCKCFGR2 (RM0410, 5.3.26); L4: RCC_CCIPR (RM0432, 6.4.28). HSI and LSE are
    /// taken to run where they are chosen.
    pub fn usart_clocks(&self, crystal_hz: u64) -> [u64; 8] {
        let sysclk_hz = self.sysclk_hz(crystal_hz);
        let (register, fields, choices) = match self.interface {
            Interface::F0 => (0x30, 1, [sysclk_hz, LSE_HZ, self.internal_oscillator_hz()]),
            Interface::F7 => (0x90, 8, [sysclk_hz, self.internal_oscillator_hz(), LSE_HZ]),
            Interface::L4 => (0x88, 6, [sysclk_hz, HSI16_HZ, LSE_HZ]),
            Interface::F1 | Interface::F4 => return [0; 8],
        };
        std::array::from_fn(|field| match self.words[word(register)] >> (2 * field) & 3 {
            choice @ 1.. if field < fields => choices[choice as usize - 1],
            _ => 0,
        })
    }

    /// The core's clock HCLK, from a crystal or external clock HSE of `crystal_hz`.
    pub fn hclk_hz(&self, crystal_hz: u64) -> u64 {
        let cfgr = self.words[self.cfgr()];
        let source_hz = self.sysclk_hz(crystal_hz);
        // HPRE: 2, 4, 8, 16, 64, 128, 256, 512.
        let divider = match cfgr >> 4 & 15 {
            setting @ 12.. => 1 << (setting - 6),
            setting @ 8..12 => 1 << (setting - 7),
            _ => 1,
        };
        source_hz / divider
    }

    /// The PLL's output.
    fn pll_hz(&self, crystal_hz: u64) -> u64 {
        let hsi_hz = self.internal_oscillator_hz();
        match self.interface {
            // PLLSRC, PLLMUL, PREDIV in RCC_CFGR2, whose lowest bit is PLLXTPRE, too: RM0091,
            // RM0041; the STM32F103 has that bit alone (RM0008). The HSI goes in by half.
            Interface::F0 | Interface::F1 => {
                let cfgr = self.words[self.cfgr()];
                let divider = u64::from(self.words[word(0x2c)] & 15 | cfgr >> 17 & 1) + 1;
                let input_hz = if cfgr >> 16 & 1 == 1 { crystal_hz / divider } else { hsi_hz / 2 };
                input_hz * u64::from((cfgr >> 18 & 15) + 2).min(16)
            }
            // RCC_PLLCFGR: PLLM, PLLN, PLLP, PLLSRC: RM0090, RM0410.
            Interface::F4 | Interface::F7 => {
                let setting = self.words[word(0x04)];
                let input_hz = if setting >> 22 & 1 == 1 { crystal_hz } else { hsi_hz };
                let (m, n, p) = (setting & 63, setting >> 6 & 511, ((setting >> 16 & 3) + 1) * 2);
                input_hz * u64::from(n) / u64::from(m.max(1)) / u64::from(p)
            }
            Interface::L4 => self.pll_output_hz(0x0c, 24, crystal_hz),
        }
    }

    /// STM32L4+: what the PLL with its settings at `offset` gives at the output whose enable bit
    /// this is, Q or R (RM0432, 6.4.4): PLLM, PLLN, and the output's divider in the two bits after
    /// that bit. The source is in RCC_PLLCFGR for all.
    fn pll_output_hz(&self, offset: u32, enable: u32, crystal_hz: u64) -> u64 {
        let input_hz = match self.words[word(0x0c)] & 3 {
            0 => 0,
            1 => self.internal_oscillator_hz(),
            2 => HSI16_HZ,
            _ => crystal_hz,
        };
        let setting = self.words[word(offset)];
        let (m, n, divider) =
            ((setting >> 4 & 15) + 1, setting >> 8 & 127, ((setting >> (enable + 1) & 3) + 1) * 2);
        let on = u64::from(setting >> enable & 1);
        on * input_hz * u64::from(n) / u64::from(m) / u64::from(divider)
    }

    /// PLL48CLK: PLLQ of RCC_PLLCFGR (RM0090 section 7.3.2); STM32F7 with CK48MSEL of RCC_DCKCFGR2:
    /// PLLSAIP of RCC_PLLSAICFGR (RM0410, sections 5.3.24 and 5.3.26); STM32L4+: CLK48SEL of
    /// RCC_CCIPR (RM0432, 6.4.28). 0 where that PLL is off, or there is none.
    pub fn clock48_hz(&self, crystal_hz: u64) -> u64 {
        if self.interface == Interface::L4 {
            return match self.words[word(0x88)] >> 26 & 3 {
                0 => u64::from(self.words[word(0x98)] >> 1 & 1) * 48_000_000,
                1 => u64::from(self.words[0] >> 27 & 1) * self.pll_output_hz(0x10, 20, crystal_hz),
                2 => u64::from(self.words[0] >> 25 & 1) * self.pll_output_hz(0x0c, 20, crystal_hz),
                _ => self.internal_oscillator_hz(),
            };
        }
        if !matches!(self.interface, Interface::F4 | Interface::F7) {
            return 0;
        }
        let setting = self.words[word(0x04)];
        let input_hz = if setting >> 22 & 1 == 1 { crystal_hz } else { self.internal_oscillator_hz() };
        let input_hz = input_hz / u64::from((setting & 63).max(1));
        let second = self.interface == Interface::F7 && self.words[word(0x90)] >> 27 & 1 == 1;
        let (ready, n, divider) = if second {
            let setting = self.words[word(0x88)];
            (29, setting >> 6 & 511, ((setting >> 16 & 3) + 1) * 2)
        } else {
            (25, setting >> 6 & 511, (setting >> 24 & 15).max(1))
        };
        let on = u64::from(self.words[0] >> ready & 1);
        on * input_hz * u64::from(n) / u64::from(divider)
    }

    /// The clock of the RTC, in Hz, from the oscillators LSE, LSI and HSE: RTCSEL of RCC_BDCR, with
    /// RTCPRE of RCC_CFGR on the F4 and F7. 0 where it stands still; and whether the backup domain
    /// is held in its reset.
    pub fn rtc_clock(&self, crystal_hz: u64, lsi_hz: u64) -> (u64, bool) {
        let bdcr = self.words[self.bdcr()];
        // The ready bit of LSI is in RCC_CSR, of HSE in RCC_CR.
        let lsi_on = self.words[self.csr()] >> 1 & 1 == 1;
        let hse_on = self.words[0] >> 17 & 1 == 1;
        let hse_divider = match self.interface {
            Interface::F1 => 128,
            Interface::F0 | Interface::L4 => 32,
            Interface::F4 | Interface::F7 => u64::from(self.words[self.cfgr()] >> 16 & 31),
        };
        let clock_hz = match bdcr >> 8 & 3 {
            1 if bdcr >> 1 & 1 == 1 => LSE_HZ,
            2 if lsi_on => lsi_hz,
            3 if hse_on => crystal_hz.checked_div(hse_divider).unwrap_or(0),
            _ => 0,
        };
        (if bdcr & RTCEN != 0 { clock_hz } else { 0 }, bdcr & BDRST != 0)
    }

    /// True while the core runs from the internal oscillator, as after reset.
    pub fn on_internal_oscillator(&self) -> bool {
        self.status == 0
    }

    /// The frequency in Hz of the internal oscillator that runs after reset: RM0091, RM0041: 8 MHz;
    /// RM0090, RM0410: 16 MHz; RM0432: the MSI, by MSIRANGE, or MSISRANGE of RCC_CSR until MSIRGSEL
    /// is set.
    pub fn internal_oscillator_hz(&self) -> u64 {
        match self.interface {
            Interface::F0 | Interface::F1 => 8_000_000,
            Interface::F4 | Interface::F7 => 16_000_000,
            Interface::L4 => {
                let control = self.words[0];
                let range =
                    if control & 8 != 0 { control >> 4 & 15 } else { self.words[word(0x94)] >> 8 & 15 };
                MSI_KHZ[(range as usize).min(MSI_KHZ.len() - 1)] * 1000
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Core clock from a crystal, after writes of these registers in this order.
    fn hclk_hz(interface: Interface, crystal_hz: u64, writes: &[(u32, u32)]) -> u64 {
        hclk_hz_of("", interface, crystal_hz, writes)
    }

    fn hclk_hz_of(part: &str, interface: Interface, crystal_hz: u64, writes: &[(u32, u32)]) -> u64 {
        let mut rcc = Rcc::new(interface, part, false);
        writes.iter().for_each(|(offset, value)| rcc.write(*offset, *value).expect("a setting"));
        rcc.hclk_hz(crystal_hz)
    }

    /// RM0091, 6.4.9; RM0432, 6.4.4; RM0090, 6.3.24.
    #[test]
    fn bdrst_pllren_and_pllsaicfgr_are_the_manuals() {
        let mut rcc = Rcc::new(Interface::F0, "stm32f051", false);
        rcc.write(0x20, 0).expect("LSEDRV");
        assert_eq!(rcc.read(0x20), 0);
        rcc.write(0x20, BDRST).expect("BDRST");
        rcc.write(0x20, rcc.read(0x20) & !BDRST).expect("BDRST");
        assert_eq!(rcc.read(0x20), 0x18);
        let mut rcc = Rcc::new(Interface::L4, "stm32l4r5", false);
        let setting = 1 << 24 | 15 << 8 | 2;
        for (offset, value) in [(0x0c, setting), (0, 0x0100_0163), (8, 3), (0x0c, 0)] {
            rcc.write(offset, value).expect("a setting");
        }
        assert_eq!((rcc.read(0x0c), rcc.hclk_hz(0)), (setting, 120_000_000));
        for part in ["stm32f401", "stm32f407", "stm32f411"] {
            let mut rcc = Rcc::new(Interface::F4, part, part == "stm32f407");
            assert!(rcc.write(PLLSAICFGR, PLLSAICFGR_RESET).is_ok() && rcc.read(PLLSAICFGR) == 0, "{part}");
            assert!(rcc.write(PLLSAICFGR, 1).is_err(), "{part}");
        }
    }

    #[test]
    fn the_core_clock_follows_registers_and_oscillators() {
        // After reset: HSI. HPRE 1010: by 8; 1100: by 64.
        assert_eq!(hclk_hz(Interface::F0, 4_000_000, &[]), 8_000_000);
        assert_eq!(hclk_hz(Interface::F7, 25_000_000, &[]), 16_000_000);
        assert_eq!(hclk_hz(Interface::F0, 0, &[(4, 0xa0)]), 1_000_000);
        assert_eq!(hclk_hz(Interface::F4, 0, &[(8, 0xc0)]), 250_000);
        // The PLL's settings are held while it is on, so they come first. PLL on HSI / 2 times 12;
        // on HSE 12 MHz / 2 times 4.
        assert_eq!(hclk_hz(Interface::F0, 0, &[(4, 0x0028_0002), (0, 0x0100_0083)]), 48_000_000);
        let writes = [(0x2c, 1), (4, 0x0009_0002), (0, 0x0101_0083)];
        assert_eq!(hclk_hz_of("stm32f100", Interface::F1, 12_000_000, &writes), 24_000_000);
        // HSE times 9; half of it by PLLXTPRE times 9.
        let writes = |cfgr| [(4, cfgr), (0, 0x0101_0083)];
        assert_eq!(hclk_hz(Interface::F1, 8_000_000, &writes(0x001d_0402)), 72_000_000);
        assert_eq!(hclk_hz(Interface::F1, 16_000_000, &writes(0x001f_0402)), 72_000_000);
        // PLLM 8, PLLN 336, PLLP 2 on HSE; PLLM 16, PLLN 216, PLLP 4 on HSI.
        let writes = [(4, 1 << 22 | 336 << 6 | 8), (0, 0x0101_0083), (8, 2)];
        assert_eq!(hclk_hz(Interface::F4, 8_000_000, &writes), 168_000_000);
        let writes = [(4, 1 << 16 | 216 << 6 | 16), (0, 0x0100_0083), (8, 2)];
        assert_eq!(hclk_hz(Interface::F7, 8_000_000, &writes), 54_000_000);
        // PLLQ 7, and 48 MHz by it; the PLL that is off; PLLSAIN 192, PLLSAIP 8 on an input of 2
        // MHz.
        let clock48_hz = |interface, writes: &[(u32, u32)]| {
            let mut rcc = Rcc::new(interface, "", false);
            writes.iter().for_each(|(offset, value)| rcc.write(*offset, *value).expect("a setting"));
            rcc.clock48_hz(8_000_000)
        };
        let writes = [(4, 7 << 24 | 1 << 22 | 336 << 6 | 8), (0, 0x0101_0083)];
        assert_eq!(clock48_hz(Interface::F4, &writes), 48_000_000);
        assert_eq!(clock48_hz(Interface::F4, &writes[..1]), 0);
        let writes = [
            (4, 2 << 24 | 1 << 22 | 100 << 6 | 4),
            (0, 0x1101_0083),
            (0x88, 3 << 16 | 192 << 6),
            (0x90, 1 << 27),
        ];
        assert_eq!(clock48_hz(Interface::F7, &writes), 48_000_000);
        // STM32L4+: MSI of 4 MHz after reset; range 11; HSI16 by PLL to 20 MHz (M 1, N 10, R 8) and
        // 120 MHz (M 1, N 15, R 2).
        assert_eq!(hclk_hz(Interface::L4, 0, &[]), 4_000_000);
        assert_eq!(hclk_hz(Interface::L4, 0, &[(0, 0xb9)]), 48_000_000);
        assert_eq!(hclk_hz(Interface::L4, 0, &[(0, 0x163), (8, 1)]), 16_000_000);
        let writes = |setting| [(0x0c, setting), (0, 0x0100_0163), (8, 3)];
        assert_eq!(hclk_hz(Interface::L4, 0, &writes(3 << 25 | 1 << 24 | 10 << 8 | 2)), 20_000_000);
        assert_eq!(hclk_hz(Interface::L4, 0, &writes(1 << 24 | 15 << 8 | 2)), 120_000_000);
        // HSI48 on; PLLQ 2 of HSI16 times 12 by 4.
        assert_eq!(clock48_hz(Interface::L4, &[(0x98, 1)]), 48_000_000);
        let writes = [(0x0c, 1 << 20 | 12 << 8 | 1 << 4 | 2), (0, 0x0100_0163), (0x88, 2 << 26)];
        assert_eq!(clock48_hz(Interface::L4, &writes), 48_000_000);
        // I2C1 has HSI, or SYSCLK; SYSCLK for I2C1, HSI16 for I2C4.
        let i2c_hz = |interface, writes: &[(u32, u32)]| {
            let mut rcc = Rcc::new(interface, "", false);
            writes.iter().for_each(|(offset, value)| rcc.write(*offset, *value).expect("a setting"));
            rcc.i2c_clocks(8_000_000)
        };
        assert_eq!(i2c_hz(Interface::F0, &[]), [8_000_000, 0, 0, 0]);
        let writes = [(0x30, 1 << 4), (4, 0x0028_0082), (0, 0x0100_0083)];
        assert_eq!(i2c_hz(Interface::F0, &writes), [48_000_000, 0, 0, 0]);
        assert_eq!(i2c_hz(Interface::L4, &[(0x88, 1 << 12), (0x9c, 2)]), [4_000_000, 0, 0, 16_000_000]);
        assert_eq!(i2c_hz(Interface::F7, &[(0x90, 2 << 18)]), [0, 16_000_000, 0, 0]);
        // A source that is not ready is not switched to.
        assert_eq!(hclk_hz(Interface::F4, 8_000_000, &[(8, 1)]), 16_000_000);
    }
}
