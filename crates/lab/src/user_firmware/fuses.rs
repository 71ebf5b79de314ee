//! Fuses of an AVR as its user gives them; signature and brown-out detector that an image names.

use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, units};
use firmware::Firmware;
use mcu::{FUSES, Image, Mcu, Signature};
use std::str::FromStr;

/// First address of data in an ELF file, behind all code.
const DATA: u32 = 0x80_0000;

/// The names of the fuse bytes, from the lowest on.
const NAMES: [&str; 3] = ["low", "high", "extended"];

/// A fuse byte with its value, as a programmer would write it: `high=0xD8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseByte {
    /// 0 for the low, 1 for the high, 2 for the extended byte.
    pub index: usize,
    /// Its value; a programmed fuse is 0.
    pub value: u8,
}

impl FromStr for FuseByte {
    type Err = String;

    fn from_str(text: &str) -> Result<FuseByte, String> {
        let parsed = text.split_once('=').and_then(|(name, value)| {
            let index = NAMES.iter().position(|known| *known == name)?;
            let value = units::address(value).ok().and_then(|value| u8::try_from(value).ok())?;
            Some(FuseByte { index, value })
        });
        parsed.ok_or_else(|| {
            "write the byte and its value, such as high=0xD8; bytes are low, high and extended".into()
        })
    }
}

/// Programs the fuse bytes that the user gives, over those of the image.
pub(super) fn program(machine: &mut dyn Mcu, target: &Target, fuses: &[FuseByte]) -> Result<(), LabError> {
    let bytes = target.part.fuses.as_ref().map_or(0, |fuses| fuses.bytes);
    for FuseByte { index, value } in fuses {
        if *index >= bytes || !machine.poke(FUSES + *index as u32, &[*value]) {
            let has = match bytes {
                0 => "no fuses".to_owned(),
                bytes => format!("no fuse byte but {}", NAMES[..bytes].join(", ")),
            };
            return Err(LabError::Usage(format!(
                "--fuse {}: the {} has {has}",
                NAMES[*index],
                target.name()
            )));
        }
    }
    Ok(())
}

/// Refuses an image that lies at a boot section's start alone, where a reset goes elsewhere.
pub(super) fn check_start(machine: &dyn Mcu, target: &Target, image: &Image) -> Result<(), LabError> {
    let Some(fuses) = &target.part.fuses else { return Ok(()) };
    let (Some(reset), Some(size)) = (fuses.boot_reset, fuses.boot_size) else { return Ok(()) };
    let code = image.segments.iter().filter(|segment| segment.address < DATA && !segment.bytes.is_empty());
    let first = code.map(|segment| segment.address).min();
    let starts = |first: u32| fuses.boot_starts.iter().position(|start| *start == first);
    let Some((first, section)) = first.and_then(|first| Some((first, starts(first)?))) else { return Ok(()) };
    if machine.pc() == first {
        return Ok(());
    }
    let sections = (section as u8) << size.mask.trailing_zeros().min(7);
    let value = !reset.mask & !size.mask | sections & size.mask;
    Err(LabError::Usage(format!(
        "the program begins at {first:#x}, a boot section of the {}, and the fuses let a reset begin at {:#x}, where it has nothing; \
         give --fuse {}={value:#04x} (BOOTRST), or its own fuses",
        target.name(),
        machine.pc(),
        NAMES[reset.byte.min(NAMES.len() - 1)]
    )))
}

/// An image that names its part by a signature must be for this target.
pub(super) fn check_signature(
    workspace: &Workspace,
    target: &Target,
    firmware: &Firmware,
) -> Result<(), LabError> {
    let own = target.part.fuses.as_ref().map(|fuses| Signature(fuses.signature));
    let (Some(own), Some(built_for)) = (own, firmware.image().signature()) else { return Ok(()) };
    if own == built_for {
        return Ok(());
    }
    let mut names = workspace.target_names()?;
    names.extend(workspace.sisters()?.into_iter().flat_map(|(_, sister)| sister.names));
    let others = names.iter().filter_map(|name| workspace.target(name).ok());
    let is_it =
        |other: &Target| other.part.fuses.as_ref().is_some_and(|fuses| fuses.signature == built_for.0);
    let other = others.into_iter().find(is_it);
    let (part, advice) = match &other {
        Some(other) => (format!("the {}", other.name()), format!("give --target {}", other.name())),
        None => ("a part that is no target".into(), "build it for one of the targets".into()),
    };
    let problem = format!(
        "built for {part} (signature {built_for}), but the target is the {} (signature {own}); {advice}",
        target.name()
    );
    Err(LabError::BadFile { path: firmware.path().into(), problem })
}

/// The brown-out detector that the fuses switch on must let the part run at this supply.
pub(super) fn check_brown_out(machine: &dyn Mcu, target: &Target, supply_v: f64) -> Result<(), LabError> {
    let Some(fuses) = &target.part.fuses else { return Ok(()) };
    let Some(field) = fuses.brown_out else { return Ok(()) };
    let mut bytes = vec![0; fuses.bytes];
    if !machine.peek(FUSES, &mut bytes) {
        return Ok(());
    }
    let level = field.of(&bytes);
    let row = target.supply.brown_outs.iter().find(|row| row.fuse == Some(level));
    match row.filter(|row| supply_v < row.rising_v) {
        None => Ok(()),
        Some(row) => Err(LabError::Usage(format!(
            "{}: at {supply_v} V the brown-out detector that the image's fuses switch on ({}) holds the part in reset until {} V; \
             raise --supply",
            target.name(),
            row.name,
            row.rising_v
        ))),
    }
}
