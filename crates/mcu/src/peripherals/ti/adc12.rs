//! The converters ADC12_A of the MSP430F5xx and ADC12_B of the MSP430FR5xx, and the reference
//! beside them.
//!
//! Sources: SLAU208, chapter "ADC12_A", and SLAU367, chapter "ADC12_B"; addresses, bits and vector
//! numbers compared with TI's headers for the parts. All four conversion modes, started by
//! `ADC12SC`, with the sampling timer (`ADC12SHP`). A conversion takes the sampling time and 9, 11
//! or 13 clocks more (ADC12_B: 10, 12 or 14, and one for the window), without the up to one clock
//! that it takes to begin. The voltage is taken when the result is there. References are the supply
//! and the internal one, both against AVSS. Inputs are those of the board and half the supply, of
//! ADC12_B in pairs, too. Its window takes no result that equals a limit (TI's driverlib, from
//! memory). ADC12PWRMD changes nothing. Not modelled and refused with a fault: other references,
//! the temperature diode, starts by timers, MCLK as the clock, signed results, changes of settings
//! that need `ADC12ENC` cleared.

mod layout;

use super::clocks::{Clocks, Source};
use super::dma::Trigger;
use super::ref_module::Reference;
use super::word::{Word, part_of};
use crate::{Board, ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec, clock};
pub use layout::Kind;
use layout::Place;

/// Bits of `ADC12CTL0`; the two enables are ADC12_A's.
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
/// Bits of `ADC12CTL2`.
const ADC12DF: u32 = 0x08;
/// 12 bits, as after a reset.
const ADC12RES_12: u32 = 0x20;
/// Bits of `ADC12CTL3`: half the supply, the temperature and inner inputs are A31, A30 and below.
const ADC12BATMAP: u32 = 0x40;
const ADC12TCMAP: u32 = 0x80;
const ADC12ICHMAP: u32 = 0xf00;
/// Bits of `ADC12MCTLx`; the last two are ADC12_B's.
const ADC12EOS: u32 = 0x80;
const ADC12DIF: u32 = 0x2000;
const ADC12WINC: u32 = 0x4000;
/// Flags of ADC12IFGR2 and their enables; of ADC12_A without a register.
const ADC12INIFG: u32 = 0x02;
const ADC12LOIFG: u32 = 0x04;
const ADC12HIIFG: u32 = 0x08;
const ADC12OVIFG: u32 = 0x10;
const ADC12TOVIFG: u32 = 0x20;
const ADC12RDYIFG: u32 = 0x40;
/// The other flags in the order of their numbers in `ADC12IV`, from 2 on in twos.
const OTHERS: [u32; 5] = [ADC12OVIFG, ADC12TOVIFG, ADC12HIIFG, ADC12LOIFG, ADC12INIFG];
/// Inputs at pins of the MSP430FR5994.
const INPUTS: u32 = 20;

/// The converter.
#[derive(Clone)]
pub struct Adc12 {
    kind: Kind,
    name: String,
    base: u32,
    reference_base: u32,
    irq: u8,
    clocks: Clocks,
    clock_hz: u64,
    oscillator_hz: u64,
    lowest_supply_v: f64,
    reference: Reference,
    control: [u32; 4],
    /// ADC12LO, ADC12HI.
    window: [u32; 2],
    flags: u32,
    enables: u32,
    other_flags: u32,
    other_enables: u32,
    memory_control: [u32; 32],
    memory: [u32; 32],
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
    pub fn new(part: &Part, spec: &PeripheralSpec, kind: Kind) -> Result<Adc12, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let mut adc = Adc12 {
            kind,
            name: spec.name.clone(),
            base: spec.base,
            reference_base: setting("reference_base")? as u32,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            clock_hz: part.default_clock_hz,
            oscillator_hz: setting("oscillator_hz")?,
            lowest_supply_v: setting("supply_mv")? as f64 / 1000.0,
            reference: Reference::new(part, spec, kind == Kind::A)?,
            control: [0; 4],
            window: [0; 2],
            flags: 0,
            enables: 0,
            other_flags: 0,
            other_enables: 0,
            memory_control: [0; 32],
            memory: [0; 32],
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

    /// Reason why a conversion into memory `index` cannot be made so.
    fn refused(&self, index: usize) -> Option<&'static str> {
        let [_, control1, control2, control3] = self.control;
        let memory = self.memory_control[index];
        match self.kind {
            _ if control1 & self.kind.other_starts() != 0 => Some("only starts by ADC12SC are modelled"),
            _ if control1 & ADC12SHP == 0 => Some("only the sampling timer (ADC12SHP) is modelled"),
            _ if control2 & ADC12DF != 0 => Some("signed results (ADC12DF) are not modelled"),
            _ if self.bits() > 12 => Some("ADC12RES = 3 is reserved"),
            _ if control1 >> 3 & 3 == 2 => Some("MCLK as the clock (ADC12SSEL) is not modelled"),
            Kind::A if matches!(memory & 15, 8..=10) => {
                Some("of the inner inputs only half the supply (11) is modelled")
            }
            Kind::B => {
                let is_pair = memory & ADC12DIF != 0;
                let channel = memory & 31;
                let last = if is_pair { channel | 1 } else { channel };
                match last {
                    31 if control3 & ADC12BATMAP != 0 && !is_pair => None,
                    26..=31 if control3 & (ADC12BATMAP | ADC12TCMAP | ADC12ICHMAP) != 0 => {
                        Some("of the inner inputs (ADC12CTL3) only half the supply is modelled")
                    }
                    INPUTS.. => Some("an input that the part does not have (ADC12INCH)"),
                    _ => None,
                }
            }
            Kind::A => None,
        }
    }

    /// Starts the conversion into memory `index` at cycle `now`.
    fn start(&mut self, index: usize, now: u64, supply_v: f64) -> Result<(), String> {
        if let Some(what) = self.refused(index) {
            return Err(what.into());
        }
        if supply_v < self.lowest_supply_v {
            return Err(format!(
                "a conversion at {supply_v} V, below the {} V that it needs",
                self.lowest_supply_v
            ));
        }
        let memory = self.memory_control[index];
        let select = if self.kind == Kind::A { memory >> 4 & 7 } else { memory >> 8 & 15 };
        let reference_v = match select {
            0 => supply_v,
            1 => self.reference.voltage_v(now, supply_v)?,
            _ => return Err("only AVCC and VREF+ against AVSS are modelled".into()),
        };
        let sampling = self.kind.sampling(&self.control, index).ok_or("a reserved value of ADC12SHT")?;
        let conversion = self.kind.conversion(self.bits(), memory & ADC12WINC != 0);
        let clocks = (sampling + conversion) * self.kind.divider(&self.control);
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
            self.other_flags |= ADC12TOVIFG;
            return Ok(());
        }
        self.start(self.at.unwrap_or(self.kind.first(&self.control)), now, supply_v)
    }

    /// The result of a conversion into memory `index` whose voltages are those at cycle `end`.
    fn result(&self, index: usize, reference_v: f64, end: u64, board: &Board) -> u32 {
        let memory = self.memory_control[index];
        let volts = |channel: u32| board.analog_v(channel as u8, end);
        let steps = f64::from(1u32 << self.bits());
        let full = steps - 1.0;
        let code = match self.kind {
            // SLAU208: N = 4095 (Vin - VR-) / (VR+ - VR-), full scale at and above the reference.
            Kind::A if memory & 15 == 11 => full * board.supply_v / 2.0 / reference_v,
            Kind::A => full * volts(memory & 15) / reference_v,
            // SLAU367: N = 2048 (Vin+ + LSB / 2 - Vin-) / (VR+ - VR-) + 2048.
            Kind::B if memory & ADC12DIF != 0 => {
                let input_v = volts(memory & 30) - volts(memory & 30 | 1);
                steps / 2.0 * (input_v / reference_v + 1.0) + 0.5
            }
            // N = 4096 (Vin+ + LSB / 2 - VR-) / (VR+ - VR-).
            Kind::B if memory & 31 == 31 => steps * board.supply_v / 2.0 / reference_v + 0.5,
            Kind::B => steps * volts(memory & 31) / reference_v + 0.5,
        };
        code.clamp(0.0, full) as u32
    }

    /// The conversion under way has ended: its result, and what comes after it.
    fn finish(&mut self, reference_v: f64, end: u64, context: &Context<'_, '_>) {
        let Some(index) = self.at.take() else { return };
        let supply_v = context.board.supply_v;
        let result = self.result(index, reference_v, end, context.board);
        self.memory[index] = result;
        if self.flags >> index & 1 == 1 {
            self.other_flags |= ADC12OVIFG;
        }
        self.flags |= 1 << index;
        if self.memory_control[index] & ADC12WINC != 0 {
            let [low, high] = self.window;
            self.other_flags |= if result < low { ADC12LOIFG } else { 0 };
            self.other_flags |= if result > high { ADC12HIIFG } else { 0 };
            self.other_flags |= if low < result && result < high { ADC12INIFG } else { 0 };
        }
        let last = !self.sequence() || self.memory_control[index] & ADC12EOS != 0;
        let next = match (last, self.repeats()) {
            (false, _) => (index + 1) % self.kind.memories(),
            (true, true) if self.control[0] & ADC12ENC != 0 => self.kind.first(&self.control),
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
        open != 0 && (0..self.kind.memories()).filter(ends).any(|index| open >> index & 1 == 1)
    }

    /// The other flags that interrupt.
    fn other_pending(&self) -> u32 {
        let control = self.control[0];
        let enables = match self.kind {
            Kind::A => {
                let overflow = if control & ADC12OVIE != 0 { ADC12OVIFG } else { 0 };
                overflow | if control & ADC12TOVIE != 0 { ADC12TOVIFG } else { 0 }
            }
            Kind::B => self.other_enables,
        };
        self.other_flags & enables
    }

    /// Returns the value of `ADC12IV`.
    fn vector(&self) -> u32 {
        let others = self.other_pending();
        let pending = self.flags & self.enables;
        match OTHERS.iter().position(|flag| others & flag != 0) {
            Some(number) => 2 * number as u32 + 2,
            None if pending != 0 => self.kind.first_vector() + 2 * pending.trailing_zeros(),
            None => 0,
        }
    }

    fn word(&mut self, place: Place) -> u32 {
        match place {
            Place::Control(1) => self.control[1] | if self.at.is_some() { ADC12BUSY } else { 0 },
            Place::Control(index) => self.control[index],
            Place::Window(index) => self.window[index],
            Place::Flags(first) => self.flags >> first & 0xffff,
            Place::OtherFlags => self.other_flags,
            Place::Enables(first) => self.enables >> first & 0xffff,
            Place::OtherEnables => self.other_enables,
            Place::Vector => {
                let vector = self.vector();
                let other = OTHERS.get((vector as usize / 2).wrapping_sub(1));
                if vector < self.kind.first_vector() {
                    self.other_flags &= !other.copied().unwrap_or(0);
                }
                vector
            }
            Place::MemoryControl(index) if self.kind == Kind::A => {
                self.memory_control[index] | self.memory_control[index + 1] << 8
            }
            Place::MemoryControl(index) => self.memory_control[index],
            Place::Memory(index) => {
                self.flags &= !(1 << index);
                self.memory[index]
            }
        }
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

    fn write_word(&mut self, place: Place, value: u32, context: &Context<'_, '_>) -> Result<(), String> {
        let is_setting = matches!(place, Place::Control(1..) | Place::MemoryControl(_));
        if is_setting && self.control[0] & ADC12ENC != 0 {
            return Err("this register changes only while ADC12ENC is clear".into());
        }
        let halves = |before: u32, first: u32| before & !(0xffff << first) | value << first;
        match place {
            Place::Control(0) => return self.write_control0(value, context),
            Place::Control(1) => self.control[1] = value & !ADC12BUSY,
            Place::Control(index) => self.control[index] = value,
            Place::Window(index) => self.window[index] = value,
            Place::Flags(first) => self.flags = halves(self.flags, first),
            Place::OtherFlags => self.other_flags = value & OTHERS.iter().fold(0, |all, flag| all | flag),
            Place::Enables(first) => self.enables = halves(self.enables, first),
            Place::OtherEnables if value & ADC12RDYIFG != 0 => {
                return Err("the interrupt of a reference that is ready (ADC12RDYIE) is not modelled".into());
            }
            Place::OtherEnables => self.other_enables = value,
            Place::Vector => (self.flags, self.other_flags) = (0, 0),
            Place::MemoryControl(index) if self.kind == Kind::A => {
                self.memory_control[index] = value & 0xff;
                self.memory_control[index + 1] = value >> 8;
            }
            Place::MemoryControl(index) => self.memory_control[index] = value,
            Place::Memory(index) => self.memory[index] = value & 0xfff,
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
                [self.base..self.base + self.kind.size(), self.reference_base..self.reference_base + 2],
            )
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context).map_err(|what| self.fault(address, context.pc, what))?;
        let word = if address >= self.base {
            let place = self.kind.place((address - self.base) & !1);
            let place = place.ok_or_else(|| self.fault(address, context.pc, "there is no such register"))?;
            self.word(place)
        } else {
            self.reference.read(context.now)
        };
        self.update(context);
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context).map_err(|what| self.fault(address, context.pc, what))?;
        let write = Word::new(address, size, value);
        let result = match address.checked_sub(self.base).map(|offset| self.kind.place(offset & !1)) {
            None if self.converting.is_some() => Err("the reference is changed during a conversion".into()),
            None => {
                let word = write.onto(self.reference.read(context.now));
                let written = self.reference.write(word, context.now);
                context.events.reference_level = self.reference.level();
                written.map_err(String::from)
            }
            Some(None) => Err("there is no such register".into()),
            Some(Some(Place::Vector | Place::Memory(_))) if size == 1 => {
                Err("this register is written in words".into())
            }
            Some(Some(place)) => {
                // A read of the others changes nothing.
                let before = if size == 1 { self.word(place) } else { 0 };
                self.write_word(place, write.onto(before) & self.kind.writable(place), context)
            }
        };
        result.map_err(|what| self.fault(address, context.pc, what))?;
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
        self.control = [0, 0, ADC12RES_12, 0];
        self.window = [0, 0xfff];
        self.flags = 0;
        self.enables = 0;
        self.other_flags = 0;
        self.other_enables = 0;
        self.memory_control = [0; 32];
        self.memory = [0; 32];
        self.at = None;
        self.converting = None;
        self.failure = None;
        self.served = false;
    }
}
