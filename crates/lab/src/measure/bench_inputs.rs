//! The inputs of a bench's firmware that is measured by itself: those of `bench`, so that it does
//! what `bench` says the cost of.

use crate::LabError;
use crate::harness::{Buffers, READY};
use crate::operations::{Catalogue, Operation};
use crate::reference::random_case;
use crate::target::Target;
use crate::workspace::Workspace;
use firmware::Firmware;
use mcu::Mcu;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Default seed of the random inputs of `bench`.
const SEED: u64 = 1;

/// Inputs that are written into a bench's firmware when it first waits for them.
pub(super) struct BenchInputs<'f> {
    operation: Operation,
    firmware: &'f Firmware,
    pub ready: u32,
}

impl<'f> BenchInputs<'f> {
    /// Of the operation that the file is named after; none for what is no bench's firmware.
    ///
    /// # Errors
    /// A list of operations that cannot be read.
    pub fn of(
        workspace: &Workspace,
        target: &Target,
        firmware: &'f Firmware,
    ) -> Result<Option<BenchInputs<'f>>, LabError> {
        let Some(ready) = firmware.symbols().get(READY) else { return Ok(None) };
        let name = firmware.path().file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let operations = Catalogue::read(workspace)?.of(target)?;
        let operation = operations.into_iter().find(|operation| operation.name == name);
        Ok(operation.map(|operation| BenchInputs { operation, firmware, ready: ready.address }))
    }

    /// Writes them.
    ///
    /// # Errors
    /// Inputs that the firmware has no room for.
    pub fn write(&self, machine: &mut dyn Mcu) -> Result<(), LabError> {
        let BenchInputs { operation, firmware, .. } = self;
        let case = random_case(operation, usize::from(operation.bytes), &mut StdRng::seed_from_u64(SEED))?;
        Buffers { machine, firmware, what: &operation.name }.write(&case)
    }

    /// Remark on the inputs.
    pub fn remark(&self) -> String {
        let Operation { name, bytes, .. } = &self.operation;
        format!(
            "a firmware of bench: it got the inputs of {name} that bench measures, {bytes} bytes, and repeats it on them"
        )
    }
}
