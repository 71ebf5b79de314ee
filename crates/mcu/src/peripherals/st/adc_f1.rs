//! The converter of the STM32F1: regular groups of up to sixteen conversions, injected groups of up to four, once or over and over, started by
//! software, by a second ADON or by a timer's TRGO, read by the program or DMA; calibration.
//!
//! RM0041 chapter 10 and RM0008 chapter 11. A conversion takes the sampling time and 12.5 clocks of ADCCLK (RCC_CFGR: PPRE2, ADCPRE). The voltage
//! is taken when the sampling time is over. Reference is the supply of the board, as where VREF+ is tied to VDDA; inputs are channels 0
//! to 15 as the board sets them, 16 the temperature sensor at 25 degrees and 17 the internal reference. Calibration takes the data sheets' 83 clocks, resetting it
//! no time. A timer's trigger that comes before it is on or calibrated is taken to be lost. Not modelled and refused with a fault: discontinuous regular and automatic injected conversions, two converters together, the watchdog,
//! other starts from outside, a start while another conversion goes on.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, TransferRequest};
use std::ops::Range;

const SR: u32 = 0x00;
const CR1: u32 = 0x04;
const CR2: u32 = 0x08;
const SMPR1: u32 = 0x0c;
const SMPR2: u32 = 0x10;
const JOFR1: u32 = 0x14;
const JOFR4: u32 = 0x20;
const HTR: u32 = 0x24;
const LTR: u32 = 0x28;
const SQR1: u32 = 0x2c;
const SQR2: u32 = 0x30;
const SQR3: u32 = 0x34;
const JSQR: u32 = 0x38;
const JDR1: u32 = 0x3c;
const JDR4: u32 = 0x48;
const DR: u32 = 0x4c;

/// SR.
const EOC: u32 = 1 << 1;
const JEOC: u32 = 1 << 2;
const JSTRT: u32 = 1 << 3;
const STRT: u32 = 1 << 4;
/// CR1.
const EOCIE: u32 = 1 << 5;
const JEOCIE: u32 = 1 << 7;
const SCAN: u32 = 1 << 8;
const JDISCEN: u32 = 1 << 12;
/// CR2.
const ADON: u32 = 1 << 0;
const CONT: u32 = 1 << 1;
const CAL: u32 = 1 << 2;
const RSTCAL: u32 = 1 << 3;
const DMA: u32 = 1 << 8;
const ALIGN: u32 = 1 << 11;
const JEXTTRIG: u32 = 1 << 15;
const EXTTRIG: u32 = 1 << 20;
const JSWSTART: u32 = 1 << 21;
const SWSTART: u32 = 1 << 22;
const TSVREFE: u32 = 1 << 23;
const SELECTIONS: u32 = 7 << 12 | 7 << 17;
const CONTROL2: u32 = ADON | CONT | CAL | RSTCAL | DMA | ALIGN | JEXTTRIG | EXTTRIG | TSVREFE | SELECTIONS;
/// EXTSEL and JEXTSEL: by software.
const BY_SOFTWARE: u32 = 7;
/// EXTSEL and JEXTSEL: the timers whose TRGO it may be (RM0008, tables 69 and 70; TIM1 and TIM2, TIM4 for injected groups).
const TIMERS: [(u32, u8); 1] = [(4, 3)];
const INJECTED_TIMERS: [(u32, u8); 3] = [(0, 1), (2, 2), (5, 4)];

const SENSOR: u32 = 16;
const REFERENCE: u32 = 17;
/// Sampling times by SMPx, in halves of a clock, and what follows them.
pub(super) const SAMPLING: [u64; 8] = [3, 15, 27, 57, 83, 111, 143, 479];
const CONVERSION: u64 = 25;
/// Clocks of a calibration: tCAL of the data sheets.
pub(super) const CALIBRATION: u64 = 83;
/// Where [`crate::Events::generic_clocks_hz`] has ADCCLK.
const CLOCK: usize = 4;

/// What is being converted: the number of this one in its group, from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Regular(usize),
    Injected(usize),
}

/// The converter.
#[derive(Clone)]
pub struct Adc {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    /// HCLK as the program has set it, of which ADCCLK is a part.
    hclk_hz: u64,
    /// The fastest clock of the converter, and how long it takes to be on.
    limit_hz: u64,
    start_ns: u64,
    status: u32,
    control: [u32; 2],
    sampling: [u32; 2],
    offsets: [u32; 4],
    /// SQR1, SQR2, SQR3.
    regular: [u32; 3],
    injected: u32,
    data: u32,
    injected_data: [u32; 4],
    /// The cycle at which it went on, and the one at which a calibration is done.
    on_since: u64,
    calibrated: u64,
    /// JDISCEN: the injected conversion that the next start makes.
    injected_next: usize,
    /// What is under way, the voltage once it is sampled, and the cycle at which the next of these comes.
    converting: Option<(Group, Option<f64>, u64)>,
    failure: Option<String>,
    /// The temperature sensor and the internal reference, in millivolts.
    inner_mv: [u16; 2],
    transfer: TransferRequest,
}

impl Adc {
    /// The converter at `spec.base`, interrupting with `spec.irq`. Settings: `limit_khz`, its fastest clock; `start_ns`, the time from ADON to
    /// the first start; `sensor_mv`, `reference_mv` what is at channels 16 and 17; `dma_1` where its request leads.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().and_then(|value| u64::try_from(value).ok());
            value.ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let millivolts = |key: &str| {
            setting(key)
                .and_then(|value| u16::try_from(value).map_err(|_| format!("{}: no such {key}", spec.name)))
        };
        Ok(Adc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: part.default_clock_hz,
            hclk_hz: 0,
            limit_hz: setting("limit_khz")? * 1000,
            start_ns: setting("start_ns")?,
            status: 0,
            control: [0; 2],
            sampling: [0; 2],
            offsets: [0; 4],
            regular: [0; 3],
            injected: 0,
            data: 0,
            injected_data: [0; 4],
            on_since: 0,
            calibrated: 0,
            injected_next: 0,
            converting: None,
            failure: None,
            inner_mv: [millivolts("sensor_mv")?, millivolts("reference_mv")?],
            transfer: TransferRequest::new(spec, "dma")?,
        })
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: impl Into<String>) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    /// Core cycles of a clock of the converter.
    ///
    /// # Errors
    /// It has none, or one that is too fast.
    fn clock_cycles(&self, context: &mut Context<'_, '_>) -> Result<u64, String> {
        let hz = context.events.generic_clocks_hz.get(CLOCK).copied().unwrap_or(0);
        let divider = self.hclk_hz.checked_div(hz).filter(|divider| *divider != 0);
        let divider = divider.ok_or("it has no clock: the program has set nothing in RCC")?;
        let hz = self.clock_hz / divider;
        if hz > self.limit_hz
            && !context.events.tolerate("a conversion at a faster clock than the converter allows")
        {
            return Err(format!("its clock is {hz} Hz; it allows {} Hz (RCC_CFGR.ADCPRE)", self.limit_hz));
        }
        Ok(divider)
    }

    /// The channel of a group's conversion. JSQR: with JL + 1 conversions the first is JSQ(4 - JL).
    fn channel(&self, group: Group) -> u32 {
        match group {
            Group::Regular(index) => self.regular[2 - index / 6] >> (5 * (index % 6)) & 31,
            Group::Injected(index) => {
                self.injected >> (5 * (3 - (self.injected >> 20 & 3) as usize + index)) & 31
            }
        }
    }

    /// Whether a conversion is the last of its group: L, JL, where SCAN lets it have more than one.
    fn is_last(&self, group: Group) -> bool {
        let scans = self.control[0] & SCAN != 0;
        match group {
            Group::Regular(index) => !scans || index == (self.regular[0] >> 20 & 15) as usize,
            Group::Injected(index) => !scans || index == (self.injected >> 20 & 3) as usize,
        }
    }

    /// Whether it is on, and not being calibrated.
    fn is_ready(&self, now: u64) -> bool {
        now.saturating_sub(self.on_since) * 1_000_000_000 >= self.start_ns * self.clock_hz
            && now >= self.calibrated
    }

    fn start(&mut self, group: Group, now: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        if self.control[1] & ADON == 0 {
            return Err("a conversion is started while ADON is clear".into());
        }
        if !self.is_ready(now) {
            return Err(format!(
                "a conversion is started before the {} ns that it takes to be on, or during a calibration",
                self.start_ns
            ));
        }
        if self.converting.is_some() {
            return Err("a conversion is started while another goes on".into());
        }
        self.status |= if matches!(group, Group::Regular(_)) { STRT } else { JSTRT };
        self.begin(group, now, context)
    }

    fn begin(&mut self, group: Group, at: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        let channel = self.channel(group);
        if channel > REFERENCE || channel >= SENSOR && self.control[1] & TSVREFE == 0 {
            return Err(format!("channel {channel} is off, or does not exist"));
        }
        let fields = if channel >= 10 { self.sampling[0] } else { self.sampling[1] };
        let halves = SAMPLING[(fields >> (3 * (channel % 10)) & 7) as usize];
        let cycles = (halves * self.clock_cycles(context)?).div_ceil(2);
        self.converting = Some((group, None, at + cycles));
        Ok(())
    }

    /// Brings the conversions up to now.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((group, sampled, at)) = self.converting.filter(|(_, _, at)| *at <= context.now) {
            let Some(volts) = sampled else {
                let volts = match self.channel(group) {
                    channel @ SENSOR.. => {
                        f64::from(self.inner_mv[usize::from(channel == REFERENCE)]) / 1000.0
                    }
                    channel => context.board.analog_v(channel as u8, at),
                };
                match self.clock_cycles(context) {
                    Ok(cycles) => {
                        self.converting = Some((group, Some(volts), at + (CONVERSION * cycles).div_ceil(2)));
                    }
                    Err(what) => (self.failure, self.converting) = (Some(what), None),
                }
                continue;
            };
            self.converting = None;
            let code = (4096.0 * volts / context.board.supply_v).clamp(0.0, 4095.0) as u32;
            self.converted(group, code, at, context);
        }
        self.signal(context);
    }

    fn converted(&mut self, group: Group, code: u32, at: u64, context: &mut Context<'_, '_>) {
        let left = self.control[1] & ALIGN != 0;
        let last = self.is_last(group);
        let next = match group {
            Group::Regular(index) => {
                self.data = if left { code << 4 } else { code };
                if self.control[1] & DMA != 0 {
                    self.transfer.set(true, at, context);
                }
                self.status |= if last { EOC } else { 0 };
                let again = (self.control[1] & CONT != 0).then_some(Group::Regular(0));
                if last { again } else { Some(Group::Regular(index + 1)) }
            }
            Group::Injected(index) => {
                // "The result is signed": what JOFRx says is taken off.
                let value = code.wrapping_sub(self.offsets[index] & 0xfff);
                self.injected_data[index] = if left { value << 3 } else { value } & 0xffff;
                // EOC comes with either group.
                self.status |= if last { JEOC | EOC } else { 0 };
                self.injected_next = if last { 0 } else { index + 1 };
                (!last && self.control[0] & JDISCEN == 0).then_some(Group::Injected(index + 1))
            }
        };
        if let Some(next) = next {
            self.failure = self.begin(next, at, context).err();
        }
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        let enabled = |enable, flag| self.control[0] & enable != 0 && self.status & flag != 0;
        if enabled(EOCIE, EOC) || enabled(JEOCIE, JEOC) {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    /// The injected conversion that a start makes: with JDISCEN one at a time.
    fn injected(&self) -> Group {
        Group::Injected(if self.control[0] & JDISCEN != 0 { self.injected_next } else { 0 })
    }

    /// The timers whose TRGO start a regular and an injected group.
    fn triggers(&self, control: u32) -> [Option<u8>; 2] {
        let chosen = |timers: &[(u32, u8)], enable: u32, shift: u32| {
            let timer = timers.iter().find(|timer| timer.0 == control >> shift & 7);
            timer.filter(|_| control & enable != 0).map(|timer| timer.1)
        };
        [chosen(&TIMERS, EXTTRIG, 17), chosen(&INJECTED_TIMERS, JEXTTRIG, 12)]
    }

    fn write_control2(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), String> {
        let (before, now) = (self.control[1], context.now);
        if value & !(CONTROL2 | JSWSTART | SWSTART) != 0 {
            return Err("a bit of CR2 that is reserved".into());
        }
        let triggers = self.triggers(value);
        for (enable, shift, trigger) in [(EXTTRIG, 17, triggers[0]), (JEXTTRIG, 12, triggers[1])] {
            if value & enable != 0 && value >> shift & 7 != BY_SOFTWARE && trigger.is_none() {
                return Err("of the starts from outside only the TRGO of timers are modelled".into());
            }
        }
        if value & DMA != 0 && self.transfer.lines() == 0 {
            return Err("a request of DMA that leads nowhere on this part".into());
        }
        if value & DMA == 0 {
            self.transfer.set(false, now, context);
        }
        // The starts, the calibration and its reset fall back by themselves.
        self.control[1] = value & (CONTROL2 & !(CAL | RSTCAL));
        if value & ADON == 0 {
            self.converting = None;
        } else if before & ADON == 0 {
            self.on_since = now;
        }
        if value & CAL != 0 && self.control[1] & ADON != 0 {
            self.calibrated = now + CALIBRATION * self.clock_cycles(context)?;
        }
        let by_software = |enable: u32, shift: u32| value & enable != 0 && value >> shift & 7 == BY_SOFTWARE;
        // "If any other bit in this register apart from ADON is changed at the same time, then conversion is not triggered."
        let again = value == before && value & ADON != 0;
        if again || value & SWSTART != 0 && by_software(EXTTRIG, 17) {
            self.start(Group::Regular(0), now, context)?;
        }
        if value & JSWSTART != 0 && by_software(JEXTTRIG, 12) {
            self.start(self.injected(), now, context)?;
        }
        Ok(())
    }
}

impl Peripheral for Adc {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 0x50).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        if let Some(what) = self.failure.take() {
            return Err(self.fault(address, context, what));
        }
        let offset = address - self.base;
        let word = match offset & !3 {
            SR => self.status,
            CR1 => self.control[0],
            CR2 => self.control[1] | if context.now < self.calibrated { CAL } else { 0 },
            SMPR1 => self.sampling[0],
            SMPR2 => self.sampling[1],
            register @ JOFR1..=JOFR4 => self.offsets[((register - JOFR1) / 4) as usize],
            HTR => 0xfff,
            LTR => 0,
            SQR1 => self.regular[0],
            SQR2 => self.regular[1],
            SQR3 => self.regular[2],
            JSQR => self.injected,
            register @ JDR1..=JDR4 => self.injected_data[((register - JDR1) / 4) as usize],
            DR => {
                self.status &= !EOC;
                self.data
            }
            _ => return Err(self.fault(address, context, "register not modelled")),
        };
        self.signal(context);
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        let register = offset & !3;
        if self.converting.is_some() && !matches!(register, SR | CR1 | CR2) {
            return Err(self.fault(address, context, "settings change during a conversion"));
        }
        match register {
            // Flags are cleared by writing zero.
            SR => self.status &= merge(u32::MAX),
            CR1 if merge(self.control[0]) & !(EOCIE | JEOCIE | SCAN | JDISCEN) != 0 => {
                let what = "of CR1 only EOCIE, JEOCIE, SCAN and JDISCEN are modelled";
                return Err(self.fault(address, context, what));
            }
            CR1 => self.control[0] = merge(self.control[0]),
            CR2 => {
                let written = self.write_control2(merge(self.control[1]), context);
                written.map_err(|what| self.fault(address, context, what))?;
            }
            SMPR1 => self.sampling[0] = merge(self.sampling[0]) & 0x00ff_ffff,
            SMPR2 => self.sampling[1] = merge(self.sampling[1]) & 0x3fff_ffff,
            JOFR1..=JOFR4 => {
                let own = &mut self.offsets[((register - JOFR1) / 4) as usize];
                *own = merged_word(*own, offset, size, value) & 0xfff;
            }
            // The watchdog's thresholds, which without it are nothing.
            HTR | LTR => {}
            SQR1 => self.regular[0] = merge(self.regular[0]) & 0x00ff_ffff,
            SQR2 => self.regular[1] = merge(self.regular[1]) & 0x3fff_ffff,
            SQR3 => self.regular[2] = merge(self.regular[2]) & 0x3fff_ffff,
            JSQR => self.injected = merge(self.injected) & 0x003f_ffff,
            // Results are read-only.
            _ => {}
        }
        self.signal(context);
        Ok(())
    }

    fn set_clock(&mut self, clock_hz: u64, _now: u64) {
        self.clock_hz = clock_hz;
    }

    fn set_clock48(&mut self, hclk_hz: u64, _clock48_hz: u64, _now: u64) {
        self.hclk_hz = hclk_hz;
    }

    fn due(&self) -> Option<u64> {
        self.converting.map(|(_, _, at)| at)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn reset(&mut self) {
        self.hclk_hz = 0;
        self.status = 0;
        self.control = [0; 2];
        self.sampling = [0; 2];
        self.offsets = [0; 4];
        self.regular = [0; 3];
        self.injected = 0;
        self.data = 0;
        self.injected_data = [0; 4];
        (self.on_since, self.calibrated, self.injected_next) = (0, 0, 0);
        self.converting = None;
        self.failure = None;
        self.transfer.reset();
    }

    fn transfer_lines(&self) -> u128 {
        self.transfer.lines()
    }

    fn transfer_served(&mut self, _lines: u128, _last: bool, context: &mut Context<'_, '_>) {
        self.transfer.set(false, context.now, context);
    }

    fn follows_triggers(&self) -> bool {
        true
    }

    fn triggered(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        self.advance(context);
        for (trigger, group) in
            self.triggers(self.control[1]).into_iter().zip([Group::Regular(0), self.injected()])
        {
            if trigger == Some(number) && self.control[1] & ADON != 0 && self.is_ready(at) {
                self.failure = self.start(group, at, context).err();
            }
        }
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
