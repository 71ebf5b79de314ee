//! The converter ADC12_A of the MSP430F5xx, and the reference beside it.
//!
//! Source: SLAU208, chapter "ADC12_A"; addresses, bits and vector numbers compared with TI's header
//! for the part. All four conversion modes, started by `ADC12SC`, with the sampling timer
//! (`ADC12SHP`); a conversion takes the sampling time and 9, 11 or 13 clocks more, without the up
//! to one clock that it takes to begin. The voltage is taken when the result is there. References
//! are the supply and the internal one, both against AVSS; inputs are A0 to A7 and A12 to A15 as
//! the board sets them and half the supply. Not modelled and refused with a fault: other
//! references, the temperature diode, starts by timers, MCLK as the clock, signed results, changes
//! of settings that need `ADC12ENC` cleared.

use super::clocks::{Clocks, Source};
use super::dma::Trigger;
use super::ref_module::Reference;
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec, clock};

const CTL0: u32 = 0x00;
const CTL1: u32 = 0x02;
const CTL2: u32 = 0x04;
const IFG: u32 = 0x0a;
const IE: u32 = 0x0c;
const IV: u32 = 0x0e;
const MCTL0: u32 = 0x10;
const MEM0: u32 = 0x20;
const END: u32 = 0x40;

/// Bits of `ADC12CTL0`.
const ADC12SC: u32 = 0x01;
const ADC12ENC: u32 = 0x02;
const ADC12TOVIE: u32 = 0x04;
const ADC12OVIE: u32 = 0x08;
const ADC12ON: u32 = 0x10;
const ADC12MSC: u32 = 0x80;
/// Bits of `ADC12CTL0` that change only while `ADC12ENC` is clear.
const FIXED_WHILE_ENC: u32 = 0xfff0;
/// Bits of `ADC12CTL1`.
const ADC12BUSY: u32 = 0x01;
const ADC12SHP: u32 = 0x200;
/// `ADC12ISSH`, `ADC12SHSx`.
const ADC12ISSH_SHS: u32 = 0xd00;
/// Bits of `ADC12CTL2`.
const ADC12DF: u32 = 0x08;
const ADC12PDIV: u32 = 0x100;
/// 12 bits, as after a reset.
const ADC12RES_12: u32 = 0x20;
/// `ADC12EOS` in `ADC12MCTLx`.
const ADC12EOS: u8 = 0x80;
/// Sampling clocks by `ADC12SHTx`.
const SAMPLING: [u64; 16] = [4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1024, 1024, 1024];

/// The converter.
#[derive(Clone)]
pub struct Adc12 {
    name: String,
    base: u32,
    reference_base: u32,
    irq: u8,
    clocks: Clocks,
    clock_hz: u64,
    oscillator_hz: u64,
    lowest_supply_v: f64,
    reference: Reference,
    control: [u32; 3],
    flags: u32,
    enables: u32,
    overflow: bool,
    time_overflow: bool,
    memory_control: [u8; 16],
    memory: [u32; 16],
    /// The conversion memory under way or next in a sequence; `None` outside.
    at: Option<usize>,
    /// Reference voltage of the conversion under way, and the cycle at which it ends.
    converting: Option<(f64, u64)>,
    /// Why the next conversion of a sequence could not begin, until the program hears of it.
    failure: Option<String>,
    served: bool,
    /// ADC12IFGx as a trigger of the DMA controller.
    dma: Trigger,
}

impl Adc12 {
    /// The converter with its registers from `spec.base` on and `spec.irq` as its vector. Settings:
    /// `oscillator_hz`, of ADC12OSC; `supply_mv`, the lowest supply; `reference_base`, the address
    /// of `REFCTL0`; `dma_adc_#`, the trigger of the DMA controller that it makes ([`Trigger`]),
    /// and those of [`Reference::new`].
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Adc12, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let mut adc = Adc12 {
            name: spec.name.clone(),
            base: spec.base,
            reference_base: setting("reference_base")? as u32,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            clock_hz: part.default_clock_hz,
            oscillator_hz: setting("oscillator_hz")?,
            lowest_supply_v: setting("supply_mv")? as f64 / 1000.0,
            reference: Reference::new(part, spec)?,
            control: [0; 3],
            flags: 0,
            enables: 0,
            overflow: false,
            time_overflow: false,
            memory_control: [0; 16],
            memory: [0; 16],
            at: None,
            converting: None,
            failure: None,
            served: false,
            dma: Trigger::new(spec, "dma_adc")?,
        };
        adc.reset();
        Ok(adc)
    }

    fn fault(&self, address: u32, pc: u32, what: impl Into<String>) -> Fault {
        Fault::Peripheral { pc, address, device: self.name.clone(), what: what.into() }
    }

    fn sequence(&self) -> bool {
        self.control[1] >> 1 & 1 == 1
    }

    fn repeats(&self) -> bool {
        self.control[1] >> 2 & 1 == 1
    }

    /// `ADC12SSELx`; `None` is ADC12OSC.
    fn source(&self) -> Option<Source> {
        match self.control[1] >> 3 & 3 {
            0 => None,
            1 => Some(Source::Aclk),
            _ => Some(Source::Smclk),
        }
    }

    /// The clocks become others at cycle `now`: the conversion under way goes on with as many of
    /// them.
    fn change_clocks(&mut self, change: impl FnOnce(&mut Clocks), clock_hz: u64, now: u64) {
        let before = (self.clocks, std::mem::replace(&mut self.clock_hz, clock_hz));
        change(&mut self.clocks);
        let source = self.source();
        if let Some((_, end)) = &mut self.converting {
            *end = match source {
                Some(source) => self.clocks.moved(&before.0, source, *end, now),
                None => clock::rescaled(*end, now, before.1, clock_hz),
            };
        }
    }

    /// 8, 10 or 12; 14 stands for the reserved setting.
    fn bits(&self) -> u32 {
        8 + 2 * (self.control[2] >> 4 & 3)
    }

    /// Starts the conversion into memory `index` at cycle `now`.
    fn start(&mut self, index: usize, now: u64, supply_v: f64) -> Result<(), String> {
        let [control0, control1, control2] = self.control;
        let refused = match () {
            () if control1 & ADC12ISSH_SHS != 0 => Some("only starts by ADC12SC are modelled"),
            () if control1 & ADC12SHP == 0 => Some("only the sampling timer (ADC12SHP) is modelled"),
            () if control2 & ADC12DF != 0 => Some("signed results are not modelled"),
            () if self.bits() > 12 => Some("ADC12RES = 3 is reserved"),
            () if matches!(self.memory_control[index] & 15, 8..=10) => {
                Some("of the inner inputs only half the supply (11) is modelled")
            }
            () if control1 >> 3 & 3 == 2 => Some("MCLK as the clock is not modelled"),
            () => None,
        };
        if let Some(what) = refused {
            return Err(what.into());
        }
        if supply_v < self.lowest_supply_v {
            return Err(format!(
                "a conversion at {supply_v} V, below the {} V that it needs",
                self.lowest_supply_v
            ));
        }
        let reference_v = match self.memory_control[index] >> 4 & 7 {
            0 => supply_v,
            1 => self.reference.voltage_v(now, supply_v)?,
            _ => return Err("only AVCC and VREF+ against AVSS are modelled".into()),
        };
        let sampling = SAMPLING[(control0 >> if index < 8 { 8 } else { 12 } & 15) as usize];
        let divider = u64::from(control1 >> 5 & 7) + 1;
        let divider = if control2 & ADC12PDIV != 0 { 4 * divider } else { divider };
        let clocks = (sampling + u64::from(self.bits()) + 1) * divider;
        let end = match self.source() {
            Some(source) => self.clocks.after(source, clocks, now),
            None => now + (clocks * self.clock_hz).div_ceil(self.oscillator_hz),
        };
        self.at = Some(index);
        self.converting = Some((reference_v, end));
        Ok(())
    }

    /// The program has set `ADC12SC`.
    fn trigger(&mut self, now: u64, supply_v: f64) -> Result<(), String> {
        if self.converting.is_some() {
            self.time_overflow = true;
            return Ok(());
        }
        let first = (self.control[1] >> 12) as usize;
        self.start(self.at.unwrap_or(first), now, supply_v)
    }

    /// The conversion under way has ended: its result, and what comes after it.
    fn finish(&mut self, reference_v: f64, end: u64, context: &Context<'_, '_>) {
        let Some(index) = self.at.take() else { return };
        let supply_v = context.board.supply_v;
        let input_v = match self.memory_control[index] & 15 {
            11 => supply_v / 2.0,
            channel => context.board.analog_v(channel, end),
        };
        let full = f64::from((1u32 << self.bits()) - 1);
        // SLAU208: N = 4095 (Vin - VR-) / (VR+ - VR-), full scale at and above the reference.
        self.memory[index] = (full * input_v / reference_v).clamp(0.0, full) as u32;
        self.overflow |= self.flags >> index & 1 == 1;
        self.flags |= 1 << index;
        let last = !self.sequence() || self.memory_control[index] & ADC12EOS != 0;
        let first = (self.control[1] >> 12) as usize;
        let next = match (last, self.repeats()) {
            (false, _) => (index + 1) % 16,
            (true, true) if self.control[0] & ADC12ENC != 0 => first,
            (true, _) => return,
        };
        self.at = Some(next);
        if self.control[0] & ADC12MSC != 0 {
            self.failure = self.start(next, end, supply_v).err();
        }
    }

    /// Ends the conversions that have ended by now.
    fn advance(&mut self, context: &Context<'_, '_>) -> Result<(), String> {
        while let Some((reference_v, end)) = self.converting.filter(|(_, end)| *end <= context.now) {
            self.converting = None;
            self.finish(reference_v, end, context);
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    fn update(&mut self, context: &mut Context<'_, '_>) {
        if self.vector() == 0 {
            context.withdraw(self.irq);
        } else {
            context.request(self.irq);
        }
        self.dma.set(self.triggers_transfer(), context);
    }

    /// SLAU208, "DMA Trigger Operation": the flag of the conversion, of a sequence that of its last
    /// one, whose interrupt is not enabled.
    fn triggers_transfer(&self) -> bool {
        let open = self.flags & !self.enables;
        let ends = |index: &usize| !self.sequence() || self.memory_control[*index] & ADC12EOS != 0;
        open != 0 && (0..16).filter(ends).any(|index| open >> index & 1 == 1)
    }

    /// Returns the value of `ADC12IV`.
    fn vector(&self) -> u32 {
        let pending = self.flags & self.enables;
        if self.overflow && self.control[0] & ADC12OVIE != 0 {
            2
        } else if self.time_overflow && self.control[0] & ADC12TOVIE != 0 {
            4
        } else if pending != 0 {
            6 + 2 * pending.trailing_zeros()
        } else {
            0
        }
    }

    fn word(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            CTL0 | CTL2 => self.control[(offset / 2) as usize],
            CTL1 => self.control[1] | if self.at.is_some() { ADC12BUSY } else { 0 },
            IFG => self.flags,
            IE => self.enables,
            IV => {
                let vector = self.vector();
                self.overflow &= vector != 2;
                self.time_overflow &= vector != 4;
                vector
            }
            MCTL0..MEM0 => {
                let index = (offset - MCTL0) as usize;
                u32::from(u16::from_le_bytes([self.memory_control[index], self.memory_control[index + 1]]))
            }
            MEM0..END => {
                let index = ((offset - MEM0) / 2) as usize;
                self.flags &= !(1 << index);
                self.memory[index]
            }
            _ => return None,
        })
    }

    fn write_control0(&mut self, value: u32, context: &Context<'_, '_>) -> Result<(), String> {
        let before = self.control[0];
        if before & ADC12ENC != 0 && (before ^ value) & FIXED_WHILE_ENC != 0 {
            return Err("this bit of ADC12CTL0 changes only while ADC12ENC is clear".into());
        }
        // ADC12SC falls back by itself.
        self.control[0] = value & 0xffff & !ADC12SC;
        if value & ADC12ENC == 0 && !self.repeats() && !self.sequence() {
            // A single conversion stops at once.
            self.at = None;
            self.converting = None;
        }
        if value & (ADC12SC | ADC12ENC) != ADC12SC | ADC12ENC {
            return Ok(());
        }
        if value & ADC12ON == 0 {
            return Err("a conversion is started while the converter is off (ADC12ON)".into());
        }
        self.trigger(context.now, context.board.supply_v)
    }

    fn write_word(&mut self, offset: u32, value: u32, context: &Context<'_, '_>) -> Result<(), String> {
        let locked = matches!(offset, CTL1 | CTL2 | MCTL0..MEM0) && self.control[0] & ADC12ENC != 0;
        match offset {
            _ if locked => return Err("this register changes only while ADC12ENC is clear".into()),
            CTL0 => return self.write_control0(value, context),
            CTL1 => self.control[1] = value & 0xffff & !ADC12BUSY,
            CTL2 => self.control[2] = value & 0xffff,
            IFG => self.flags = value & 0xffff,
            IE => self.enables = value & 0xffff,
            IV => {
                self.overflow = false;
                self.time_overflow = false;
                self.flags = 0;
            }
            MCTL0..MEM0 => {
                let index = (offset - MCTL0) as usize;
                self.memory_control[index..index + 2].copy_from_slice(&(value as u16).to_le_bytes());
            }
            MEM0..END => self.memory[((offset - MEM0) / 2) as usize] = value & 0xfff,
            _ => return Err("there is no such register".into()),
        }
        Ok(())
    }
}

impl Peripheral for Adc12 {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 1 << self.irq,
            dma_lines: self.dma.lines(),
            ..Spec::with_ranges(
                &self.name,
                [self.base..self.base + END, self.reference_base..self.reference_base + 2],
            )
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context).map_err(|what| self.fault(address, context.pc, what))?;
        let word = if address >= self.base {
            let word = self.word((address - self.base) & !1);
            word.ok_or_else(|| self.fault(address, context.pc, "there is no such register"))?
        } else {
            self.reference.read()
        };
        self.update(context);
        Ok(if size == 2 { word } else { word >> (8 * (address & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context).map_err(|what| self.fault(address, context.pc, what))?;
        let (pc, offset) = (context.pc, address.wrapping_sub(self.base));
        let shift = 8 * (address & 1);
        let merged = |word: u32| if size == 2 { value } else { word & !(0xff << shift) | value << shift };
        let result = if address < self.base {
            let busy = self.converting.is_some();
            let word = merged(self.reference.read());
            if busy { Err("the reference is changed during a conversion") } else { Ok(()) }
                .and_then(|()| self.reference.write(word, context.now))
                .map_err(String::from)
        } else if size == 1 && matches!(offset & !1, IV | MEM0..END) {
            Err("this register is written in words".into())
        } else {
            let word = merged(if size == 2 { 0 } else { self.word(offset & !1).unwrap_or(0) });
            self.write_word(offset & !1, word, context)
        };
        result.map_err(|what| self.fault(address, pc, what))?;
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        self.converting?;
        self.source().map(Source::name)
    }

    fn due(&self) -> Option<u64> {
        if self.served { Some(0) } else { self.converting.map(|(_, end)| end) }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.failure = self.advance(context).err();
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            // The flags stay until their memory is read.
            Event::InterruptAcknowledged(_) => self.served = true,
            Event::DmaRequestsWanted(lines) => {
                let on = self.triggers_transfer();
                self.dma.want(lines, on, context);
            }
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => {
                self.change_clocks(|own| own.set_clock(clock_hz, now), clock_hz, now);
                self.reference.set_clock(clock_hz);
            }
            ClockUpdate::Subsystem(clocks) => {
                self.change_clocks(|own| own.set(&clocks, now), self.clock_hz, now)
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.dma.reset();
        self.reference.reset();
        self.control = [0, 0, ADC12RES_12];
        self.flags = 0;
        self.enables = 0;
        self.overflow = false;
        self.time_overflow = false;
        self.memory_control = [0; 16];
        self.memory = [0; 16];
        self.at = None;
        self.converting = None;
        self.failure = None;
        self.served = false;
    }
}
