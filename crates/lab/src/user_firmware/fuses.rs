//! Signature and brown-out detector of the part that an AVR's image names.

use crate::LabError;
use crate::target::Target;
use crate::workspace::Workspace;
use firmware::Firmware;
use mcu::{FUSES, Mcu, Signature};

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
