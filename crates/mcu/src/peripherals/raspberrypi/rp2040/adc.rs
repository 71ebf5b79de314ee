//! The converter: four inputs and the temperature sensor, with a queue of four samples. Section
//! 4.9.
//!
//! A conversion takes 96 cycles of clk_adc (section 4.9.2), and looks at its input where it begins.
//! Input `n` is the board's input `n`. The sensor stands at 27 degrees, where it has 0.706 V
//! (section 4.9.5). The reference is the supply. Left out: the noise and the non-linearity of
//! erratum RP2040-E11. Refused: inputs that do not exist, and the sensor without its power.

use super::interrupts::Interrupts;
use super::{BLOCK, CLK_ADC, Write, register};
use crate::clock::rescaled;
use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};
use std::collections::VecDeque;

const CS: u32 = 0x00;
const RESULT: u32 = 0x04;
const FCS: u32 = 0x08;
const FIFO: u32 = 0x0c;
const DIV: u32 = 0x10;
const INTR: u32 = 0x14;
const INTE: u32 = 0x18;
const INTS: u32 = 0x20;

/// CS.
const EN: u32 = 1 << 0;
const TS_EN: u32 = 1 << 1;
const START_ONCE: u32 = 1 << 2;
const START_MANY: u32 = 1 << 3;
const READY: u32 = 1 << 8;
const AINSEL: u32 = 12;
const RROBIN: u32 = 16;
/// FCS.
const FCS_EN: u32 = 1 << 0;
const SHIFT: u32 = 1 << 1;
const DREQ_EN: u32 = 1 << 3;
const EMPTY: u32 = 1 << 8;
const FULL: u32 = 1 << 9;
const UNDER: u32 = 1 << 10;
const OVER: u32 = 1 << 11;
const LEVEL: u32 = 16;
const THRESH: u32 = 24;

/// The registers that keep what is written. START_ONCE is no state.
const MAP: &[Register] =
    &[Register::new(CS, 0x001f_700b), Register::new(FCS, 0x0f00_000f), Register::new(DIV, 0x00ff_ffff)];

/// The inputs, the sensor last, and its voltage.
const CHANNELS: u32 = 5;
const SENSOR: u32 = 4;
const SENSOR_V: f64 = 0.706;
/// Cycles of clk_adc of a conversion, in parts of 256.
const CONVERSION: u64 = 96 * 256;
const DEPTH: usize = 4;
/// Its bit in RESETS.RESET, and its request of DMA.
const RESET: u32 = 1 << 0;
const DREQ: u8 = 36;

/// The converter.
#[derive(Clone)]
pub struct Adc {
    name: String,
    base: u32,
    irq: u8,
    held: bool,
    clock_hz: u64,
    converter_hz: u64,
    registers: Registers,
    interrupts: Interrupts,
    result: u32,
    samples: VecDeque<u32>,
    errors: u32,
    /// The sample of a conversion that is under way, and when it is done.
    converting: Option<(u32, u64)>,
    /// The cycle at which the next of many begins.
    begins: Option<u64>,
    requests: u128,
}

impl Adc {
    /// The converter at `spec.base`, interrupting with `spec.irq`.
    ///
    /// # Errors
    /// No interrupt.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        Ok(Adc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?,
            held: true,
            clock_hz: part.default_clock_hz,
            converter_hz: 0,
            registers: Registers::new(MAP),
            interrupts: Interrupts::new(1),
            result: 0,
            samples: VecDeque::new(),
            errors: 0,
            converting: None,
            begins: None,
            requests: 0,
        })
    }

    /// Core cycles of a number of cycles of clk_adc, in parts of 256.
    fn cycles(&self, parts: u64) -> Option<u64> {
        let cycles = u128::from(parts) * u128::from(self.clock_hz);
        let hz = 256 * u128::from(self.converter_hz);
        (hz != 0).then(|| cycles.div_ceil(hz) as u64)
    }

    /// The period of conversions by START_MANY: 1 + INT + FRAC / 256 cycles, at least one
    /// conversion.
    fn period(&self) -> u64 {
        u64::from(self.registers[DIV] + 256).max(CONVERSION)
    }

    /// Takes the sample of a conversion that begins at a cycle.
    ///
    /// # Errors
    /// The input does not exist or has no power.
    fn begin(&mut self, at: u64, context: &Context<'_, '_>) -> Result<(), &'static str> {
        let control = self.registers[CS];
        let volts = match control >> AINSEL & 7 {
            SENSOR if control & TS_EN != 0 => SENSOR_V,
            channel @ 0..SENSOR => context.board.analog_v(channel as u8, at),
            SENSOR => return Err("a conversion of the sensor without its power (CS.TS_EN)"),
            _ => return Err("a conversion of an input that does not exist (CS.AINSEL)"),
        };
        let code = (volts / context.board.supply_v * 4096.0).floor().clamp(0.0, 4095.0) as u32;
        self.converting = self.cycles(CONVERSION).map(|cycles| (code, at + cycles));
        let again = self.registers[CS] & START_MANY != 0;
        self.begins = self.cycles(self.period()).filter(|_| again).map(|cycles| at + cycles);
        Ok(())
    }

    fn finish(&mut self, code: u32) {
        self.result = code;
        let control = self.registers[CS];
        let robins = control >> RROBIN & 0x1f;
        if robins != 0 {
            let now = control >> AINSEL & 7;
            let mut next = (1..=CHANNELS).map(|step| (now + step) % CHANNELS);
            let next = next.find(|channel| robins >> channel & 1 != 0).unwrap_or(now);
            self.registers.set(CS, control & !(7 << AINSEL) | next << AINSEL);
        }
        let queue = self.registers[FCS];
        if queue & FCS_EN == 0 {
            return;
        }
        if self.samples.len() == DEPTH {
            self.errors |= OVER;
        } else {
            self.samples.push_back(if queue & SHIFT != 0 { code >> 4 } else { code });
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some(at) = self.due().filter(|at| *at <= context.now) {
            if let Some((code, end)) = self.converting
                && end == at
            {
                self.converting = None;
                self.finish(code);
            }
            if self.converting.is_none() && self.begins.is_some_and(|begins| begins <= at) {
                self.begins = None;
                if let Err(what) = self.begin(at, context) {
                    context.stop(&self.name, what);
                }
            }
        }
        self.request(context);
    }

    fn raw(&self) -> u32 {
        let threshold = self.registers[FCS] >> THRESH & 0xf;
        u32::from(threshold != 0 && self.samples.len() >= threshold as usize)
    }

    fn request(&mut self, context: &mut Context<'_, '_>) {
        if self.interrupts.status(self.raw()) != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
        let queue = self.registers[FCS];
        let threshold = (queue >> THRESH & 0xf).max(1) as usize;
        let asks = queue & DREQ_EN != 0 && self.samples.len() >= threshold;
        super::request_transfers(DREQ, [asks, false], &mut self.requests, context);
    }

    fn read_register(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            CS => {
                let is_ready = self.registers[CS] & EN != 0 && self.converting.is_none();
                self.registers[CS] | if is_ready { READY } else { 0 }
            }
            RESULT => self.result,
            FCS => {
                let level = self.samples.len();
                let state = if level == 0 { EMPTY } else { 0 } | if level == DEPTH { FULL } else { 0 };
                self.registers[FCS] | self.errors | state | (level as u32) << LEVEL
            }
            FIFO => {
                self.errors |= if self.samples.is_empty() { UNDER } else { 0 };
                self.samples.pop_front().unwrap_or(0)
            }
            INTR => self.raw(),
            INTE..=INTS => self.interrupts.read(offset - INTE, self.raw()),
            _ => return self.registers.get(offset),
        })
    }

    fn write_register(
        &mut self,
        offset: u32,
        write: Write,
        context: &Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match offset {
            RESULT | FIFO | INTR => return Ok(()),
            INTE..=INTS => {
                self.interrupts.write(offset - INTE, write);
                return Ok(());
            }
            _ => {}
        }
        // A one clears an error, by whatever alias it comes.
        if offset == FCS {
            self.errors &= !write.value;
        }
        let started = offset == CS && write.onto(0) & START_ONCE != 0;
        self.registers.write(offset, |before| write.onto(before))?;
        let control = self.registers[CS];
        if offset == DIV && self.begins.is_some() {
            // The divider begins anew; without one a conversion follows the other.
            let free = self.converting.map_or(context.now, |(_, end)| end);
            let period = u64::from(self.registers[DIV] + 256);
            let divided = self.cycles(period).filter(|_| period > CONVERSION);
            self.begins = Some(divided.map_or(free, |cycles| context.now + cycles));
        }
        if control & EN == 0 {
            (self.converting, self.begins) = (None, None);
            return Ok(());
        }
        if (started || control & START_MANY != 0) && self.converter_hz == 0 {
            return Err("a conversion without clk_adc is not modelled");
        }
        if control & START_MANY == 0 {
            self.begins = None;
        }
        let started = started && control & START_MANY == 0;
        let begins_many = control & START_MANY != 0 && self.begins.is_none();
        if self.converting.is_none() && (started || begins_many) {
            self.begin(context.now, context)?;
        } else if begins_many {
            self.begins = self.converting.map(|(_, end)| end);
        }
        Ok(())
    }

    /// As after its own reset.
    fn clear(&mut self) {
        self.registers.reset();
        self.interrupts.reset();
        self.result = 0;
        self.samples.clear();
        self.errors = 0;
        (self.converting, self.begins) = (None, None);
    }
}

impl Peripheral for Adc {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + BLOCK)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let word = self.read_register(register(address));
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        self.request(context);
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if self.held {
            return super::written_in_reset(&self.name, address, context);
        }
        self.advance(context);
        let written = self.write_register(register(address), Write::new(address, size, value), context);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.request(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let done = self.converting.map(|(_, end)| end);
        let begins = self.begins.map(|begins| begins.max(done.unwrap_or(0)));
        [done, begins].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.converter_hz = context.events.generic_clocks_hz.get(CLK_ADC).copied().unwrap_or(0);
            self.held = context.events.held & RESET != 0;
            if self.held {
                self.clear();
                self.request(context);
            }
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            let before = self.clock_hz;
            let moved = |end: u64| rescaled(end, now, before, clock_hz);
            self.converting = self.converting.map(|(code, end)| (code, moved(end)));
            self.begins = self.begins.map(moved);
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.converter_hz = 0;
        self.requests = 0;
        self.clear();
    }
}
