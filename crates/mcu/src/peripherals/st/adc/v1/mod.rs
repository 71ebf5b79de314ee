//! The converters of the STM32F1 and of the STM32F4 and F7: regular groups of up to sixteen
//! conversions, injected groups of up to four, once or over and over, started by software or a
//! timer's TRGO, read by the program or DMA; calibration on the F1.
//!
//! RM0041 chapter 10, RM0008 chapter 11, RM0090 sections 13.3 to 13.13, RM0410 section 15.3. A
//! conversion takes the sampling time and 12.5 clocks of ADCCLK (F1: of RCC_CFGR's ADCPRE), or one
//! for each bit (F4, F7: of APB2 through CCR's ADCPRE). The voltage is taken when the sampling time
//! is over. Reference is the supply of the board, as where VREF+ is tied to VDDA; inputs are
//! channels 0 to 15 as the board sets them, 16 the temperature sensor at 25 degrees and 17 the
//! internal reference. Resetting a calibration takes no time. A timer's trigger that comes before
//! it is on or calibrated is taken to be lost. Not modelled and refused with a fault: discontinuous
//! regular and automatic injected conversions, several converters together, the watchdog, other
//! starts from outside, the battery, a start while another conversion goes on.

mod layout;
mod registers;

use super::{check_clock, code};
use crate::peripherals::register::{Registers, merged_word, part_of_word};
use crate::peripherals::st::CONVERTER_CLOCK;
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec, TransferRequest};
use layout::{CAL, DDS, EOCS, F1, F4, Layout, OVRIE, TSVREFE};

const SR: u32 = 0x00;
const CR1: u32 = 0x04;
const CR2: u32 = 0x08;
const SMPR1: u32 = 0x0c;
const SMPR2: u32 = 0x10;
const JOFR1: u32 = 0x14;
const HTR: u32 = 0x24;
const LTR: u32 = 0x28;
const SQR1: u32 = 0x2c;
const SQR2: u32 = 0x30;
const SQR3: u32 = 0x34;
const JSQR: u32 = 0x38;
const JDR1: u32 = 0x3c;
const JDR4: u32 = 0x48;
const DR: u32 = 0x4c;
/// Of all converters together, from the first one's base.
const CCR: u32 = 0x304;

/// SR.
const EOC: u32 = 1 << 1;
const JEOC: u32 = 1 << 2;
const JSTRT: u32 = 1 << 3;
const STRT: u32 = 1 << 4;
const OVR: u32 = 1 << 5;
/// CR1.
const EOCIE: u32 = 1 << 5;
const JEOCIE: u32 = 1 << 7;
const SCAN: u32 = 1 << 8;
const JDISCEN: u32 = 1 << 12;
/// CR2.
const ADON: u32 = 1 << 0;
const CONT: u32 = 1 << 1;
const DMA: u32 = 1 << 8;
const ALIGN: u32 = 1 << 11;

const SENSOR: u32 = 16;
const REFERENCE: u32 = 17;

/// The conversion under way: its number in its group, from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Regular(usize),
    Injected(usize),
}

/// The converter.
#[derive(Clone)]
pub struct Adc {
    layout: &'static Layout,
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    /// HCLK as the program has set it, of which ADCCLK is a part.
    hclk_hz: u64,
    bus_divider: u64,
    /// The fastest clock of the converter, and how long it takes to be on.
    limit_hz: u64,
    start_ns: u64,
    /// Nothing from outside starts it.
    software_only: bool,
    status: u32,
    /// CR2.
    control2: u32,
    registers: Registers,
    data: u32,
    injected_data: [u32; 4],
    /// The cycle at which it went on, and the one at which a calibration is done.
    on_since: u64,
    calibrated: u64,
    /// JDISCEN: the injected conversion that the next start makes.
    injected_next: usize,
    /// The group under way, the voltage once it is sampled, and the cycle of the next of these.
    converting: Option<(Group, Option<f64>, u64)>,
    failure: Option<String>,
    /// The temperature sensor and the internal reference, in millivolts.
    inner_mv: [Option<u16>; 2],
    transfer: TransferRequest,
    /// The last of the transfers that DMA was set up for has been made; without DDS no more are
    /// asked for.
    transferred: bool,
}

impl Adc {
    /// The STM32F1's at `spec.base`, interrupting with `spec.irq`. Settings: `limit_khz`, its
    /// fastest clock; `start_ns`, the time from ADON to the first start; `sensor_mv`,
    /// `reference_mv` what is at channels 16 and 17, nothing where they are absent; `dma_1` where
    /// its request leads.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn f1(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        Adc::new(&F1, part, spec)
    }

    /// The STM32F4's and F7's, in the same way; what is absent at channels 16 and 17 has no model.
    /// `software_only` = 1 where the triggers of RM0090's tables are others.
    ///
    /// # Errors
    /// A setting is missing.
    pub fn f4(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        Adc::new(&F4, part, spec)
    }

    fn new(layout: &'static Layout, part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let mut adc = Adc {
            layout,
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: part.default_clock_hz,
            hclk_hz: 0,
            bus_divider: 1,
            limit_hz: setting("limit_khz")? * 1000,
            start_ns: setting("start_ns")?,
            software_only: spec.settings.get("software_only") == Some(&1),
            status: 0,
            control2: 0,
            registers: Registers::new(layout.registers),
            data: 0,
            injected_data: [0; 4],
            on_since: 0,
            calibrated: 0,
            injected_next: 0,
            converting: None,
            failure: None,
            inner_mv: ["sensor_mv", "reference_mv"].map(|name| u16::try_from(*spec.settings.get(name)?).ok()),
            transfer: TransferRequest::new(spec, "dma")?,
            transferred: false,
        };
        adc.reset();
        Ok(adc)
    }

    /// Core cycles of a clock of the converter.
    ///
    /// # Errors
    /// It has none.
    fn clock_cycles(&self, context: &Context<'_, '_>) -> Result<u64, String> {
        if self.layout.has_common {
            return Ok(self.bus_divider * 2 * (u64::from(self.registers[CCR] >> 16 & 3) + 1));
        }
        let hz = context.events.generic_clocks_hz.get(CONVERTER_CLOCK).copied().unwrap_or(0);
        let divider = self.hclk_hz.checked_div(hz).filter(|divider| *divider != 0);
        divider.ok_or("it has no clock: the program has set nothing in RCC".into())
    }

    /// RES.
    fn resolution(&self) -> u32 {
        if self.layout.overruns { self.registers[CR1] >> 24 & 3 } else { 0 }
    }

    /// The channel of a group's conversion. JSQR: with JL + 1 conversions the first is JSQ(4 - JL).
    fn channel(&self, group: Group) -> u32 {
        match group {
            Group::Regular(index) => self.registers[SQR3 - 4 * (index / 6) as u32] >> (5 * (index % 6)) & 31,
            Group::Injected(index) => {
                self.registers[JSQR] >> (5 * (3 - (self.registers[JSQR] >> 20 & 3) as usize + index)) & 31
            }
        }
    }

    /// True where a conversion is the last of its group: L, JL, where SCAN lets it have more than
    /// one.
    fn is_last(&self, group: Group) -> bool {
        let scans = self.registers[CR1] & SCAN != 0;
        match group {
            Group::Regular(index) => !scans || index == (self.registers[SQR1] >> 20 & 15) as usize,
            Group::Injected(index) => !scans || index == (self.registers[JSQR] >> 20 & 3) as usize,
        }
    }

    /// True where it is on, and not being calibrated.
    fn is_ready(&self, now: u64) -> bool {
        // Of 64 bits the product is too many after two minutes at 168 MHz.
        let on = u128::from(now.saturating_sub(self.on_since)) * 1_000_000_000;
        on >= u128::from(self.start_ns * self.clock_hz) && now >= self.calibrated
    }

    fn start(&mut self, group: Group, now: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        if self.control2 & ADON == 0 {
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
        let hz = self.clock_hz / self.clock_cycles(context)?;
        check_clock(&self.name, hz, self.limit_hz, context.events);
        self.status |= if matches!(group, Group::Regular(_)) { STRT } else { JSTRT };
        self.begin(group, now, context)
    }

    /// The voltage at an inner channel; none where it has no model. The STM32F1's second converter
    /// has both at VSS.
    fn inner_v(&self, channel: u32) -> Option<f64> {
        let register = if self.layout.has_common { self.registers[CCR] } else { self.control2 };
        let millivolts = self.inner_mv[usize::from(channel == REFERENCE)];
        if channel > REFERENCE {
            return None;
        }
        match millivolts {
            Some(millivolts) if register & TSVREFE != 0 => Some(f64::from(millivolts) / 1000.0),
            None if !self.layout.has_common => Some(0.0),
            _ => None,
        }
    }

    fn begin(&mut self, group: Group, at: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        let channel = self.channel(group);
        if channel >= SENSOR && self.inner_v(channel).is_none() {
            return Err(format!("channel {channel} is off, or not modelled"));
        }
        let fields = self.registers[if channel >= 10 { SMPR1 } else { SMPR2 }];
        let halves = self.layout.sampling[(fields >> (3 * (channel % 10)) & 7) as usize];
        let cycles = (halves * self.clock_cycles(context)?).div_ceil(2);
        self.converting = Some((group, None, at + cycles));
        Ok(())
    }

    /// Brings the conversions up to now.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((group, sampled, at)) = self.converting.filter(|(_, _, at)| *at <= context.now) {
            self.converting = None;
            let Some(volts) = sampled else {
                let channel = self.channel(group);
                let inner = if channel >= SENSOR { self.inner_v(channel) } else { None };
                let volts = inner.unwrap_or_else(|| context.board.analog_v(channel as u8, at));
                let halves = self.layout.conversion[self.resolution() as usize];
                match self.clock_cycles(context) {
                    Ok(cycles) => {
                        self.converting = Some((group, Some(volts), at + (halves * cycles).div_ceil(2)));
                    }
                    Err(what) => self.failure = Some(what),
                }
                continue;
            };
            let code = code(volts, context.board.supply_v, 12 - 2 * self.resolution());
            self.converted(group, code, at, context);
        }
        self.signal(context);
    }

    fn converted(&mut self, group: Group, code: u32, at: u64, context: &mut Context<'_, '_>) {
        let last = self.is_last(group);
        // Left: six bits in a byte, the others in the halfword, injected ones behind a sign.
        let left = match self.resolution() {
            _ if self.control2 & ALIGN == 0 => 0,
            3 => 2,
            resolution => 4 + 2 * resolution,
        };
        let next = match group {
            Group::Regular(index) => {
                if self.is_lost(at, context) {
                    return;
                }
                self.data = code << left;
                if self.control2 & DMA != 0 && !self.transferred {
                    self.transfer.set(true, at, context);
                }
                let each = self.layout.overruns && self.control2 & EOCS != 0;
                self.status |= if last || each { EOC } else { 0 };
                let again = (self.control2 & CONT != 0).then_some(Group::Regular(0));
                if last { again } else { Some(Group::Regular(index + 1)) }
            }
            Group::Injected(index) => {
                // "The result is signed": what JOFRx says is taken off.
                let value = code.wrapping_sub(self.registers[JOFR1 + 4 * index as u32]);
                self.injected_data[index] = value << left.saturating_sub(1) & 0xffff;
                let flags = if self.layout.eoc_with_injected { JEOC | EOC } else { JEOC };
                self.status |= if last { flags } else { 0 };
                self.injected_next = if last { 0 } else { index + 1 };
                (!last && self.registers[CR1] & JDISCEN == 0).then_some(Group::Injected(index + 1))
            }
        };
        if let Some(next) = next {
            self.failure = self.begin(next, at, context).err();
        }
    }

    /// RM0090, sections 13.3.4 to 13.3.6 and 13.8: where the last result has not been read and that
    /// is looked at, this one is lost, and nothing more is converted.
    fn is_lost(&mut self, at: u64, context: &mut Context<'_, '_>) -> bool {
        let control = self.control2;
        let unread = match control & DMA {
            0 => control & EOCS != 0 && self.status & EOC != 0,
            _ => self.transfer.is_on(),
        };
        let lost = self.layout.overruns && unread;
        if lost {
            self.status |= OVR;
            self.transfer.set(false, at, context);
        }
        lost
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        let pairs = [(EOCIE, EOC), (JEOCIE, JEOC), (OVRIE, OVR)];
        let on =
            pairs.iter().any(|(enable, flag)| self.registers[CR1] & enable != 0 && self.status & flag != 0);
        context.share_request(irq, self.base, on);
    }

    /// The injected conversion that a start makes: with JDISCEN one at a time.
    fn injected(&self) -> Group {
        Group::Injected(if self.registers[CR1] & JDISCEN != 0 { self.injected_next } else { 0 })
    }

    fn on_trigger_rose(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        self.advance(context);
        for (start, group) in self.layout.starts.iter().zip([Group::Regular(0), self.injected()]) {
            let control = self.control2;
            if start.timer(control) == Some(number) && control & ADON != 0 && self.is_ready(at) {
                self.failure = self.start(group, at, context).err();
            }
        }
    }
}

impl Peripheral for Adc {
    fn spec(&self) -> Spec {
        let own = self.base..self.base + 0x50;
        let common = self.base + 0x300..self.base + 0x30c;
        Spec {
            dma_lines: self.transfer.lines(),
            follows_triggers: true,
            ..Spec::with_ranges(
                &self.name,
                if self.layout.has_common { vec![own, common] } else { vec![own] },
            )
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        if let Some(what) = self.failure.take() {
            return context.refuse(&self.name, address, what);
        }
        let offset = address - self.base;
        let word = match offset & !3 {
            SR => self.status,
            CR2 => self.control2 | if context.now < self.calibrated { CAL } else { 0 },
            register @ JDR1..=JDR4 => self.injected_data[((register - JDR1) / 4) as usize],
            DR => {
                self.status &= !EOC;
                self.data
            }
            register => {
                let word = self.registers.get(register);
                word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?
            }
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
        let written = self.write_register(offset & !3, merge, context);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.converting.map(|(_, _, at)| at)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::DmaAcknowledged { last, .. } => {
                self.transferred |= self.layout.overruns && last && self.control2 & DDS == 0;
                self.transfer.set(false, context.now, context);
            }
            Event::TriggerRose { number, at } => self.on_trigger_rose(number, at, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => self.clock_hz = clock_hz,
            ClockUpdate::Buses { apb2, .. } => self.bus_divider = apb2,
            ClockUpdate::Usb { hclk_hz, .. } => self.hclk_hz = hclk_hz,
            _ => {}
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.calibrated += cycles;
        self.converting.iter_mut().for_each(|(_, _, at)| *at += cycles);
    }

    fn reset(&mut self) {
        (self.hclk_hz, self.bus_divider) = (0, 1);
        self.registers.reset();
        self.transferred = false;
        self.status = 0;
        self.control2 = 0;
        self.data = 0;
        self.injected_data = [0; 4];
        (self.on_since, self.calibrated, self.injected_next) = (0, 0, 0);
        self.converting = None;
        self.failure = None;
        self.transfer.reset();
    }
}
