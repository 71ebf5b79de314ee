//! A call on a part.

use super::compile::Harness;
use super::numbers::{Number, decoded, encoded};
use super::slots::Slot;
use super::source::{GUARD, GUARD_BYTE};
use super::{CallRow, OfPart, Outputs, Shared, host, temporary};
use crate::LabError;
use crate::harness::OperationRun;
use crate::operations::Operation;
use crate::reference::Case;
use crate::row::Cycles;
use crate::target::{OperatingPoint, Target};
use firmware::Firmware;
use firmware::kit::Kit;
use firmware::symbols::Footprint;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Calls whose outputs are hashed, of those that count: as many as every repetition makes, or all.
const HASHED: usize = 3;

/// The program on its machine.
struct Program<'a> {
    shared: &'a Shared<'a>,
    target: &'a Target,
    firmware: &'a Firmware,
    run: OperationRun<'a>,
    /// Bytes of an element of each slot, then of each array of structures.
    sizes: Vec<usize>,
    big_endian: bool,
}

/// The program of a part.
pub(super) struct Built {
    pub point: OperatingPoint,
    pub firmware: Firmware,
    /// Memory of the program without the function.
    empty: Footprint,
    /// Symbol whose call is measured.
    pub measured: String,
    /// Name and version of the compiler.
    pub compiler: String,
    flags: Vec<String>,
}

impl Built {
    /// Names the compiler with its version and flags.
    pub(super) fn compiler_and_flags(&self) -> String {
        format!("{} {}", self.compiler, self.flags.join(" ")).trim().into()
    }
}

/// Findings of the calls.
struct Ran {
    /// Cycles of each call that counts.
    cycles: Vec<u64>,
    /// The deepest stack of a call, in bytes.
    stack: u32,
    /// Outputs of all calls, with the one that does not count.
    outputs: Outputs,
    /// Bytes of an element of each slot.
    sizes: Vec<usize>,
}

impl Shared<'_> {
    /// Builds and runs it, and fills in the row. Returns the outputs of each run, that which does
    /// not count among them.
    pub(super) fn measure(&self, target: &Target, row: &mut CallRow) -> Result<OfPart, LabError> {
        let built = self.build(target)?;
        row.compiler = built.compiler_and_flags();
        row.provenance.compiler = Some(built.compiler.clone());
        let Built { point, firmware, measured, .. } = &built;
        let Ran { cycles, stack, outputs, sizes } = self.called(target, firmware, point, measured)?;
        let footprint = firmware.footprint();
        let address = firmware.symbol(measured)?.address;
        row.fill(target, point, &cycles, address);
        row.flash_bytes = Some(footprint.flash - built.empty.flash);
        row.ram_bytes = Some(footprint.ram - built.empty.ram);
        row.stack_bytes = Some(stack);
        row.outputs = Some(self.hash(&outputs));
        Ok((outputs, sizes))
    }

    /// Builds it for a part.
    pub(super) fn build(&self, target: &Target) -> Result<Built, LabError> {
        let point = target.operating_point(self.request.clock_hz, self.request.supply_v)?;
        let source = self.workspace.source(target, &point)?;
        let kit = Kit::build(&source)?;
        let flags = [&["-O2".to_owned()][..], &self.sources.options, &self.sources.flags].concat();
        let flags = if kit.is_sdcc() { flags[1..].to_vec() } else { flags };
        let compiler = match &self.sources.compiler {
            Some(compiler) => firmware::version_of(compiler)?,
            None => firmware::compiler_version(&source)?,
        };
        let folder = temporary()?;
        host::write(&folder.path().join(self.sources.named("harness")), &self.harness)?;
        let harness =
            Harness { target: target.name(), function: &self.call.function, included: &self.included };
        let (program, empty) = self.sources.on_part(&kit, folder.path(), &harness)?;
        let firmware = Firmware::read(&program, target.part.core)?;
        let empty = Firmware::read(&empty, target.part.core)?.footprint();
        let measured = if kit.is_sdcc() { self.call.function.clone() } else { "ws_call_target".into() };
        Ok(Built { point, firmware, empty, measured, compiler, flags })
    }

    /// Bytes of an element of each slot on a part, then of each array of structures.
    pub(super) fn sizes(&self, target: &Target, built: &Built) -> Result<Vec<usize>, LabError> {
        let Built { point, firmware, measured, .. } = built;
        let operation = Operation::of_call(&self.call.function, measured);
        let mut program = self.start(target, firmware, point, &operation)?;
        program.read_sizes()?;
        Ok(program.sizes)
    }

    /// Starts the program up to where it waits for arguments.
    fn start<'s>(
        &'s self,
        target: &'s Target,
        firmware: &'s Firmware,
        point: &OperatingPoint,
        operation: &Operation,
    ) -> Result<Program<'s>, LabError> {
        let run = OperationRun::start(target, firmware, operation, point.clock_hz, self.request.max_cycles)?;
        let big_endian = target.part.core.is_big_endian();
        Ok(Program { shared: self, target, firmware, run, sizes: Vec::new(), big_endian })
    }

    /// Runs the calls.
    fn called(
        &self,
        target: &Target,
        firmware: &Firmware,
        point: &OperatingPoint,
        measured: &str,
    ) -> Result<Ran, LabError> {
        let operation = Operation::of_call(&self.call.function, measured);
        let mut program = self.start(target, firmware, point, &operation)?;
        program.read_sizes()?;
        let (mut cycles, mut stack, mut outputs) = (Vec::new(), 0, Vec::new());
        for (number, inputs) in self.inputs.iter().enumerate() {
            program.write(inputs)?;
            let measurement = program.run.measure(&Case::default())?;
            stack = stack.max(measurement.stack);
            program.run.check_stack(stack)?;
            outputs.push(program.read()?);
            if number > 0 {
                cycles.push(measurement.cycles);
                if self.request.runs.is_met(&cycles) {
                    break;
                }
            }
        }
        Ok(Ran { cycles, stack, outputs, sizes: program.sizes })
    }

    fn hash(&self, outputs: &Outputs) -> String {
        let mut digest = Sha256::new();
        // Parts make different numbers of calls, and all of them these.
        for number in outputs.iter().skip(1).take(HASHED).flatten().flatten() {
            number.hash(&mut digest);
        }
        digest.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl CallRow {
    /// Fills in what follows from the cycles.
    fn fill(&mut self, target: &Target, point: &OperatingPoint, samples: &[u64], address: u32) {
        let cycles = Cycles::of(samples);
        let (clock_hz, fetch) = (point.clock_hz as f64, target.fetch_at(address));
        let current_a = target.supply.current_at(clock_hz, point.supply_v, fetch);
        let power_w = current_a.map_or(point.power_w, |current_a| current_a * point.supply_v);
        let time_s = cycles.mean * target.seconds_per_cycle(point);
        self.runs = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        self.cycles = Some(cycles);
        self.accuracy = Some(target.accuracy_of_computation(address, point).clone());
        self.time_s = Some(time_s);
        self.energy_j = Some(power_w * time_s);
        self.energy_accuracy = Some(target.energy_accuracy_at(clock_hz));
        self.memory = Some(target.supply.memory_of(fetch).into());
    }
}

impl Program<'_> {
    fn problem(&self, problem: String) -> LabError {
        LabError::Protocol { what: self.target.name().into(), problem }
    }

    fn peek(&mut self, address: u32, length: usize) -> Result<Vec<u8>, LabError> {
        let mut bytes = vec![0; length];
        match self.run.machine().peek(address, &mut bytes) {
            true => Ok(bytes),
            false => Err(self.problem(format!("{length} bytes at {address:#x} are in no memory"))),
        }
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> Result<(), LabError> {
        match self.run.machine().poke(address, bytes) {
            true => Ok(()),
            false => Err(self.problem(format!("{} bytes at {address:#x} are in no memory", bytes.len()))),
        }
    }

    fn read_sizes(&mut self) -> Result<(), LabError> {
        let plan = &self.shared.plan;
        let count = plan.slots.len() + plan.structures.len();
        let address = self.firmware.symbol("ws_bench_sizes")?.address;
        let bytes = self.peek(address, 2 * count)?;
        let size = |pair: &[u8]| match self.big_endian {
            true => usize::from(pair[0]) << 8 | usize::from(pair[1]),
            false => usize::from(pair[1]) << 8 | usize::from(pair[0]),
        };
        self.sizes = bytes.chunks_exact(2).map(size).collect();
        Ok(())
    }

    /// Arrays with guards: address of the guard before, and bytes between both.
    fn guarded(&self) -> Result<Vec<(u32, usize, String)>, LabError> {
        let plan = &self.shared.plan;
        let slots = plan.slots.iter().map(|slot| (slot.is_guarded, &slot.symbol, slot.count, &slot.label));
        let structures = plan.structures.iter().map(|one| (true, &one.symbol, one.count, &one.label));
        let all = slots.chain(structures).zip(&self.sizes).filter(|((is_guarded, ..), _)| *is_guarded);
        all.map(|((_, symbol, count, label), size)| {
            Ok((self.firmware.symbol(symbol)?.address, count * size, label.clone()))
        })
        .collect()
    }

    fn write(&mut self, inputs: &[Vec<Number>]) -> Result<(), LabError> {
        for (address, length, _) in self.guarded()? {
            self.poke(address, &[GUARD_BYTE; GUARD])?;
            self.poke(address + (GUARD + length) as u32, &[GUARD_BYTE; GUARD])?;
        }
        let plan = &self.shared.plan;
        for ((slot, numbers), index) in plan.slots.iter().zip(inputs).zip(0..) {
            let (size, mut bytes) = (self.sizes[index], Vec::new());
            for number in numbers {
                let fits = encoded(*number, size, self.big_endian);
                bytes.extend(fits.ok_or_else(|| {
                    let Slot { label, spelled, .. } = slot;
                    self.problem(format!(
                        "{label}: {number} does not fit into {spelled}, which has {size} bytes here"
                    ))
                })?);
            }
            // What is an output alone must not hold that of an earlier run.
            if numbers.is_empty() {
                bytes = vec![GUARD_BYTE; size * slot.count];
            }
            self.poke(self.address(index)?, &bytes)?;
        }
        Ok(())
    }

    fn address(&self, index: usize) -> Result<u32, LabError> {
        let slot = &self.shared.plan.slots[index];
        let guard = if slot.is_guarded { GUARD as u32 } else { 0 };
        Ok(self.firmware.symbol(&slot.symbol)?.address + guard)
    }

    /// The outputs.
    fn read(&mut self) -> Result<Vec<Vec<Number>>, LabError> {
        for (address, length, label) in self.guarded()? {
            let before = self.peek(address, GUARD)?;
            let after = self.peek(address + (GUARD + length) as u32, GUARD)?;
            for (bytes, side) in [(before, "before"), (after, "behind")] {
                if bytes.iter().any(|byte| *byte != GUARD_BYTE) {
                    return Err(self.problem(format!("out of bounds: the function wrote {side} {label}")));
                }
            }
        }
        let plan = &self.shared.plan;
        let mut outputs = Vec::new();
        for (index, slot) in plan.slots.iter().enumerate() {
            let size = self.sizes[index];
            let length = if slot.is_output { size * slot.count } else { 0 };
            let bytes = self.peek(self.address(index)?, length)?;
            outputs.push(
                bytes.chunks_exact(size).map(|one| decoded(one, slot.scalar, self.big_endian)).collect(),
            );
        }
        Ok(outputs)
    }
}
