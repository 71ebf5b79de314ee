//! The converters of the STM32F0 and the STM32L4: channels one after the other, once or over and
//! over, started by software or a timer's TRGO, read by the program or DMA; calibration, the L4's
//! oversampling and its voltage regulator.
//!
//! RM0091 sections 13.4 to 13.12; RM0432, chapter "Analog-to-digital converters". A conversion
//! takes the sampling time and what its resolution needs; the voltage is taken when the sampling
//! time is over. With a clock that is not the bus's the wait for its edge is left out. Reference is
//! the supply of the board; inputs are the channels as the board sets them, the temperature sensor
//! at 25 degrees and the internal reference. Not modelled and refused with a fault: starts by pins
//! and compare channels, injected groups, discontinuous mode, the watchdogs, switching off by
//! itself, offsets, differential inputs, triggered oversampling, the battery.

mod layout;
mod registers;
mod sequence;

use super::{check_clock, code};
use crate::peripherals::register::{Registers, merged_word, part_of_word};
use crate::peripherals::st::CONVERTER_CLOCK;
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec, TransferRequest};
use layout::{CCR, Clock, F0, L4, Layout, Sequence};

const ISR: u32 = 0x00;
const IER: u32 = 0x04;
const CR: u32 = 0x08;
const CFGR: u32 = 0x0c;
const CFGR2: u32 = 0x10;
const DR: u32 = 0x40;

/// ISR, IER.
const ADRDY: u32 = 1 << 0;
const EOSMP: u32 = 1 << 1;
const EOC: u32 = 1 << 2;
/// EOSEQ of the F0.
const EOS: u32 = 1 << 3;
const OVR: u32 = 1 << 4;
/// CR.
const ADEN: u32 = 1 << 0;
const ADDIS: u32 = 1 << 1;
const ADSTART: u32 = 1 << 2;
const JADSTART: u32 = 1 << 3;
const ADSTP: u32 = 1 << 4;
const ADVREGEN: u32 = 1 << 28;
const DEEPPWD: u32 = 1 << 29;
const ADCALDIF: u32 = 1 << 30;
const ADCAL: u32 = 1 << 31;
/// CR: what is neither a start nor an end.
const POWER: u32 = ADVREGEN | DEEPPWD | ADCALDIF;
/// CFGR.
const DMAEN: u32 = 1 << 0;
const DMACFG: u32 = 1 << 1;
const ALIGN: u32 = 1 << 5;
const EXTEN: u32 = 3 << 10;
const RISING: u32 = 1 << 10;
const OVRMOD: u32 = 1 << 12;
const CONT: u32 = 1 << 13;
/// WAIT of the F0.
const AUTDLY: u32 = 1 << 14;
/// CFGR2.
const ROVSE: u32 = 1 << 0;
/// CCR: the internal reference and the temperature sensor are on.
const VREFEN: u32 = 1 << 22;
const TSEN: u32 = 1 << 23;
/// CCR.PRESC.
const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
const HSI14_HZ: u64 = 14_000_000;

/// The voltage of a channel, or what becomes of it.
#[derive(Clone, Copy)]
struct Conversion {
    /// The place in the sequence: the channel's number by CHSELR, its rank by SQRx.
    position: u32,
    channel: u32,
    /// Once it is sampled.
    volts: Option<f64>,
    /// The cycle at which it is sampled, or converted.
    at: u64,
}

/// The converter.
#[derive(Clone)]
pub struct Adc {
    layout: &'static Layout,
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    /// HCLK as the program has set it, of which RCC's clock for converters is told.
    hclk_hz: u64,
    bus_divider: u64,
    limit_hz: u64,
    start_ns: u64,
    flags: u32,
    enables: u32,
    /// ADEN.
    on: bool,
    /// DEEPPWD, ADVREGEN, ADCALDIF.
    power: u32,
    configuration: [u32; 2],
    registers: Registers,
    data: u32,
    /// Core cycles of so many clocks of the converter, when it was last begun with.
    clock: (u64, u64),
    /// The cycles at which the regulator is up, ADRDY comes, and a calibration is done.
    regulated: u64,
    ready: Option<u64>,
    calibrated: Option<u64>,
    converting: Option<Conversion>,
    /// ADSTART waits for its trigger.
    armed: bool,
    /// AUTDLY: the next position, until DR is read.
    waiting: Option<u32>,
    /// Oversampling: the sum so far, of so many.
    oversampled: (u32, u32),
    /// The temperature sensor and the internal reference.
    inner_mv: [u16; 2],
    transfer: TransferRequest,
    /// The last transfer has been made, and DMACFG wants no more.
    transferred: bool,
    /// Why the next conversion could not begin, until the program hears of it.
    failure: Option<String>,
}

impl Adc {
    /// The STM32F0's at `spec.base`, interrupting with `spec.irq`. Settings: `limit_khz`, its
    /// fastest clock; `start_ns`, the time from ADEN to ADRDY; `sensor_mv`, `reference_mv` what is
    /// at the temperature sensor's and the internal reference's channel; `dma_1` where its request
    /// leads.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn f0(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        Adc::new(&F0, part, spec)
    }

    /// The STM32L4's, in the same way; it has no `start_ns`.
    ///
    /// # Errors
    /// A setting is missing.
    pub fn l4(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        Adc::new(&L4, part, spec)
    }

    fn new(layout: &'static Layout, part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().and_then(|value| u32::try_from(value).ok());
            value.ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let millivolts = |key: &str| {
            setting(key)
                .and_then(|value| u16::try_from(value).map_err(|_| format!("{}: no such {key}", spec.name)))
        };
        let mut adc = Adc {
            layout,
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: part.default_clock_hz,
            hclk_hz: 0,
            bus_divider: 1,
            limit_hz: u64::from(setting("limit_khz")?) * 1000,
            start_ns: if layout.start.is_some() { 0 } else { setting("start_ns")?.into() },
            flags: 0,
            enables: 0,
            on: false,
            power: 0,
            configuration: [0; 2],
            registers: Registers::new(layout.registers),
            data: 0,
            clock: (1, 1),
            regulated: 0,
            ready: None,
            calibrated: None,
            converting: None,
            armed: false,
            waiting: None,
            oversampled: (0, 0),
            inner_mv: [millivolts("sensor_mv")?, millivolts("reference_mv")?],
            transfer: TransferRequest::new(spec, "dma")?,
            transferred: false,
            failure: None,
        };
        adc.reset();
        Ok(adc)
    }

    fn is(&self, bit: u32) -> bool {
        self.configuration[0] & bit != 0
    }

    /// Core cycles of so many clocks, as it is set up now.
    ///
    /// # Errors
    /// It has no clock.
    fn read_clock(&self, context: &Context<'_, '_>) -> Result<(u64, u64), String> {
        let mode = match self.layout.clock {
            Clock::Hsi14 => self.configuration[1] >> 30,
            Clock::Common => self.registers[CCR] >> 16 & 3,
        };
        match (self.layout.clock, u64::from(mode)) {
            (Clock::Hsi14, 0) => Ok((self.clock_hz, HSI14_HZ)),
            (Clock::Hsi14, 3) => Err("this setting of CKMODE is reserved".into()),
            (Clock::Hsi14, mode) => Ok((2 * mode * self.bus_divider, 1)),
            (Clock::Common, 0) => {
                let hz = context.events.generic_clocks_hz.get(CONVERTER_CLOCK).copied().unwrap_or(0);
                let prescaler = PRESCALERS.get((self.registers[CCR] >> 18 & 15) as usize);
                let prescaler = prescaler.ok_or("this setting of PRESC is reserved")?;
                if hz == 0 {
                    return Err(
                        "it has no clock: RCC_CCIPR.ADCSEL selects none that runs, and CKMODE not HCLK"
                            .into(),
                    );
                }
                Ok((self.hclk_hz * prescaler, hz))
            }
            (Clock::Common, mode) => Ok((1 << (mode - 1), 1)),
        }
    }

    /// Core cycles of so many halves of the converter's clock.
    fn cycles(&self, halves: u64) -> u64 {
        (halves * self.clock.0).div_ceil(2 * self.clock.1)
    }

    /// RES.
    fn resolution(&self) -> u32 {
        self.configuration[0] >> 3 & 3
    }

    /// The timer whose TRGO starts it; `None` where software does.
    fn trigger(&self, configuration: u32) -> Option<u8> {
        let chosen = self.layout.triggers.iter().find(|(extsel, _)| *extsel == configuration >> 6 & 15);
        chosen.filter(|_| configuration & EXTEN != 0).map(|(_, timer)| *timer)
    }

    fn start(&mut self, at: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        self.clock = self.read_clock(context)?;
        check_clock(&self.name, self.clock_hz * self.clock.1 / self.clock.0, self.limit_hz, context.events);
        let first = self.next(None).ok_or("a conversion is started without a channel in CHSELR")?;
        self.transferred = false;
        self.begin(first, at)
    }

    fn begin(&mut self, position: u32, at: u64) -> Result<(), String> {
        let channel = self.channel(position);
        let [sensor, reference] = self.layout.inner;
        let off = if channel == sensor {
            self.registers[CCR] & TSEN == 0
        } else if channel == reference {
            self.registers[CCR] & VREFEN == 0
        } else {
            channel >= self.layout.last_channel
        };
        if off {
            return Err(format!("channel {channel} is off, or not modelled"));
        }
        let at = at + self.cycles(self.sampling_halves(channel));
        self.converting = Some(Conversion { position, channel, volts: None, at });
        Ok(())
    }

    /// Brings the conversions up to now.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        let now = context.now;
        self.calibrated = self.calibrated.filter(|done| *done > now);
        if self.ready.is_some_and(|ready| ready <= now) {
            self.ready = None;
            self.flags |= ADRDY;
        }
        while let Some(conversion) = self.converting.filter(|conversion| conversion.at <= now) {
            let Conversion { position, channel, volts, at } = conversion;
            let Some(volts) = volts else {
                let inner = self.layout.inner.iter().position(|inner| *inner == channel);
                let volts = match inner {
                    Some(index) => f64::from(self.inner_mv[index]) / 1000.0,
                    None => context.board.analog_v(channel as u8, at),
                };
                self.flags |= EOSMP;
                let end = at + self.cycles(self.layout.conversion[self.resolution() as usize]);
                self.converting = Some(Conversion { volts: Some(volts), at: end, ..conversion });
                continue;
            };
            self.converting = None;
            let code = code(volts, context.board.supply_v, 12 - 2 * self.resolution());
            self.failure = match self.oversample(code) {
                Some(data) => self.converted(position, data, at, context).err(),
                None => self.begin(position, at).err(),
            };
        }
    }

    /// Returns DR after a conversion that gave `code`; with oversampling nothing before the last of
    /// so many, 2 to 256, whose sum is shifted.
    fn oversample(&mut self, code: u32) -> Option<u32> {
        let [configuration, oversampling] = self.configuration;
        if oversampling & ROVSE == 0 || self.layout.sequence == Sequence::Channels {
            // Left: six bits in a byte, the others in the halfword (RM0091, figure 34).
            let bits = 12 - 2 * self.resolution();
            let left = if bits == 6 { 8 - bits } else { 16 - bits };
            return Some(if configuration & ALIGN != 0 { code << left } else { code });
        }
        let (sum, count) = (self.oversampled.0 + code, self.oversampled.1 + 1);
        let done = count == 2 << (oversampling >> 2 & 7);
        self.oversampled = if done { (0, 0) } else { (sum, count) };
        done.then_some(sum >> (oversampling >> 5 & 15) & 0xffff)
    }

    fn converted(
        &mut self,
        position: u32,
        data: u32,
        at: u64,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let unread = self.flags & EOC != 0;
        self.flags |= if unread { OVR } else { EOC };
        if !unread || self.is(OVRMOD) {
            self.data = data;
            if self.is(DMAEN) && !self.transferred {
                self.transfer.set(true, at, context);
            }
        }
        let next = match self.next(Some(position)) {
            Some(next) => Some(next),
            None => {
                self.flags |= EOS;
                self.next(None).filter(|_| self.is(CONT))
            }
        };
        match next {
            Some(next) if self.is(AUTDLY) => {
                self.waiting = Some(next);
                Ok(())
            }
            Some(next) => self.begin(next, at),
            None => Ok(()),
        }
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        if self.flags & self.enables != 0 { context.request(irq) } else { context.withdraw(irq) }
    }

    fn stop(&mut self) {
        (self.converting, self.waiting, self.armed) = (None, None, false);
        self.oversampled = (0, 0);
    }

    fn on_trigger_rose(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        self.advance(context);
        let idle = self.converting.is_none() && self.waiting.is_none();
        // One that comes during a conversion is lost.
        if self.armed && idle && self.trigger(self.configuration[0]) == Some(number) {
            self.failure = self.start(at, context).err();
        }
    }
}

impl Peripheral for Adc {
    fn spec(&self) -> Spec {
        Spec {
            dma_lines: self.transfer.lines(),
            follows_triggers: true,
            ..Spec::with_ranges(
                &self.name,
                [self.base..self.base + self.layout.size, self.base + CCR..self.base + CCR + 4],
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
            ISR => self.flags,
            IER => self.enables,
            CR => self.control(),
            CFGR => self.configuration[0],
            CFGR2 => self.configuration[1],
            DR => {
                self.flags &= !EOC;
                if let Some(next) = self.waiting.take() {
                    self.begin(next, context.now).map_err(|what| context.fault(&self.name, address, what))?;
                }
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
        let converting = self.converting.map(|conversion| conversion.at);
        [converting, self.ready].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::DmaAcknowledged { last, .. } => {
                self.transferred |= last && !self.is(DMACFG);
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
        self.ready.iter_mut().chain(&mut self.calibrated).for_each(|at| *at += cycles);
        self.converting.iter_mut().for_each(|conversion| conversion.at += cycles);
    }

    fn reset(&mut self) {
        (self.bus_divider, self.hclk_hz) = (1, 0);
        (self.flags, self.enables, self.on) = (0, 0, false);
        self.power = if self.layout.regulator_ns.is_some() { DEEPPWD } else { 0 };
        self.configuration = [self.layout.configuration_reset, 0];
        self.registers.reset();
        (self.data, self.regulated) = (0, 0);
        (self.ready, self.calibrated) = (None, None);
        self.stop();
        self.transfer.reset();
        self.transferred = false;
        self.failure = None;
    }
}
