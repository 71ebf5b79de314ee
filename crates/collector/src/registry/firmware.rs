//! The firmware that a meter is provisioned for, as it was linked.

use super::RegistryError;
use object::{Object, ObjectSymbol};
use std::path::Path;
use wire::meter::{SUITES_SYMBOL, Suite};

/// Sees to it that a build of the meter's firmware has a suite: a meter that is provisioned with
/// another one does not start.
///
/// # Errors
/// [`RegistryError::NoSuite`]; a file that is no such firmware.
pub fn require_suite(path: &Path, suite: Suite) -> Result<(), RegistryError> {
    let failed = |error| RegistryError::File { path: path.into(), error };
    let bad = |problem: &str| RegistryError::Bad { path: path.into(), problem: problem.to_owned() };
    let bytes = std::fs::read(path).map_err(failed)?;
    let file = object::File::parse(&*bytes).map_err(|_| {
        bad("it is no ELF file; give the meter's firmware as device/Makefile links it, meter.elf")
    })?;
    let symbol = file.symbol_by_name(SUITES_SYMBOL).ok_or_else(|| {
        bad("it has no symbol ws_meter_suites: it is not the meter's firmware, or its symbols were stripped")
    })?;
    let suites = Suite::of_build(symbol.address() as u32);
    if suites.contains(&suite) {
        return Ok(());
    }
    let has = suites.iter().map(|suite| suite.name()).collect::<Vec<_>>().join(", ");
    Err(RegistryError::NoSuite { path: path.into(), suite, has })
}
