//! The comparator COMP_E of the MSP430FR5xx.
//!
//! Sources: SLAU367P, chapter "Comparator E Module (COMP_E)": sections "Comparator", "Input Analog
//! Switches", "Reference Voltage Generator" and "Interrupts" (from memory, not yet compared), and
//! the tables of CECTL0 to CEIV; offsets, bits and vector numbers compared with TI's headers for
//! the parts. Voltages are those of the board's converter inputs and of the supply. The output
//! follows them at once: enable time, propagation delay and the output filter (CEF, CEFDLY) are not
//! modelled in time, and CEPWRMD and CEREFACC change nothing. A voltage that changes over time is
//! looked at every microsecond, so an edge comes up to that late. The shared reference is there
//! when it is asked for (CEREFL). Refused: CESHORT, CERDYIE, an open terminal, a pin and the
//! reference at one terminal, two voltages of the shared reference at once.

use super::timer_a::Signals;
use super::word::{Word, part_of};
use crate::peripherals::register::{Register, Registers};
use crate::{Board, ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

const CECTL0: u32 = 0x00;
const CECTL1: u32 = 0x02;
const CECTL2: u32 = 0x04;
const CECTL3: u32 = 0x06;
const CEINT: u32 = 0x0c;
const CEIV: u32 = 0x0e;
const SIZE: u32 = 0x10;

/// CECTL0: the channels of V+ and V-, from bits 0 and 8 on.
const CEIPEN: u32 = 0x0080;
const CEIMEN: u32 = 0x8000;
/// CECTL1.
const CEOUT: u32 = 0x0001;
const CEOUTPOL: u32 = 0x0002;
const CEIES: u32 = 0x0008;
const CESHORT: u32 = 0x0010;
const CEPWRMD: u32 = 0x0300;
const CEON: u32 = 0x0400;
const CEMRVL: u32 = 0x0800;
const CEMRVS: u32 = 0x1000;
/// CECTL2: CEREF0 from bit 0 on, CEREF1 from bit 8, CERS from bit 6, CEREFL from bit 13.
const CERSEL: u32 = 0x0020;
/// CEINT: flags, and their enables eight bits above.
const CEIFG: u32 = 0x0001;
const CEIIFG: u32 = 0x0002;
const CERDYIE: u32 = 0x1000;
/// The flags in the order of their numbers in CEIV, from 2 on in twos.
const FLAGS: [u32; 2] = [CEIFG, CEIIFG];

/// CERS.
const FROM_SUPPLY: u32 = 1;
const FROM_SHARED: u32 = 2;

/// The registers that keep what is written.
const MAP: &[Register] = &[
    Register::new(CECTL0, 0x8f8f),
    Register::new(CECTL1, 0x1fff & !CEOUT).refusing(CESHORT, "shorted inputs (CESHORT) are not modelled"),
    Register::new(CECTL2, 0xffff),
    Register::new(CECTL3, 0xffff),
    Register::new(CEINT, 0x0313)
        .refusing(CERDYIE, "the interrupt of a comparator that is ready (CERDYIE) is not modelled"),
];

/// The comparator.
#[derive(Clone)]
pub struct CompE {
    name: String,
    base: u32,
    irq: u8,
    /// The board's inputs at C0 to C15.
    inputs: [Option<u8>; 16],
    /// The shared reference's voltages and the lowest supply for each, from CEREFL 1 on.
    shared_v: [(f64, f64); 3],
    registers: Registers,
    output: bool,
    /// The cycle of the next look, while a voltage changes over time.
    next_look: Option<u64>,
    cycles_per_look: u64,
    /// Its interrupt was taken: a flag that is left asks again.
    served: bool,
    signals: Signals,
}

impl CompE {
    /// The comparator at `spec.base` with `spec.irq` as its vector. Settings: `input_N`, the
    /// board's input at CN; `reference_N_mv` and `reference_N_supply_mv` of the shared reference,
    /// N from 0 to 2. Pins: `COUT`.
    ///
    /// # Errors
    /// One of the reference's settings is missing, or a pin does not exist.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<CompE, String> {
        let volts = |key: String| {
            let value = spec.settings.get(&key).copied().filter(|value| *value > 0);
            value
                .map(|mv| mv as f64 / 1000.0)
                .ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let shared = |level: u32| -> Result<(f64, f64), String> {
            Ok((volts(format!("reference_{level}_mv"))?, volts(format!("reference_{level}_supply_mv"))?))
        };
        let input = |channel: usize| {
            let input = spec.settings.get(&format!("input_{channel}")).copied();
            input.and_then(|input| u8::try_from(input).ok())
        };
        Ok(CompE {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            inputs: std::array::from_fn(input),
            shared_v: [shared(0)?, shared(1)?, shared(2)?],
            registers: Registers::new(MAP),
            output: false,
            next_look: None,
            cycles_per_look: cycles_per_look(part.default_clock_hz),
            served: false,
            signals: Signals::of_output(spec, "COUT")?,
        })
    }

    fn is_on(&self) -> bool {
        self.registers[CECTL1] & CEON != 0
    }

    /// The board's input at a channel.
    fn input(&self, channel: u32) -> Result<u8, String> {
        self.inputs[channel as usize & 15]
            .ok_or_else(|| format!("C{channel} lies at a pin without a voltage on the model's board"))
    }

    /// The tap of the resistor ladder, as a share of the voltage at its top.
    fn tap(&self) -> f64 {
        let [control1, control2] = [self.registers[CECTL1], self.registers[CECTL2]];
        let second = if control1 & CEMRVS != 0 { control1 & CEMRVL != 0 } else { self.output };
        let select = control2 >> if second { 8 } else { 0 } & 31;
        f64::from(select + 1) / 32.0
    }

    /// The voltage of the reference generator, where it is on.
    fn reference_v(&self, board: &Board, level_of_ref: Option<u8>) -> Result<Option<f64>, String> {
        let control = self.registers[CECTL2];
        let source = control >> 6 & 3;
        let level = control >> 13 & 3;
        if source == 0 {
            return Ok(None);
        }
        if source == FROM_SUPPLY {
            return Ok(Some(board.supply_v * self.tap()));
        }
        let Some((shared_v, lowest_v)) = (level as usize).checked_sub(1).map(|index| self.shared_v[index])
        else {
            return Err("the shared reference (CERS) without a voltage (CEREFL = 0)".into());
        };
        if level_of_ref.is_some_and(|other| u32::from(other) + 1 != level) {
            return Err("CEREFL and REFVSEL ask for two voltages of the shared reference at once".into());
        }
        let supply_v = board.supply_v;
        if supply_v < lowest_v {
            return Err(format!(
                "the reference of {shared_v} V needs a supply of {lowest_v} V and has {supply_v} V"
            ));
        }
        Ok(Some(if source == FROM_SHARED { shared_v * self.tap() } else { shared_v }))
    }

    /// The voltages at V+ and V-, of which CEEX exchanges both and with them the output.
    fn terminals_v(&self, context: &Context<'_, '_>) -> Result<[f64; 2], String> {
        let control = self.registers[CECTL0];
        let reference_v = self.reference_v(context.board, context.events.reference_level)?;
        let has_reference = |minus: bool| (self.registers[CECTL2] & CERSEL != 0) == minus;
        let terminal_v = |name: &str, enabled: bool, channel: u32, minus: bool| {
            let reference_v = reference_v.filter(|_| has_reference(minus));
            match (enabled, reference_v) {
                (true, Some(_)) => {
                    Err(format!("{name} has a pin and the reference at once (CECTL0, CERSEL)"))
                }
                (true, None) => Ok(context.board.analog_v(self.input(channel)?, context.now)),
                (false, Some(volts)) => Ok(volts),
                (false, None) => Err(format!("{name} is open (CECTL0, CERS)")),
            }
        };
        Ok([
            terminal_v("V+", control & CEIPEN != 0, control & 15, false)?,
            terminal_v("V-", control & CEIMEN != 0, control >> 8 & 15, true)?,
        ])
    }

    /// Returns true if a voltage at a chosen pin changes by itself.
    fn changes_over_time(&self, board: &Board) -> bool {
        let control = self.registers[CECTL0];
        let channels = [(CEIPEN, control & 15), (CEIMEN, control >> 8 & 15)];
        let mut inputs = channels.iter().filter(|(enable, _)| control & enable != 0);
        inputs.any(|(_, channel)| self.input(*channel).is_ok_and(|input| board.analog_varies(input)))
    }

    /// The output becomes this level: flags of the edge rise.
    fn set_output(&mut self, level: bool) {
        self.output = level;
        // CEIES: CEIFG is of the falling edge, CEIIFG of the rising one.
        let is_exchanged = self.registers[CECTL1] & CEIES != 0;
        let flag = if level == is_exchanged { CEIIFG } else { CEIFG };
        self.registers.set(CEINT, self.registers[CEINT] | flag);
    }

    fn compare(&self, context: &Context<'_, '_>) -> Result<bool, String> {
        let inverted = self.registers[CECTL1] & CEOUTPOL != 0;
        if !self.is_on() {
            return Ok(inverted);
        }
        let [plus_v, minus_v] = self.terminals_v(context)?;
        Ok((plus_v > minus_v) != inverted)
    }

    /// The output follows the voltages of now.
    fn update_output(&mut self, context: &mut Context<'_, '_>) -> Result<(), String> {
        let level = self.compare(context)?;
        if level != self.output {
            self.set_output(level);
            // The other tap must leave it there.
            if self.compare(context)? != level {
                return Err("CEREF0 and CEREF1 make the output oscillate".into());
            }
        }
        let is_watched = self.is_on() && self.changes_over_time(context.board);
        self.next_look = is_watched.then(|| context.now + self.cycles_per_look);
        self.update(context);
        Ok(())
    }

    fn update_or_stop(&mut self, context: &mut Context<'_, '_>) {
        if let Err(what) = self.update_output(context) {
            self.next_look = None;
            context.stop(&self.name, &what);
        }
    }

    fn pending(&self) -> u32 {
        let word = self.registers[CEINT];
        word & word >> 8
    }

    fn update(&mut self, context: &mut Context<'_, '_>) {
        if self.pending() == 0 {
            context.withdraw(self.irq);
        } else {
            context.request(self.irq);
        }
        self.signals.look(context.board);
        self.signals.drive(0, self.output, context.now, context);
    }

    /// The value of CEIV; an access to it clears the flag that it names.
    fn take_vector(&mut self) -> u32 {
        let pending = self.pending();
        let Some(index) = FLAGS.iter().position(|flag| pending & flag != 0) else { return 0 };
        self.registers.set(CEINT, self.registers[CEINT] & !FLAGS[index]);
        2 * index as u32 + 2
    }
}

/// Cycles of a microsecond.
fn cycles_per_look(clock_hz: u64) -> u64 {
    clock_hz.div_ceil(1_000_000)
}

impl Peripheral for CompE {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 1 << self.irq,
            follows_inputs: true,
            ..Spec::new(&self.name, self.base..self.base + SIZE)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.update_output(context).map_err(|what| context.fault(&self.name, address, what))?;
        let offset = (address - self.base) & !1;
        let word = match offset {
            CECTL1 => self.registers[CECTL1] | if self.output { CEOUT } else { 0 },
            CEIV => self.take_vector(),
            _ => match self.registers.get(offset) {
                Some(word) => word,
                None => return context.refuse(&self.name, address, "there is no such register"),
            },
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
        self.update_output(context).map_err(|what| context.fault(&self.name, address, what))?;
        let write = Word::new(address, size, value);
        let offset = (address - self.base) & !1;
        if offset == CEIV {
            self.take_vector();
        } else {
            let written = self.registers.write(offset, |before| write.onto(before));
            written.map_err(|what| context.fault(&self.name, address, what))?;
        }
        if self.registers[CECTL1] & CEPWRMD == CEPWRMD {
            return context.refuse(&self.name, address, "CEPWRMD = 3 is reserved");
        }
        self.update_output(context).map_err(|what| context.fault(&self.name, address, what))
    }

    fn due(&self) -> Option<u64> {
        if self.served { Some(0) } else { self.next_look }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.update_or_stop(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.update_or_stop(context),
            // The flags stay until CEIV or the program clears them.
            Event::InterruptAcknowledged(_) => self.served = true,
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.cycles_per_look = cycles_per_look(clock_hz);
        }
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.output = false;
        self.next_look = None;
        self.served = false;
        self.signals.reset();
    }
}
