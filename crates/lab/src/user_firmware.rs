//! An ELF file of a user's own on its target's machine, about to begin.

mod fuses;

use crate::sister::roomier;
use crate::stimuli;
use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, names};
pub use firmware::Loading;
use firmware::{Firmware, FirmwareError};
pub use fuses::FuseByte;
use mcu::{CoreName, Mcu, StubUse, new_clocked_machine, new_machine, vectors_behind_bootloader};
use std::path::PathBuf;

/// Firmware, its target and their settings.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The ELF file, or an image without names.
    pub elf: PathBuf,
    /// Address and names that it does not say.
    pub loading: Loading,
    /// Files whose bytes are loaded beside it, and their addresses.
    pub beside: Vec<(PathBuf, u32)>,
    /// The target's exact name.
    pub target: String,
    /// Core clock in Hz, whatever the program sets; where absent, what the program sets, or the
    /// target's default where no table `[clock]` says what its clock is made from.
    pub clock_hz: Option<u64>,
    /// The crystal's frequency in Hz; the target's own where absent.
    pub crystal_hz: Option<u64>,
    /// Supply in volts; the target's default where absent.
    pub supply_v: Option<f64>,
    /// Go on where the program does what is a mistake, but of which it is known what the part makes
    /// of it.
    pub lenient: bool,
    /// A fault that the part takes itself ends the run; otherwise it enters its handler.
    pub stop_on_fault: bool,
    /// Peripherals, or blocks without a model, that get registers that remember what was written:
    /// see [`mcu::Part::stub`].
    pub stubs: Vec<String>,
    /// Fuse bytes of an AVR, over those of the image.
    pub fuses: Vec<FuseByte>,
    /// File with the signals at its pins and at the inputs of its converter.
    pub signals: Option<PathBuf>,
}

/// Source of a run's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The program, by the part's clock registers.
    Program,
    /// The measurement's user, whatever the program sets.
    Request,
    /// The target's default: what its clock is made from is not known.
    Default,
}

/// The firmware in its machine, reset.
pub struct UserFirmware {
    /// The target, with its stubs.
    pub target: Target,
    /// The file.
    pub firmware: Firmware,
    /// The machine.
    pub machine: Box<dyn Mcu>,
    pub clock_source: ClockSource,
    /// Its supply, in volts.
    pub supply_v: f64,
}

impl Setup {
    /// A firmware on its target as it comes: the target's clock and supply, a stop at any fault, no
    /// stubs and no signals.
    #[must_use]
    pub fn new(elf: PathBuf, target: &str) -> Setup {
        Setup {
            elf,
            loading: Loading::default(),
            beside: Vec::new(),
            target: target.into(),
            clock_hz: None,
            crystal_hz: None,
            supply_v: None,
            lenient: false,
            stop_on_fault: true,
            stubs: Vec::new(),
            fuses: Vec::new(),
            signals: None,
        }
    }

    /// Loads the firmware into the machine that this describes.
    ///
    /// # Errors
    /// An unknown target or stub, with the nearest names; a file that is none for the target; fuses
    /// that it does not have, or that let it begin beside the image; a clock or a supply that the
    /// data sheet does not allow.
    pub fn load(&self, workspace: &Workspace) -> Result<UserFirmware, LabError> {
        let mut target = workspace.target(&self.target)?;
        workspace.calibration_is_of([target.name()])?;
        for name in &self.stubs {
            if !target.part.stub(name) {
                return Err(unknown_stub(name, &target));
            }
        }
        let firmware = Firmware::read_with(&self.elf, target.part.core, &self.loading)?;
        check_device(&target, &firmware)?;
        fuses::check_signature(workspace, &target, &firmware)?;
        let supply_v = target.set_supply(self.supply_v)?;
        target.part.vectors = vectors_behind_bootloader(&target.part, firmware.image());
        let (mut machine, clock_source) = clocked(self, &target)?;
        machine.load(firmware.image()).map_err(|fault| {
            let place = other_device(&target, &firmware);
            let place = place.or_else(|| roomier(workspace, &target, &firmware)).unwrap_or_default();
            LabError::Fault { target: target.name().into(), fault, place }
        })?;
        fuses::program(&mut *machine, &target, &self.fuses)?;
        for ((path, _), (address, bytes)) in self.beside.iter().zip(self.read_beside()?) {
            if !machine.poke(address, &bytes) {
                let problem = format!("{} has no memory for its bytes at {address:#x}", target.name());
                return Err(LabError::BadFile { path: path.clone(), problem });
            }
        }
        machine.reset();
        fuses::check_start(&*machine, &target, firmware.image())?;
        machine.set_lenient(self.lenient);
        machine.set_stop_on_fault(self.stop_on_fault);
        let allowed = target.supply.check(machine.clock_hz() as f64, supply_v);
        allowed.map_err(|error| LabError::Supply { target: target.name().into(), error })?;
        fuses::check_brown_out(&*machine, &target, supply_v)?;
        if let Some(path) = &self.signals {
            stimuli::connect(path, &target, machine.board_mut())?;
        }
        Ok(UserFirmware { target, firmware, machine, clock_source, supply_v })
    }
}

impl Setup {
    /// Bytes of the files beside the firmware, with their addresses.
    pub(crate) fn read_beside(&self) -> Result<Vec<(u32, Vec<u8>)>, LabError> {
        let read = |(path, address): &(PathBuf, u32)| match std::fs::read(path) {
            Ok(bytes) => Ok((*address, bytes)),
            Err(error) => Err(LabError::File { path: path.clone(), error }),
        };
        self.beside.iter().map(read).collect()
    }
}

/// Refuses a file that says for which part it is, where that is another one.
fn check_device(target: &Target, firmware: &Firmware) -> Result<(), LabError> {
    let Some(device) = firmware.certain_device() else { return Ok(()) };
    let base = target.sister_of.as_deref().unwrap_or(target.name());
    if base.starts_with(device) {
        return Ok(());
    }
    let problem = format!("a UF2 file for the {device}; choose that --target");
    Err(FirmwareError::OtherKind { path: firmware.path().into(), problem }.into())
}

fn unknown_stub(name: &str, target: &Target) -> LabError {
    let part = &target.part;
    let peripherals = part.peripherals.iter().map(|spec| spec.name.as_str());
    let blocks = part.unmodelled.iter().map(|block| block.name.as_str());
    let mut suggestion = names::suggestion(name, blocks.chain(peripherals));
    suggestion.push_str("; registers without a name are written as addresses, 0x50050000-0x500503ff");
    LabError::UnknownName { what: "peripheral", name: name.into(), suggestion }
}

/// Remark on firmware that begins where a bootloader hands over.
pub(crate) fn hand_over_remark(target: &Target) -> Option<String> {
    let vectors = target.part.vectors?;
    let interrupts = match target.part.core {
        CoreName::CortexM0 => "; interrupts go to the vectors at address 0, until it shows RAM there",
        _ => "",
    };
    Some(format!(
        "the image lies behind a bootloader, which is not in it: it begins at {vectors:#x} as one hands over, all else as after a reset\
         {interrupts}"
    ))
}

/// The machine, clocked as the request says.
fn clocked(setup: &Setup, target: &Target) -> Result<(Box<dyn Mcu>, ClockSource), LabError> {
    let bad = |problem| LabError::BadFile { path: target.file(), problem };
    let crystal = target.part.clock.as_ref().map(|clock| clock.crystal_hz);
    let given = match (setup.clock_hz, setup.crystal_hz, crystal) {
        (Some(_), Some(_), _) => {
            return Err(LabError::Usage(
                "give --clock, at which the core runs whatever the program sets, or --crystal, from which the program makes its clock"
                    .into(),
            ));
        }
        (Some(_), None, _) => ClockSource::Request,
        (None, Some(_), None | Some(None)) => {
            let said = format!(
                "{}: no crystal is modelled that its clock is made from; give --clock",
                target.name()
            );
            return Err(LabError::Usage(said));
        }
        (None, None, None) => ClockSource::Default,
        (None, _, Some(_)) => {
            let machine = new_clocked_machine(&target.part, setup.crystal_hz).map_err(bad)?;
            return Ok((machine, ClockSource::Program));
        }
    };
    let point = target.operating_point(setup.clock_hz, setup.supply_v)?;
    Ok((new_machine(&target.part, point.clock_hz).map_err(bad)?, given))
}

/// Mistakes that a run passed over, and blocks that only remembered writes: a sentence each, for a
/// person.
pub(crate) fn reservations(machine: &dyn Mcu, target: &Target) -> Vec<String> {
    let tolerated = machine.tolerated().into_iter();
    let tolerated = tolerated.map(|(what, count)| format!("passed over {count} times: {what}"));
    let stubs = machine.stub_uses().into_iter().map(|StubUse { name, reads, writes }| {
        format!("{name} only remembered what was written: {reads} reads, {writes} writes")
    });
    let sister = target.sister_of.iter().zip(&target.differs).map(|(base, differs)| {
        format!("{} is modelled as the {base} with other sizes; what differs, too: {differs}", target.name())
    });
    sister.chain(tolerated).chain(stubs).collect()
}

/// Advice on a fault of a machine that `--lenient` can pass over, as the end of its sentence.
pub(crate) fn advice_on(
    machine: &dyn Mcu,
    fault: &mcu::Fault,
    target: &Target,
    firmware: &Firmware,
) -> String {
    match machine.refused() {
        Some(_) => "; the part goes on all the same, and so does --lenient, which counts it".into(),
        None => advice(fault, target, firmware),
    }
}

/// Remark on a fault of a program that is built for another part.
fn other_device(target: &Target, firmware: &Firmware) -> Option<String> {
    // A target may be a variant of the part that the compiler knows, such as atmega128l of
    // atmega128.
    let device = firmware.device().filter(|device| !target.name().starts_with(*device))?;
    Some(format!(
        "; the file says that it is built for the {device}: build it for this part, or give --target {device}"
    ))
}

/// Advice on a fault, as the end of its sentence.
pub(crate) fn advice(fault: &mcu::Fault, target: &Target, firmware: &Firmware) -> String {
    let erased = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0xff);
    other_device(target, firmware).unwrap_or_else(|| match fault {
        mcu::Fault::Opcode { bytes, pc } if erased(bytes) && !firmware.is_code(*pc) => {
            "; that is erased flash: a wild jump, return or pointer, or a part of the program that is not in the file".into()
        }
        _ => advice_of_part(fault, target),
    })
}

/// Advice of the part's file on a fault.
fn advice_of_part(fault: &mcu::Fault, target: &Target) -> String {
    let gives = "registers that remember what is written, which lets a program go on that only passes by";
    match fault {
        mcu::Fault::BitBand { fault, .. } => advice_of_part(fault, target),
        mcu::Fault::Unmapped { kind: "fetch", address, .. } => match target.part.unmodelled_at(*address) {
            Some(block) => format!("; these are registers of {}: a wild jump, return or pointer", block.name),
            None => "; a wild jump, return or pointer".into(),
        },
        mcu::Fault::Unmapped { address, .. } => match target.part.unmodelled_at(*address) {
            Some(block) => {
                let name = &block.name;
                let console = if block.usb {
                    "; a console that the program has there cannot be shown: build it with its console at a UART"
                } else {
                    ""
                };
                format!(
                    "; this is a register of {name}, which has no model: --stub {name} gives it {gives}{console}"
                )
            }
            None => {
                // Of a 32-bit part a block of 1 kB, else a few registers; what has a model in it
                // keeps it.
                let within = if *address >= 0x4000_0000 { 0x3ff } else { 0xf };
                let (first, last) = (address & !within, address | within);
                format!("; if there are registers, --stub {first:#010x}-{last:#010x} gives {gives}")
            }
        },
        mcu::Fault::Peripheral { device, .. }
            if target.part.peripherals.iter().any(|spec| spec.name == *device) =>
        {
            format!("; --stub {device} gives {gives}, in place of its model")
        }
        mcu::Fault::Peripheral { device, address, .. } if device == mcu::SYSTEM_CONTROL_SPACE => {
            let (first, last) = (address & !3, address | 3);
            format!("; --stub {first:#010x}-{last:#010x} gives {gives}")
        }
        _ => String::new(),
    }
}
