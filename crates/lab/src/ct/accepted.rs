//! Accepted dependences on secrets: `constant-time.toml`.

use super::firmware::LeakRow;
use super::{ConstantTimeRow, Difference, Subject, Verdict};
use crate::operations::{Catalogue, VARIANTS};
use crate::workspace::Workspace;
use crate::{LabError, names};
use fast_glob::glob_match;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// File of the decisions, from the project's folder.
const FILE: &str = "constant-time.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionFile {
    #[serde(default)]
    accepted: Vec<Decision>,
}

/// A decision: what of `place` and on which secrets is fine, where.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    /// Patterns of operations, targets and variants; of these two all where there is none.
    ops: Vec<String>,
    #[serde(default)]
    targets: Vec<String>,
    #[serde(default)]
    variants: Vec<String>,
    kind: Difference,
    /// The secrets on which it may depend, and on no other.
    secrets: Vec<String>,
    /// A source file, and lines of it by their text or a part of that: compilers give a branch the
    /// line that it is for or one that it goes to.
    file: Option<String>,
    #[serde(default)]
    lines: Vec<String>,
    /// Or a function, where the toolchain gives no lines, and how many instructions of it at most.
    function: Option<String>,
    #[serde(default = "one")]
    instructions: usize,
    reason: String,
    /// The numbers of these lines.
    #[serde(skip)]
    numbers: Vec<u32>,
    #[serde(skip)]
    used: AtomicBool,
}

fn one() -> usize {
    1
}

/// The decisions, and which of them were needed.
#[derive(Debug, Default)]
pub struct Accepted {
    path: PathBuf,
    decisions: Vec<Decision>,
}

fn matches(patterns: &[String], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| glob_match(pattern, name))
}

impl Decision {
    fn covers(&self, target: &str, op: &str, variant: &str) -> bool {
        matches(&self.ops, op) && matches(&self.targets, target) && matches(&self.variants, variant)
    }

    /// Names the subject of a decision, for a message.
    fn subject(&self) -> String {
        match (&self.file, &self.function) {
            (Some(file), _) => format!("'{}' of {file}", self.lines.join("', '")),
            (None, Some(function)) => function.clone(),
            (None, None) => "nothing".into(),
        }
    }

    /// Looks the lines up.
    fn locate(&mut self, workspace: &Workspace) -> Result<(), String> {
        let (file, lines) = match (&self.file, &self.function) {
            (Some(file), None) if !self.lines.is_empty() => (file, &self.lines),
            (None, Some(_)) if self.lines.is_empty() => return Ok(()),
            _ => {
                return Err(
                    "a decision needs file and lines, or a function where the toolchain gives no lines"
                        .into(),
                );
            }
        };
        let (_, source) = workspace.read(file).map_err(|error| error.to_string())?;
        for text in lines {
            let found = source.lines().zip(1..).filter(|(line, _)| line.contains(text.as_str()));
            let numbers: Vec<u32> = found.map(|(_, number)| number).collect();
            match numbers.as_slice() {
                [number] => self.numbers.push(*number),
                [] => {
                    return Err(format!(
                        "{file} has no line with '{text}' any more: look where it went, or take the decision out"
                    ));
                }
                more => {
                    return Err(format!(
                        "{file} has {} lines with '{text}': give more of the one that is meant",
                        more.len()
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Accepted {
    /// Reads the decisions, and checks that all that they name exists.
    ///
    /// # Errors
    /// [`LabError::File`]; [`LabError::BadFile`] for a malformed file, or for a decision about an
    /// operation, a target, a variant or a line that does not exist.
    pub fn read(workspace: &Workspace, catalogue: &Catalogue) -> Result<Accepted, LabError> {
        let (path, text) = workspace.read(FILE)?;
        Accepted::parse(path, &text, workspace, catalogue)
    }

    /// Decisions that stand in a file.
    ///
    /// # Errors
    /// As [`Accepted::read`].
    pub fn parse(
        path: PathBuf,
        text: &str,
        workspace: &Workspace,
        catalogue: &Catalogue,
    ) -> Result<Accepted, LabError> {
        let bad = |problem: String| LabError::BadFile { path: path.clone(), problem };
        let file: DecisionFile = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        let mut decisions = file.accepted;
        let targets = workspace.targets_with_operations(&[])?;
        let targets: Vec<&str> = targets.iter().map(|target| target.name()).collect();
        for decision in &mut decisions {
            for (what, patterns, known) in [
                ("operation", &decision.ops, &catalogue.names()[..]),
                ("target", &decision.targets, &targets),
                ("variant", &decision.variants, &VARIANTS),
            ] {
                names::select(what, patterns, known).map_err(|error| bad(error.to_string()))?;
            }
            decision.locate(workspace).map_err(bad)?;
        }
        Ok(Accepted { path, decisions })
    }

    /// Of each leak of an operation why it is fine, where that is decided.
    pub(super) fn reasons(&self, subject: &Subject<'_>, leaks: &[LeakRow]) -> Vec<Option<String>> {
        let found: Vec<Option<&Decision>> = leaks.iter().map(|leak| self.decision(subject, leak)).collect();
        // A function is no line: more instructions of it are more than was decided on.
        let is_all = |decision: &Decision| {
            let same = |other: &&&Decision| std::ptr::eq(**other, decision);
            decision.function.is_none()
                || found.iter().flatten().filter(same).count() <= decision.instructions
        };
        let reason = |decision: &Option<&Decision>| {
            let decision = decision.filter(|decision| is_all(decision))?;
            decision.used.store(true, Ordering::Relaxed);
            Some(decision.reason.clone())
        };
        found.iter().map(reason).collect()
    }

    /// The decision that is about a leak.
    fn decision(&self, subject: &Subject<'_>, leak: &LeakRow) -> Option<&Decision> {
        let firmware = subject.firmware;
        let at = firmware.source_line(leak.pc);
        let function = firmware.function_at(leak.pc).map(|index| &firmware.functions()[index].name);
        let is_here = |decision: &&Decision| {
            let place = match &decision.function {
                Some(name) => function == Some(name),
                None => at.as_ref().is_some_and(|(file, line)| {
                    decision.file.as_ref() == Some(file) && decision.numbers.contains(line)
                }),
            };
            place
                && decision.kind == leak.kind
                && decision.covers(subject.target.name(), &subject.operation.name, subject.variant)
                && leak.secrets.split(' ').all(|secret| decision.secrets.iter().any(|known| known == secret))
        };
        self.decisions.iter().find(is_here)
    }

    /// Refuses a decision that no row needed although all were made that it is about.
    ///
    /// # Errors
    /// [`LabError::BadFile`], with what it is about.
    pub fn all_needed(
        &self,
        workspace: &Workspace,
        catalogue: &Catalogue,
        rows: &[ConstantTimeRow],
    ) -> Result<(), LabError> {
        let unused: Vec<&Decision> =
            self.decisions.iter().filter(|decision| !decision.used.load(Ordering::Relaxed)).collect();
        if unused.is_empty() {
            return Ok(());
        }
        let made = |target: &str, op: &str, variant: &str| {
            rows.iter().any(|row| {
                row.verdict != Verdict::Wrong
                    && row.target == target
                    && row.op == op
                    && row.variant == variant
            })
        };
        // Once for all decisions: each copies the operations of every target.
        let mut built: Vec<(String, String, &str)> = Vec::new();
        for target in workspace.targets_with_operations(&[])? {
            for variant in VARIANTS {
                let operations = catalogue.built_as(&target, variant)?.into_iter();
                built.extend(operations.map(|operation| (target.name().to_owned(), operation.name, variant)));
            }
        }
        for decision in unused {
            let complete = built.iter().all(|(target, operation, variant)| {
                !decision.covers(target, operation, variant) || made(target, operation, variant)
            });
            if complete {
                return Err(LabError::BadFile {
                    path: self.path.clone(),
                    problem: format!(
                        "the decision about {} ({}) matches nothing any more: take it out",
                        decision.subject(),
                        decision.ops.join(" ")
                    ),
                });
            }
        }
        Ok(())
    }
}
