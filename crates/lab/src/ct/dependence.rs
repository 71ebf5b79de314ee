//! Instructions of an operation that depend on its secrets: its inputs are labelled and followed in
//! one run ([`mcu::Taint`]).

use super::accepted::Accepted;
use super::firmware::LeakRow;
use super::reads::Reads;
use super::{Subject, row_of};
use crate::LabError;
use crate::harness::OperationRun;
use crate::operations::{InputBytes, Operation};
use crate::reference::Case;
use mcu::{Labels, Tables};
use serde::Serialize;
use std::ops::Range;

/// An instruction of an operation through which secrets show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dependence {
    /// The instruction.
    #[serde(flatten)]
    pub leak: LeakRow,
    /// Why that is fine, where `constant-time.toml` says so.
    pub accepted: Option<String>,
}

/// Effects of an operation's secrets in one run.
pub(super) struct Followed {
    /// Dependent instructions, by address.
    pub leaks: Vec<Dependence>,
    /// Reads of the secrets.
    pub reads: Reads,
}

/// A secret of an operation: its name, the input that it is in, and which bytes of it.
fn secrets(operation: &Operation, case: &Case) -> Vec<(String, String, Range<usize>)> {
    let length =
        |input: &str| case.inputs.iter().find(|(name, _)| *name == input).map_or(0, |(_, bytes)| bytes.len());
    if !operation.secret.is_empty() {
        let named = |(name, bytes): (&String, &InputBytes)| {
            (name.clone(), bytes.input.clone(), bytes.within(length(&bytes.input)))
        };
        return operation.secret.iter().map(named).collect();
    }
    // Of an input that is fixed from an offset on, what comes before.
    let fixed = |input: &str| operation.fixed.iter().find(|fixed| fixed.input == input);
    let varied = |input: &str| 0..fixed(input).map_or(length(input), |fixed| fixed.from);
    case.inputs.iter().map(|(name, _)| ((*name).to_owned(), (*name).to_owned(), varied(name))).collect()
}

/// Runs an operation once on the inputs of `case`. Returns the instructions that depend on its
/// secrets, and the reads of them.
///
/// # Errors
/// As [`OperationRun::follow`]; more secrets than can be told apart.
pub(super) fn find(
    mut bench: OperationRun<'_>,
    subject: &Subject<'_>,
    case: &Case,
    return_to: u32,
    tables: &Tables,
    accepted: &Accepted,
) -> Result<Followed, LabError> {
    let mut secrets = secrets(subject.operation, case);
    secrets.retain(|(_, _, bytes)| !bytes.is_empty());
    if secrets.len() > Labels::BITS as usize {
        let name = &subject.operation.name;
        return Err(LabError::Usage(format!(
            "{name}: at most {} secrets can be told apart; give it fewer in device/ops.toml",
            Labels::BITS
        )));
    }
    let labelled = |(index, (_, input, bytes)): (usize, &(String, String, Range<usize>))| {
        let address = bench.buffer(input)?.address;
        Ok((address + bytes.start as u32..address + bytes.end as u32, 1 << index))
    };
    let ranges: Vec<(Range<u32>, Labels)> =
        secrets.iter().enumerate().map(labelled).collect::<Result<_, LabError>>()?;
    let taint = bench.follow(case, return_to, &ranges, tables)?;
    let mut leaks = taint.leaks().to_vec();
    leaks.sort_by_key(|leak| (leak.pc, leak.kind));
    let names: Vec<&str> = secrets.iter().map(|(name, _, _)| name.as_str()).collect();
    let leaks: Vec<LeakRow> = leaks.iter().map(|leak| row_of(subject.firmware, &names, leak)).collect();
    let reasons = accepted.reasons(subject, &leaks);
    let dependence = |(leak, accepted)| Dependence { leak, accepted };
    let leaks = leaks.into_iter().zip(reasons).map(dependence).collect();
    Ok(Followed { leaks, reads: Reads::of(&taint, &names) })
}
