//! Pins, interrupts, sleep, clock and current as a value change dump (IEEE 1364-2005, clause 18),
//! for GTKWave and others.
//!
//! The set of signals is known only at the end, but declared at the beginning. The changes go to a
//! temporary file, and behind the declarations when the run is over.

use mcu::{PinDirections, PinEdge};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use vcd::{IdCode, ReferenceIndex, SimulationCommand, TimescaleUnit, Value, VarType};

/// A declared signal and its value at time 0.
struct Signal {
    scope: &'static str,
    name: String,
    index: Option<i32>,
    id: IdCode,
    initial: Initial,
}

#[derive(Clone, Copy)]
enum Initial {
    Level(Value),
    Number(f64),
}

/// A port of the part, as far as its pins were seen.
struct Port {
    name: String,
    /// The pins that it drives; `None` where it does not say: then all.
    driven: Option<u32>,
    levels: u32,
    ids: [Option<IdCode>; 32],
}

impl Port {
    fn value(&self, pin: u8) -> Value {
        match self.driven {
            Some(driven) if driven >> pin & 1 == 0 => Value::Z,
            _ => Value::from(self.levels >> pin & 1 == 1),
        }
    }
}

/// A waveform that is being written. Times are in picoseconds and never go back.
pub(super) struct Waveform {
    file: File,
    changes: vcd::Writer<BufWriter<File>>,
    /// The time of the last change.
    now_ps: u64,
    next_id: IdCode,
    signals: Vec<Signal>,
    ports: Vec<Port>,
    /// One for each interrupt handler and each sleep mode.
    named: Vec<(&'static str, String, IdCode)>,
    /// The interrupts that have begun and not returned, the innermost last.
    active: Vec<IdCode>,
    asleep: Option<IdCode>,
    clock: IdCode,
    current: IdCode,
    error: Option<io::Error>,
}

impl Waveform {
    /// One that becomes the content of `file`.
    pub fn new(file: File, clock_hz: u64, current_ua: f64) -> io::Result<Waveform> {
        let mut waveform = Waveform {
            file,
            changes: vcd::Writer::new(BufWriter::new(tempfile::tempfile()?)),
            now_ps: 0,
            next_id: IdCode::FIRST,
            signals: Vec::new(),
            ports: Vec::new(),
            named: Vec::new(),
            active: Vec::new(),
            asleep: None,
            clock: IdCode::FIRST,
            current: IdCode::FIRST,
            error: None,
        };
        waveform.clock = waveform.declare("core", "clock_Hz", None, Initial::Number(clock_hz as f64));
        waveform.current = waveform.declare("core", "current_uA", None, Initial::Number(current_ua));
        Ok(waveform)
    }

    fn declare(&mut self, scope: &'static str, name: &str, index: Option<i32>, initial: Initial) -> IdCode {
        let id = self.next_id;
        self.next_id = id.next();
        // White space ends a name.
        let name = name.split_whitespace().collect::<Vec<_>>().join("_");
        self.signals.push(Signal { scope, name, index, id, initial });
        id
    }

    fn change(
        &mut self,
        at_ps: u64,
        write: impl FnOnce(&mut vcd::Writer<BufWriter<File>>) -> io::Result<()>,
    ) {
        if self.error.is_some() {
            return;
        }
        let mut written = Ok(());
        if at_ps > self.now_ps {
            self.now_ps = at_ps;
            written = self.changes.timestamp(at_ps);
        }
        self.error = written.and_then(|()| write(&mut self.changes)).err();
    }

    fn set(&mut self, at_ps: u64, id: IdCode, value: Value) {
        self.change(at_ps, |changes| changes.change_scalar(id, value));
    }

    pub fn clock(&mut self, at_ps: u64, clock_hz: u64) {
        let id = self.clock;
        self.change(at_ps, |changes| changes.change_real(id, clock_hz as f64));
    }

    pub fn current(&mut self, at_ps: u64, current_ua: f64) {
        let id = self.current;
        self.change(at_ps, |changes| changes.change_real(id, current_ua));
    }

    /// The port of a name, as an index.
    fn port(&mut self, name: &str) -> usize {
        self.ports.iter().position(|port| port.name == name).unwrap_or_else(|| {
            self.ports.push(Port { name: name.into(), driven: None, levels: 0, ids: [None; 32] });
            self.ports.len() - 1
        })
    }

    pub fn pin(&mut self, at_ps: u64, edge: &PinEdge<'_>) {
        let index = self.port(edge.port);
        let port = &mut self.ports[index];
        port.levels = port.levels & !(1 << edge.pin) | u32::from(edge.high) << edge.pin;
        self.show(at_ps, index, 1 << edge.pin);
    }

    pub fn directions(&mut self, at_ps: u64, directions: &PinDirections<'_>) {
        let index = self.port(directions.port);
        let before = self.ports[index].driven.replace(directions.driven).unwrap_or(0);
        self.show(at_ps, index, before ^ directions.driven);
    }

    /// Writes the values of some pins of a port; those that it never drove have none.
    fn show(&mut self, at_ps: u64, index: usize, mut pins: u32) {
        while pins != 0 {
            let pin = pins.trailing_zeros() as u8;
            pins &= pins - 1;
            let port = &self.ports[index];
            let value = port.value(pin);
            let id = match port.ids[usize::from(pin)] {
                Some(id) => id,
                None => {
                    let initial = if port.driven.is_some() { Value::Z } else { Value::V0 };
                    let name = port.name.clone();
                    let id = self.declare("pins", &name, Some(pin.into()), Initial::Level(initial));
                    self.ports[index].ids[usize::from(pin)] = Some(id);
                    id
                }
            };
            self.set(at_ps, id, value);
        }
    }

    fn named(&mut self, scope: &'static str, name: &str) -> IdCode {
        let known = self.named.iter().find(|(of, known, _)| *of == scope && known == name);
        if let Some((_, _, id)) = known {
            return *id;
        }
        let id = self.declare(scope, name, None, Initial::Level(Value::V0));
        self.named.push((scope, name.into(), id));
        id
    }

    pub fn interrupt(&mut self, at_ps: u64, handler: &str) {
        let id = self.named("interrupts", handler);
        self.active.push(id);
        self.set(at_ps, id, Value::V1);
    }

    pub fn interrupt_return(&mut self, at_ps: u64) {
        if let Some(id) = self.active.pop()
            && !self.active.contains(&id)
        {
            self.set(at_ps, id, Value::V0);
        }
    }

    pub fn sleep(&mut self, at_ps: u64, mode: &str) {
        let id = self.named("sleep", mode);
        self.asleep = Some(id);
        self.set(at_ps, id, Value::V1);
    }

    pub fn wake(&mut self, at_ps: u64) {
        if let Some(id) = self.asleep.take() {
            self.set(at_ps, id, Value::V0);
        }
    }

    /// No interrupt is active any more, and no pin driven.
    pub fn reset(&mut self, at_ps: u64) {
        while !self.active.is_empty() {
            self.interrupt_return(at_ps);
        }
        for index in 0..self.ports.len() {
            let port = &mut self.ports[index];
            let driven = port.driven.as_mut().map_or(0, std::mem::take);
            let high = std::mem::take(&mut port.levels);
            self.show(at_ps, index, driven | high);
        }
    }

    /// Writes the file; the run ended at this time.
    pub fn finish(mut self, end_ps: u64, part: &str) -> io::Result<()> {
        self.change(end_ps, |_| Ok(()));
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut out = vcd::Writer::new(BufWriter::new(&self.file));
        out.version(concat!("WattSeal ", env!("CARGO_PKG_VERSION")))?;
        out.timescale(1, TimescaleUnit::PS)?;
        out.add_module(part)?;
        for scope in ["core", "pins", "interrupts", "sleep"] {
            let mut signals: Vec<&Signal> =
                self.signals.iter().filter(|signal| signal.scope == scope).collect();
            if signals.is_empty() {
                continue;
            }
            signals.sort_by(|a, b| (&a.name, a.index).cmp(&(&b.name, b.index)));
            out.add_module(scope)?;
            for Signal { name, index, id, initial, .. } in signals {
                let (kind, width) = match initial {
                    Initial::Level(_) => (VarType::Wire, 1),
                    Initial::Number(_) => (VarType::Real, 64),
                };
                out.var_def(kind, width, *id, name, index.map(ReferenceIndex::BitSelect))?;
            }
            out.upscope()?;
        }
        out.upscope()?;
        out.enddefinitions()?;
        out.timestamp(0)?;
        out.begin(SimulationCommand::Dumpvars)?;
        for Signal { id, initial, .. } in &self.signals {
            match *initial {
                Initial::Level(level) => out.change_scalar(*id, level)?,
                Initial::Number(number) => out.change_real(*id, number)?,
            }
        }
        out.end()?;
        self.changes.flush()?;
        let mut changes = self.changes.writer().get_ref();
        changes.seek(SeekFrom::Start(0))?;
        io::copy(&mut changes, out.writer())?;
        out.writer().flush()
    }
}
