//! A converter of the STM32F4: one regular conversion, or an injected group of up to four, started by software.
//!
//! RM0090 sections 13.3 to 13.13. A conversion takes the sampling time and one clock for each bit; the clock is that of
//! APB2 through `ADCPRE`. The voltage is taken when the sampling time is over. Reference is the supply of the board, as
//! where VREF+ is tied to VDDA; inputs are channels 0 to 15 as the board sets them. Not modelled and refused with a
//! fault: regular groups of more than one, continuous and discontinuous modes, starts by timers or pins, DMA, the
//! watchdog, offsets, the inner channels, more than one converter at a time, a start while another goes on.

use crate::{Context, Fault, Part, Peripheral, PeripheralSpec};
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
/// CR1.
const EOCIE: u32 = 1 << 5;
const JEOCIE: u32 = 1 << 7;
const SCAN: u32 = 1 << 8;
const RES: u32 = 3 << 24;
/// CR2.
const ADON: u32 = 1 << 0;
const EOCS: u32 = 1 << 10;
const ALIGN: u32 = 1 << 11;
const JSWSTART: u32 = 1 << 22;
const SWSTART: u32 = 1 << 30;
/// CCR.ADCPRE.
const ADCPRE: u32 = 3 << 16;
/// Sampling clocks by SMPx.
const SAMPLING: [u64; 8] = [3, 15, 28, 56, 84, 112, 144, 480];

/// What is being converted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Regular,
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
    regular: [u32; 2],
    injected: u32,
    common: u32,
    data: u32,
    injected_data: [u32; 4],
    /// The cycle at which it went on.
    on_since: u64,
    /// What is under way, the voltage once it is sampled, and the cycle at which the next of these comes.
    converting: Option<(Group, Option<f64>, u64)>,
    failure: Option<String>,
}

impl Adc {
    /// The converter at `spec.base`, interrupting with `spec.irq`. Settings: `limit_khz`, its fastest clock; `start_ns`, the
    /// time from ADON to the first start.
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
            regular: [0; 2],
            injected: 0,
            common: 0,
            data: 0,
            injected_data: [0; 4],
            on_since: 0,
            converting: None,
            failure: None,
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
            Group::Regular => self.regular[1] & 31,
            Group::Injected(index) => self.injected >> (5 * (3 - self.injected_last() + index)) & 31,
        }
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

    fn start(&mut self, group: Group, now: u64) -> Result<(), String> {
        let hz = self.clock_hz / self.clock_cycles();
        if self.control[1] & ADON == 0 {
            return Err("a conversion is started while ADON is clear".into());
        }
        if (now - self.on_since) * 1_000_000_000 < self.start_ns * self.clock_hz {
            return Err(format!(
                "a conversion is started before the {} ns that it takes to be on",
                self.start_ns
            ));
        }
        if self.converting.is_some() {
            return Err("a conversion is started while another goes on".into());
        }
        if hz > self.limit_hz {
            return Err(format!("its clock is {hz} Hz; it allows {} Hz", self.limit_hz));
        }
        if self.regular[0] >> 20 & 15 != 0 && group == Group::Regular {
            return Err("regular groups of more than one conversion are not modelled".into());
        }
        if self.injected_last() != 0 && self.control[0] & SCAN == 0 && group != Group::Regular {
            return Err("an injected group without SCAN".into());
        }
        self.begin(group, now)
    }

    fn begin(&mut self, group: Group, at: u64) -> Result<(), String> {
        let channel = self.channel(group);
        if channel > 15 {
            return Err(format!("channel {channel} is not modelled"));
        }
        self.converting = Some((group, None, at + self.sampling_clocks(channel) * self.clock_cycles()));
        Ok(())
    }

    /// Brings the conversions up to now.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((group, sampled, at)) = self.converting.filter(|(_, _, at)| *at <= context.now) {
            let Some(volts) = sampled else {
                let volts = context.board.analog_v(self.channel(group) as u8, at);
                let end = at + u64::from(self.bits()) * self.clock_cycles();
                self.converting = Some((group, Some(volts), end));
                continue;
            };
            self.converting = None;
            let steps = f64::from(1u32 << self.bits());
            let code = (steps * volts / context.board.supply_v).clamp(0.0, steps - 1.0) as u32;
            match group {
                Group::Regular => {
                    self.data = code;
                    self.status |= EOC;
                }
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

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        let enabled = |enable, flag| self.control[0] & enable != 0 && self.status & flag != 0;
        if enabled(EOCIE, EOC) || enabled(JEOCIE, JEOC) {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    fn write_control2(&mut self, value: u32, now: u64) -> Result<(), String> {
        if value & !(ADON | EOCS | ALIGN | JSWSTART | SWSTART) != 0 || value & ALIGN != 0 {
            return Err(
                "continuous conversion, DMA, left alignment and starts by timers are not modelled".into()
            );
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
            self.start(Group::Regular, now)?;
        }
        if value & JSWSTART != 0 {
            self.status |= JSTRT;
            self.start(Group::Injected(0), now)?;
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
            SQR3 => self.regular[1],
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
        Ok(super::register::part_of_word(word, offset, size))
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
        let merge = |old: u32| super::register::merged_word(old, offset, size, value);
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
                if value & !(EOCIE | JEOCIE | SCAN | RES) != 0 {
                    return Err(self.fault(
                        address,
                        context,
                        "of CR1 only EOCIE, JEOCIE, SCAN and RES are modelled",
                    ));
                }
                self.control[0] = value;
            }
            CR2 => {
                let value = merge(self.control[1]);
                self.write_control2(value, context.now).map_err(|what| self.fault(address, context, what))?;
            }
            SMPR1 => self.sampling[0] = merge(self.sampling[0]),
            SMPR2 => self.sampling[1] = merge(self.sampling[1]),
            SQR1 => self.regular[0] = merge(self.regular[0]),
            SQR3 => self.regular[1] = merge(self.regular[1]),
            JSQR => self.injected = merge(self.injected),
            CCR => {
                let value = merge(self.common);
                if value & !ADCPRE != 0 {
                    return Err(self.fault(address, context, "of CCR only ADCPRE is modelled"));
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
        self.regular = [0; 2];
        self.injected = 0;
        self.common = 0;
        self.data = 0;
        self.injected_data = [0; 4];
        self.on_since = 0;
        self.converting = None;
        self.failure = None;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
