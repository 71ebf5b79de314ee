//! The converter of the STM32F0: the channels of CHSELR one after the other, once or over and over, started by software, read by the program
//! or DMA; calibration.
//!
//! RM0091 sections 13.4 to 13.12. A conversion takes the sampling time and 12.5, 11.5, 9.5 or 7.5 clocks by its resolution, of HSI14 or of half or a
//! quarter of PCLK; the voltage is taken when the sampling time is over. With HSI14 the wait for its edge is left out. Reference is the
//! supply of the board; inputs are channels 0 to 15 as the board sets them, 16 the temperature sensor and 17 the internal reference. Not
//! modelled and refused with a fault: starts from outside, discontinuous mode, the watchdog, switching off by itself, the battery.

use super::adc_f1::{CALIBRATION, SAMPLING};
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, TransferRequest};
use std::ops::Range;

const ISR: u32 = 0x00;
const IER: u32 = 0x04;
const CR: u32 = 0x08;
const CFGR1: u32 = 0x0c;
const CFGR2: u32 = 0x10;
const SMPR: u32 = 0x14;
const TR: u32 = 0x20;
const CHSELR: u32 = 0x28;
const DR: u32 = 0x40;
const CCR: u32 = 0x308;

/// ISR, IER.
const ADRDY: u32 = 1 << 0;
const EOSMP: u32 = 1 << 1;
const EOC: u32 = 1 << 2;
const EOSEQ: u32 = 1 << 3;
const OVR: u32 = 1 << 4;
const FLAGS: u32 = ADRDY | EOSMP | EOC | EOSEQ | OVR;
const AWD: u32 = 1 << 7;
/// CR.
const ADEN: u32 = 1 << 0;
const ADDIS: u32 = 1 << 1;
const ADSTART: u32 = 1 << 2;
const ADSTP: u32 = 1 << 4;
const ADCAL: u32 = 1 << 31;
/// CFGR1.
const DMAEN: u32 = 1 << 0;
const DMACFG: u32 = 1 << 1;
const SCANDIR: u32 = 1 << 2;
const RES: u32 = 3 << 3;
const ALIGN: u32 = 1 << 5;
const EXTSEL: u32 = 7 << 6;
const OVRMOD: u32 = 1 << 12;
const CONT: u32 = 1 << 13;
const WAIT: u32 = 1 << 14;
/// What of it may be set: EXTSEL without EXTEN, and the watchdog's channel without the watchdog, are nothing.
const MODELLED: u32 =
    DMAEN | DMACFG | SCANDIR | RES | ALIGN | EXTSEL | OVRMOD | CONT | WAIT | 1 << 22 | 0x1f << 26;
/// CCR: what is at channels 17 and 16.
const VREFEN: u32 = 1 << 22;
const TSEN: u32 = 1 << 23;

const SENSOR: u32 = 16;
const REFERENCE: u32 = 17;
const CHANNELS: u32 = 0x3_ffff;
const HSI14_HZ: u64 = 14_000_000;

/// The converter.
#[derive(Clone)]
pub struct Adc {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    bus_divider: u64,
    limit_hz: u64,
    start_ns: u64,
    flags: u32,
    enables: u32,
    /// ADEN.
    on: bool,
    configuration: [u32; 2],
    sampling: u32,
    threshold: u32,
    channels: u32,
    common: u32,
    data: u32,
    /// The cycles at which it will be ready, and a calibration done.
    ready: Option<u64>,
    calibrated: Option<u64>,
    /// The channel that is converted, its voltage once it is sampled, and the cycle at which the next of these comes.
    converting: Option<(u32, Option<f64>, u64)>,
    /// WAIT: the next channel, until DR is read.
    waiting: Option<u32>,
    inner_mv: [u16; 2],
    transfer: TransferRequest,
    /// The last transfer has been made, and DMACFG wants no more.
    transferred: bool,
    /// Why the next conversion could not begin, until the program hears of it.
    failure: Option<String>,
}

impl Adc {
    /// The converter at `spec.base`, interrupting with `spec.irq`. Settings: `limit_khz`, its fastest clock; `start_ns`, the time from ADEN to
    /// ADRDY; `sensor_mv`, `reference_mv` what is at channels 16 and 17; `dma_1` where its request leads.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().and_then(|value| u16::try_from(value).ok());
            value.ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        Ok(Adc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: part.default_clock_hz,
            bus_divider: 1,
            limit_hz: u64::from(setting("limit_khz")?) * 1000,
            start_ns: setting("start_ns")?.into(),
            flags: 0,
            enables: 0,
            on: false,
            configuration: [0; 2],
            sampling: 0,
            threshold: 0x0fff_0000,
            channels: 0,
            common: 0,
            data: 0,
            ready: None,
            calibrated: None,
            converting: None,
            waiting: None,
            inner_mv: [setting("sensor_mv")?, setting("reference_mv")?],
            transfer: TransferRequest::new(spec, "dma")?,
            transferred: false,
            failure: None,
        })
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: impl Into<String>) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    fn is(&self, bit: u32) -> bool {
        self.configuration[0] & bit != 0
    }

    /// Core cycles of so many halves of the converter's clock: CFGR2.CKMODE.
    fn cycles(&self, halves: u64) -> u64 {
        match self.configuration[1] >> 30 {
            0 => (halves * self.clock_hz).div_ceil(2 * HSI14_HZ),
            mode => halves * self.bus_divider * u64::from(mode),
        }
    }

    /// The channel of CHSELR that comes after this one, or first.
    fn next(&self, after: Option<u32>) -> Option<u32> {
        let mut chosen = (0..=SENSOR + 2).filter(|channel| {
            let comes = match after {
                Some(after) if self.is(SCANDIR) => *channel < after,
                Some(after) => *channel > after,
                None => true,
            };
            comes && self.channels >> channel & 1 == 1
        });
        if self.is(SCANDIR) { chosen.next_back() } else { chosen.next() }
    }

    fn start(&mut self, context: &mut Context<'_, '_>) -> Result<(), String> {
        if !self.on || self.ready.is_some() {
            return Err("a conversion is started before ADRDY".into());
        }
        let mode = self.configuration[1] >> 30;
        if mode == 3 {
            return Err("this setting of CKMODE is reserved".into());
        }
        let hz = match mode {
            0 => HSI14_HZ,
            mode => self.clock_hz / (2 * u64::from(mode) * self.bus_divider),
        };
        if hz > self.limit_hz
            && !context.events.tolerate("a conversion at a faster clock than the converter allows")
        {
            return Err(format!("its clock is {hz} Hz; it allows {} Hz (CFGR2.CKMODE)", self.limit_hz));
        }
        let first = self.next(None).ok_or("a conversion is started without a channel in CHSELR")?;
        self.transferred = false;
        self.begin(first, context.now)
    }

    fn begin(&mut self, channel: u32, at: u64) -> Result<(), String> {
        let off = match channel {
            SENSOR => self.common & TSEN == 0,
            REFERENCE => self.common & VREFEN == 0,
            channel => channel > REFERENCE,
        };
        if off {
            return Err(format!("channel {channel} is off, or not modelled"));
        }
        self.converting = Some((channel, None, at + self.cycles(SAMPLING[(self.sampling & 7) as usize])));
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
        while let Some((channel, sampled, at)) = self.converting.filter(|(_, _, at)| *at <= now) {
            let Some(volts) = sampled else {
                let volts = match channel {
                    SENSOR | REFERENCE => {
                        f64::from(self.inner_mv[usize::from(channel == REFERENCE)]) / 1000.0
                    }
                    channel => context.board.analog_v(channel as u8, at),
                };
                self.flags |= EOSMP;
                // 12.5 clocks for twelve bits, 11.5 for ten, 9.5 for eight, 7.5 for six.
                let halves = [25, 23, 19, 15][(self.configuration[0] >> 3 & 3) as usize];
                self.converting = Some((channel, Some(volts), at + self.cycles(halves)));
                continue;
            };
            self.converting = None;
            let bits = 12 - 2 * (self.configuration[0] >> 3 & 3);
            let steps = f64::from(1u32 << bits);
            let code = (steps * volts / context.board.supply_v).clamp(0.0, steps - 1.0) as u32;
            self.failure = self.converted(channel, code, bits, at, context).err();
        }
    }

    fn converted(
        &mut self,
        channel: u32,
        code: u32,
        bits: u32,
        at: u64,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let unread = self.flags & EOC != 0;
        self.flags |= if unread { OVR } else { EOC };
        if !unread || self.is(OVRMOD) {
            // Left: six bits in a byte, the others in the halfword (RM0091, figure 34).
            let left = if bits == 6 { 8 - bits } else { 16 - bits };
            self.data = if self.is(ALIGN) { code << left } else { code };
            if self.is(DMAEN) && !self.transferred {
                self.transfer.set(true, at, context);
            }
        }
        let next = match self.next(Some(channel)) {
            Some(next) => Some(next),
            None => {
                self.flags |= EOSEQ;
                self.next(None).filter(|_| self.is(CONT))
            }
        };
        match next {
            Some(next) if self.is(WAIT) => {
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
        (self.converting, self.waiting) = (None, None);
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), String> {
        if value & ADCAL != 0 {
            if self.on {
                return Err("a calibration is started while ADEN is set".into());
            }
            self.calibrated = Some(context.now + self.cycles(2 * CALIBRATION));
        }
        if value & ADSTP != 0 {
            self.stop();
        }
        if value & ADDIS != 0 {
            self.stop();
            (self.on, self.ready) = (false, None);
            return Ok(());
        }
        if value & ADEN != 0 && !self.on {
            if self.calibrated.is_some() {
                return Err("ADEN is set during a calibration".into());
            }
            self.on = true;
            self.ready = Some(context.now + (self.start_ns * self.clock_hz).div_ceil(1_000_000_000));
        }
        if value & ADSTART != 0 && self.converting.is_none() && self.waiting.is_none() {
            self.start(context)?;
        }
        Ok(())
    }

    fn control(&self) -> u32 {
        let busy = self.converting.is_some() || self.waiting.is_some();
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        bit(self.on, ADEN) | bit(busy, ADSTART) | bit(self.calibrated.is_some(), ADCAL)
    }

    fn write_register(
        &mut self,
        register: u32,
        merge: impl Fn(u32) -> u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let started = self.control() & ADSTART != 0;
        match register {
            // A one clears.
            ISR => self.flags &= !merge(0),
            IER if merge(self.enables) & AWD != 0 => return Err("the watchdog is not modelled".into()),
            IER => self.enables = merge(self.enables) & FLAGS,
            CR => self.write_control(merge(0), context)?,
            _ if started => return Err("settings change during a conversion".into()),
            CFGR1 if merge(self.configuration[0]) & !MODELLED != 0 => {
                return Err(
                    "starts from outside (EXTEN), AUTOFF, DISCEN and the watchdog (AWDEN) are not modelled"
                        .into(),
                );
            }
            CFGR1 if merge(self.configuration[0]) & DMAEN != 0 && self.transfer.lines() == 0 => {
                return Err("a request of DMA that leads nowhere on this part".into());
            }
            CFGR1 => {
                self.configuration[0] = merge(self.configuration[0]);
                if !self.is(DMAEN) {
                    self.transfer.set(false, context.now, context);
                }
            }
            CFGR2 => self.configuration[1] = merge(self.configuration[1]) & 3 << 30,
            SMPR => self.sampling = merge(self.sampling) & 7,
            TR => self.threshold = merge(self.threshold) & 0x0fff_0fff,
            CHSELR => self.channels = merge(self.channels) & (CHANNELS | 1 << 18),
            CCR => self.common = merge(self.common) & (VREFEN | TSEN | 1 << 24),
            DR => {}
            _ => return Err("register not modelled".into()),
        }
        Ok(())
    }
}

impl Peripheral for Adc {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        vec![self.base..self.base + 0x44, self.base + CCR..self.base + CCR + 4]
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        if let Some(what) = self.failure.take() {
            return Err(self.fault(address, context, what));
        }
        let offset = address - self.base;
        let word = match offset & !3 {
            ISR => self.flags,
            IER => self.enables,
            CR => self.control(),
            CFGR1 => self.configuration[0],
            CFGR2 => self.configuration[1],
            SMPR => self.sampling,
            TR => self.threshold,
            CHSELR => self.channels,
            CCR => self.common,
            DR => {
                self.flags &= !EOC;
                if let Some(next) = self.waiting.take() {
                    self.begin(next, context.now).map_err(|what| self.fault(address, context, what))?;
                }
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
        let written = self.write_register(offset & !3, merge, context);
        written.map_err(|what| self.fault(address, context, what))?;
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
        let converting = self.converting.map(|(_, _, at)| at);
        [converting, self.ready].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.signal(context);
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        (self.flags, self.enables, self.on) = (0, 0, false);
        (self.configuration, self.sampling) = ([0; 2], 0);
        self.threshold = 0x0fff_0000;
        (self.channels, self.common, self.data) = (0, 0, 0);
        (self.ready, self.calibrated) = (None, None);
        self.stop();
        self.transfer.reset();
        self.transferred = false;
        self.failure = None;
    }

    fn transfer_lines(&self) -> u128 {
        self.transfer.lines()
    }

    fn transfer_served(&mut self, _lines: u128, last: bool, context: &mut Context<'_, '_>) {
        self.transferred |= last && !self.is(DMACFG);
        self.transfer.set(false, context.now, context);
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
