//! A converter of the STM32F4 and the STM32F7: regular groups of up to sixteen conversions, once or over and over, started by software or a timer's trigger,
//! read by the program or DMA; injected groups of up to four, started by software.
//!
//! RM0090 sections 13.3 to 13.13; RM0410 section 15.3 has the same, but for what starts it from outside and at which channel the sensor is. A conversion takes the sampling time and one clock for each bit; the clock is that of
//! APB2 through `ADCPRE`. The voltage is taken when the sampling time is over. Reference is the supply of the board, as
//! where VREF+ is tied to VDDA; inputs are channels 0 to 15 as the board sets them, 16 the temperature sensor at 25 degrees and 17 the
//! internal reference. Not modelled and refused with a fault: discontinuous mode, starts by pins and compare channels, the watchdog,
//! offsets, the battery, more than one converter at a time, a start while another goes on.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Events, Fault, Part, Peripheral, PeripheralSpec, TransferRequest};
use std::ops::Range;

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
const DR: u32 = 0x4c;
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
const RES: u32 = 3 << 24;
const OVRIE: u32 = 1 << 26;
/// CR2.
const ADON: u32 = 1 << 0;
const CONT: u32 = 1 << 1;
const DMA: u32 = 1 << 8;
const DDS: u32 = 1 << 9;
const EOCS: u32 = 1 << 10;
const JSWSTART: u32 = 1 << 22;
const EXTSEL: u32 = 15 << 24;
const EXTEN: u32 = 3 << 28;
const SWSTART: u32 = 1 << 30;
/// EXTSEL, table 69: the timers whose TRGO it may be.
const TIMERS: [(u32, u8); 3] = [(6, 2), (8, 3), (14, 8)];
/// CCR.
const ADCPRE: u32 = 3 << 16;
const TSVREFE: u32 = 1 << 23;
/// The channels that it switches on.
const SENSOR: u32 = 16;
const REFERENCE: u32 = 17;
/// Sampling clocks by SMPx.
const SAMPLING: [u64; 8] = [3, 15, 28, 56, 84, 112, 144, 480];

/// What is being converted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// The number of this one, from 0.
    Regular(usize),
    /// The number of this one, from 0.
    Injected(usize),
}

/// The converter.
#[derive(Clone)]
pub struct Adc {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    /// The fastest clock of the converter, and how long it takes to be on.
    limit_hz: u64,
    start_ns: u64,
    bus_divider: u64,
    status: u32,
    control: [u32; 2],
    sampling: [u32; 2],
    /// SQR1, SQR2, SQR3.
    regular: [u32; 3],
    injected: u32,
    common: u32,
    data: u32,
    injected_data: [u32; 4],
    /// The cycle at which it went on.
    on_since: u64,
    /// What is under way, the voltage once it is sampled, and the cycle at which the next of these comes.
    converting: Option<(Group, Option<f64>, u64)>,
    failure: Option<String>,
    /// Nothing from outside starts it.
    software_only: bool,
    /// The temperature sensor and the internal reference, in millivolts.
    inner_mv: [Option<u16>; 2],
    transfer: TransferRequest,
    /// The last of the transfers that DMA was set up for has been made; without DDS no more are asked for.
    transferred: bool,
}

impl Adc {
    /// The converter at `spec.base`, interrupting with `spec.irq`. Settings: `limit_khz`, its fastest clock; `start_ns`, the
    /// time from ADON to the first start; `sensor_mv`, `reference_mv` what is at channels 16 and 17; `dma_1` where its request leads; `software_only` = 1 where
    /// the triggers of table 69 are others.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        Ok(Adc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: part.default_clock_hz,
            limit_hz: setting("limit_khz")? * 1000,
            start_ns: setting("start_ns")?,
            bus_divider: 1,
            status: 0,
            control: [0; 2],
            sampling: [0; 2],
            regular: [0; 3],
            injected: 0,
            common: 0,
            data: 0,
            injected_data: [0; 4],
            on_since: 0,
            converting: None,
            failure: None,
            software_only: spec.settings.get("software_only") == Some(&1),
            inner_mv: ["sensor_mv", "reference_mv"].map(|name| u16::try_from(*spec.settings.get(name)?).ok()),
            transfer: TransferRequest::new(spec, "dma")?,
            transferred: false,
        })
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: impl Into<String>) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    /// Core cycles of a clock of the converter.
    fn clock_cycles(&self) -> u64 {
        self.bus_divider * 2 * (u64::from(self.common >> 16 & 3) + 1)
    }

    fn bits(&self) -> u32 {
        12 - 2 * (self.control[0] >> 24 & 3)
    }

    /// The channel of a group's conversion under way. JSQR: with JL + 1 conversions the first is JSQ(4 - JL).
    fn channel(&self, group: Group) -> u32 {
        match group {
            Group::Regular(index) => self.regular[2 - index / 6] >> (5 * (index % 6)) & 31,
            Group::Injected(index) => self.injected >> (5 * (3 - self.injected_last() + index)) & 31,
        }
    }

    /// The last of a regular group: L, where SCAN lets it have more than one.
    fn regular_last(&self) -> usize {
        if self.control[0] & SCAN != 0 { (self.regular[0] >> 20 & 15) as usize } else { 0 }
    }

    /// JL.
    fn injected_last(&self) -> usize {
        (self.injected >> 20 & 3) as usize
    }

    fn sampling_clocks(&self, channel: u32) -> u64 {
        let field = if channel >= 10 {
            self.sampling[0] >> (3 * (channel - 10))
        } else {
            self.sampling[1] >> (3 * channel)
        };
        SAMPLING[(field & 7) as usize]
    }

    /// The timer whose TRGO starts a regular group, by CR2.
    fn trigger(&self, control: u32) -> Option<u8> {
        let chosen = TIMERS.iter().find(|(extsel, _)| *extsel == control >> 24 & 15);
        chosen.filter(|_| control & EXTEN != 0).map(|(_, timer)| *timer)
    }

    fn start(&mut self, group: Group, now: u64, events: &mut Events) -> Result<(), String> {
        let hz = self.clock_hz / self.clock_cycles();
        if self.control[1] & ADON == 0 {
            return Err("a conversion is started while ADON is clear".into());
        }
        if now.saturating_sub(self.on_since) * 1_000_000_000 < self.start_ns * self.clock_hz {
            return Err(format!(
                "a conversion is started before the {} ns that it takes to be on",
                self.start_ns
            ));
        }
        if self.converting.is_some() {
            return Err("a conversion is started while another goes on".into());
        }
        if hz > self.limit_hz && !events.tolerate("a conversion at a faster clock than the converter allows")
        {
            return Err(format!("its clock is {hz} Hz; it allows {} Hz", self.limit_hz));
        }
        if self.injected_last() != 0 && self.control[0] & SCAN == 0 && group == Group::Injected(0) {
            return Err("an injected group without SCAN".into());
        }
        self.begin(group, now)
    }

    /// The voltage at an inner channel.
    fn inner_v(&self, channel: u32) -> Option<f64> {
        let on = self.common & TSVREFE != 0;
        let index = [SENSOR, REFERENCE].iter().position(|inner| *inner == channel)?;
        self.inner_mv[index].filter(|_| on).map(|millivolts| f64::from(millivolts) / 1000.0)
    }

    fn begin(&mut self, group: Group, at: u64) -> Result<(), String> {
        let channel = self.channel(group);
        if channel > 15 && self.inner_v(channel).is_none() {
            return Err(format!("channel {channel} is off, or not modelled"));
        }
        self.converting = Some((group, None, at + self.sampling_clocks(channel) * self.clock_cycles()));
        Ok(())
    }

    /// Brings the conversions up to now.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((group, sampled, at)) = self.converting.filter(|(_, _, at)| *at <= context.now) {
            let Some(volts) = sampled else {
                let channel = self.channel(group);
                let inner = self.inner_v(channel);
                let volts = inner.unwrap_or_else(|| context.board.analog_v(channel as u8, at));
                let end = at + u64::from(self.bits()) * self.clock_cycles();
                self.converting = Some((group, Some(volts), end));
                continue;
            };
            self.converting = None;
            let steps = f64::from(1u32 << self.bits());
            let code = (steps * volts / context.board.supply_v).clamp(0.0, steps - 1.0) as u32;
            match group {
                Group::Regular(index) => self.converted(index, code, at, context),
                Group::Injected(index) => {
                    self.injected_data[index] = code;
                    if index == self.injected_last() {
                        self.status |= JEOC;
                    } else {
                        self.failure = self.begin(Group::Injected(index + 1), at).err();
                    }
                }
            }
        }
        self.signal(context);
    }

    /// A regular conversion is done (sections 13.3.4 to 13.3.6 and 13.8): where its predecessor's result has not been read and that is
    /// looked at, it is lost, and nothing more is converted.
    fn converted(&mut self, index: usize, code: u32, at: u64, context: &mut Context<'_, '_>) {
        let [_, control] = self.control;
        let by_transfer = control & DMA != 0;
        let unread =
            if by_transfer { self.transfer.is_on() } else { control & EOCS != 0 && self.status & EOC != 0 };
        if unread {
            self.status |= OVR;
            self.transfer.set(false, at, context);
            return;
        }
        self.data = code;
        let last = index == self.regular_last();
        if last || control & EOCS != 0 {
            self.status |= EOC;
        }
        if by_transfer && !self.transferred {
            self.transfer.set(true, at, context);
        }
        if !last {
            self.failure = self.begin(Group::Regular(index + 1), at).err();
        } else if control & CONT != 0 {
            self.failure = self.begin(Group::Regular(0), at).err();
        }
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        let enabled = |enable, flag| self.control[0] & enable != 0 && self.status & flag != 0;
        if enabled(EOCIE, EOC) || enabled(JEOCIE, JEOC) || enabled(OVRIE, OVR) {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    fn write_control2(&mut self, value: u32, now: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        const MODELLED: u32 = ADON | CONT | DMA | DDS | EOCS | JSWSTART | SWSTART | EXTSEL | EXTEN;
        if value & !MODELLED != 0 {
            return Err("left alignment and starts of injected groups by timers are not modelled".into());
        }
        if value & EXTEN != 0 && self.software_only {
            return Err("starts from outside (EXTEN) are not modelled on this part".into());
        }
        if value & EXTEN != 0 && (value & EXTEN != 1 << 28 || self.trigger(value).is_none()) {
            return Err(
                "of the starts from outside only rising edges of TIM2's, TIM3's and TIM8's TRGO are modelled"
                    .into(),
            );
        }
        if value & DMA != 0 && self.transfer.lines() == 0 {
            return Err("a request of DMA that leads nowhere on this part".into());
        }
        if value & DMA == 0 {
            self.transferred = false;
            self.transfer.set(false, now, context);
        }
        if self.control[1] & ADON == 0 && value & ADON != 0 {
            self.on_since = now;
        }
        if value & ADON == 0 {
            self.converting = None;
        }
        // The starts fall back by themselves.
        self.control[1] = value & !(JSWSTART | SWSTART);
        if value & SWSTART != 0 {
            self.status |= STRT;
            self.start(Group::Regular(0), now, context.events)?;
        }
        if value & JSWSTART != 0 {
            self.status |= JSTRT;
            self.start(Group::Injected(0), now, context.events)?;
        }
        Ok(())
    }
}

impl Peripheral for Adc {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        vec![self.base..self.base + 0x50, self.base + 0x300..self.base + 0x30c]
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
            CR2 => self.control[1],
            SMPR1 => self.sampling[0],
            SMPR2 => self.sampling[1],
            SQR1 => self.regular[0],
            SQR2 => self.regular[1],
            SQR3 => self.regular[2],
            JSQR => self.injected,
            register @ (JDR1 | 0x40 | 0x44 | 0x48) => self.injected_data[((register - JDR1) / 4) as usize],
            DR => {
                self.status &= !EOC;
                self.data
            }
            CCR => self.common,
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
        let busy = self.converting.is_some();
        if busy && !matches!(register, SR | CR1 | CR2) {
            return Err(self.fault(address, context, "settings change during a conversion"));
        }
        match register {
            // Flags are cleared by writing zero.
            SR => self.status &= merge(u32::MAX),
            CR1 => {
                let value = merge(self.control[0]);
                if value & !(EOCIE | JEOCIE | SCAN | RES | OVRIE) != 0 {
                    return Err(self.fault(
                        address,
                        context,
                        "of CR1 only EOCIE, JEOCIE, OVRIE, SCAN and RES are modelled",
                    ));
                }
                self.control[0] = value;
            }
            CR2 => {
                let value = merge(self.control[1]);
                self.write_control2(value, context.now, context)
                    .map_err(|what| self.fault(address, context, what))?;
            }
            SMPR1 => self.sampling[0] = merge(self.sampling[0]),
            SMPR2 => self.sampling[1] = merge(self.sampling[1]),
            SQR1 => self.regular[0] = merge(self.regular[0]),
            SQR2 => self.regular[1] = merge(self.regular[1]),
            SQR3 => self.regular[2] = merge(self.regular[2]),
            JSQR => self.injected = merge(self.injected),
            CCR => {
                let value = merge(self.common);
                if value & !(ADCPRE | TSVREFE) != 0 {
                    return Err(self.fault(address, context, "of CCR only ADCPRE and TSVREFE are modelled"));
                }
                self.common = value;
            }
            JOFR1..=0x20 | HTR | LTR => {
                return Err(self.fault(address, context, "offsets and the watchdog are not modelled"));
            }
            _ => return Err(self.fault(address, context, "register not modelled")),
        }
        self.signal(context);
        Ok(())
    }

    fn set_clock(&mut self, clock_hz: u64, _now: u64) {
        self.clock_hz = clock_hz;
    }

    fn set_bus_dividers(&mut self, _apb1: u64, apb2: u64, _now: u64) {
        self.bus_divider = apb2;
    }

    fn due(&self) -> Option<u64> {
        self.converting.map(|(_, _, at)| at)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        self.status = 0;
        self.control = [0; 2];
        self.sampling = [0; 2];
        self.regular = [0; 3];
        self.injected = 0;
        self.common = 0;
        self.data = 0;
        self.injected_data = [0; 4];
        self.on_since = 0;
        self.converting = None;
        self.failure = None;
        self.transfer.reset();
        self.transferred = false;
    }

    fn transfer_lines(&self) -> u128 {
        self.transfer.lines()
    }

    fn transfer_served(&mut self, _lines: u128, last: bool, context: &mut Context<'_, '_>) {
        self.transferred |= last && self.control[1] & DDS == 0;
        self.transfer.set(false, context.now, context);
    }

    fn follows_triggers(&self) -> bool {
        true
    }

    fn triggered(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        self.advance(context);
        if self.trigger(self.control[1]) == Some(number) && self.control[1] & ADON != 0 {
            self.status |= STRT;
            if let Err(what) = self.start(Group::Regular(0), at, context.events) {
                self.failure = Some(what);
            }
        }
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
