//! Findings of a check for constant time, and of faults, as SARIF 2.1.0, which code scanning reads.
//!
//! Properties are those of the OASIS standard, sections 3.13 to 3.35. A finding without a source
//! line stands at the first line of the file that was checked.

use crate::LabError;
use crate::ct::firmware::{Checked, LeakRow};
use crate::ct::{ConstantTimeRow, Difference, Verdict};
use crate::page::percent_encoded;
use serde_json::{Value, json};
use std::path::Path;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The file of a finding in an operation without source lines.
const OPERATIONS: &str = "device/ops.toml";

/// A rule that a finding is against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Branch,
    Address,
    Time,
    Variable,
    Unread,
    Wrong,
    Uncompared,
    Failed,
    Bypass,
}

impl Rule {
    const ALL: [Rule; 9] = [
        Rule::Branch,
        Rule::Address,
        Rule::Time,
        Rule::Variable,
        Rule::Unread,
        Rule::Wrong,
        Rule::Uncompared,
        Rule::Failed,
        Rule::Bypass,
    ];

    fn of(kind: Difference) -> Rule {
        match kind {
            Difference::Branch => Rule::Branch,
            Difference::Address => Rule::Address,
            Difference::Time => Rule::Time,
        }
    }

    /// Name and description.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Rule::Branch => ("secret-dependent-branch", "The next instruction depends on a secret."),
            Rule::Address => ("secret-dependent-address", "The address of an access depends on a secret."),
            Rule::Time => ("secret-dependent-time", "The time of an instruction depends on a secret."),
            Rule::Variable => ("secret-dependent-run", "Two runs with different secrets differ."),
            Rule::Unread => ("secret-unread", "No instruction read the secret, so nothing is known of it."),
            Rule::Wrong => ("wrong-output", "The output is wrong, so nothing was checked."),
            Rule::Uncompared => ("output-not-compared", "The output was compared with nothing."),
            Rule::Failed => ("not-run", "It was not built or did not return, so nothing was checked."),
            Rule::Bypass => ("fault-bypass", "A single fault leads to a marker that is bad."),
        }
    }

    /// The level of a finding: what is only not known is a note.
    fn level(self) -> &'static str {
        if self == Rule::Uncompared { "note" } else { "error" }
    }

    fn help(self) -> &'static str {
        match self {
            Rule::Bypass => "docs/how-to/faults.md says what a campaign does and what to do about a bypass.",
            _ => "docs/how-to/constant-time.md says what the check does and what to do about a finding.",
        }
    }

    fn descriptor(self) -> Value {
        let (id, text) = self.texts();
        json!({
            "id": id,
            "shortDescription": {"text": text},
            "fullDescription": {"text": text},
            "help": {"text": self.help()},
            "defaultConfiguration": {"level": self.level()},
            "properties": {"tags": ["security"]},
        })
    }
}

/// Findings of a check of operations; what is accepted is suppressed with its reason.
pub(super) fn of_operations(rows: &[ConstantTimeRow], error: Option<&LabError>) -> Result<String, LabError> {
    let mut results = Vec::new();
    for row in rows {
        let subject = format!("{} {} on {}", row.op, row.variant, row.target);
        let what = row.what.as_deref().unwrap_or_default();
        let place = row.place.as_deref().unwrap_or_default();
        let mut add = |rule: Rule, text: &str| {
            let message = format!("{subject}: {text}");
            results.push(result(rule, &message, place, Path::new(OPERATIONS), None));
        };
        match row.verdict {
            Verdict::Variable => add(Rule::Variable, what),
            Verdict::Unread => add(Rule::Unread, what),
            Verdict::Wrong => add(Rule::Wrong, "wrong output"),
            Verdict::Uncompared => {
                add(Rule::Uncompared, "constant, but the output was compared with nothing")
            }
            Verdict::Failed => add(Rule::Failed, what),
            Verdict::Constant | Verdict::Dependent | Verdict::Public => {}
        }
        for dependence in &row.leaks {
            let accepted = dependence.accepted.as_deref();
            results.push(leak(&dependence.leak, &subject, Path::new(OPERATIONS), accepted));
        }
    }
    document(&results, error)
}

/// Findings of a check of a user's function.
pub(super) fn of_firmware(checked: &Checked, function: &str, elf: &Path) -> Result<String, LabError> {
    let leaks = checked.leaks.iter().map(|row| leak(row, function, elf, None));
    let unread = checked.reads.unread().into_iter();
    let unread = unread.map(|text| result(Rule::Unread, &format!("{function}: {text}"), "", elf, None));
    let results: Vec<Value> = leaks.chain(unread).collect();
    document(&results, checked.failure.as_ref())
}

/// Bypasses of a fault campaign, each with its place; `incomplete` says why there may be more.
pub(super) fn of_faults<'a>(
    bypasses: impl Iterator<Item = (String, &'a str)>,
    subject: &str,
    elf: &Path,
    incomplete: Option<String>,
) -> Result<String, LabError> {
    let found =
        bypasses.map(|(text, place)| result(Rule::Bypass, &format!("{subject}: {text}"), place, elf, None));
    let results: Vec<Value> = found.collect();
    document(&results, incomplete.map(LabError::Unfinished).as_ref())
}

fn leak(row: &LeakRow, subject: &str, file: &Path, accepted: Option<&str>) -> Value {
    let times = if row.times == 1 { String::new() } else { format!(", {} times", row.times) };
    let message =
        format!("{subject}: {} depends on {} at {:#x}{times}", row.kind.name(), row.secrets, row.pc);
    result(Rule::of(row.kind), &message, &row.place, file, accepted)
}

/// A result at a place such as `f+0x10 at f.c:12`.
fn result(rule: Rule, message: &str, place: &str, file: &Path, accepted: Option<&str>) -> Value {
    let (function, line) = place.split_once(" at ").unwrap_or((place, ""));
    let source = line.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<u32>().ok()?)));
    let (path, line) = source.map_or((file.to_path_buf(), 1), |(path, line)| (path.into(), line));
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&path)},
            "region": {"startLine": line.max(1)},
        },
    });
    let function = function.split('+').next().unwrap_or_default();
    if !function.is_empty() {
        location["logicalLocations"] = json!([{"name": function, "kind": "function"}]);
    }
    let index = Rule::ALL.iter().position(|known| *known == rule);
    let mut result = json!({
        "ruleId": rule.texts().0,
        "ruleIndex": index,
        "level": rule.level(),
        "message": {"text": message},
        "locations": [location],
    });
    if let Some(reason) = accepted {
        result["suppressions"] = json!([{"kind": "external", "status": "accepted", "justification": reason}]);
    }
    result
}

/// The URI of a file: relative to the working folder where it lies in that, as a repository's
/// files do.
fn uri(path: &Path) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let inside = path.strip_prefix(&folder).unwrap_or(path);
    let escaped = percent_encoded(&inside.to_string_lossy());
    if inside.is_absolute() { format!("file://{escaped}") } else { escaped }
}

/// `error` says why the run did not come to its end.
fn document(results: &[Value], error: Option<&LabError>) -> Result<String, LabError> {
    let rules: Vec<Value> = Rule::ALL.iter().map(|rule| rule.descriptor()).collect();
    let mut invocation = json!({"executionSuccessful": error.is_none()});
    if let Some(error) = error {
        let message = json!({"text": error.to_string()});
        invocation["toolExecutionNotifications"] = json!([{"level": "error", "message": message}]);
    }
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "wattseal",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    Ok(output::json(&document)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: &str) -> LeakRow {
        let secrets = "key".into();
        LeakRow {
            kind: Difference::Branch,
            place: place.into(),
            inlined: String::new(),
            pc: 0x120,
            secrets,
            times: 3,
        }
    }

    #[test]
    fn finding_has_its_line_its_function_and_its_rule() {
        let found = leak(&row("f+0x10 at src/a b.c:12"), "f", Path::new("f.elf"), None);
        let location = &found["locations"][0];
        let physical = &location["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "src/a%20b.c");
        assert_eq!(physical["region"]["startLine"], 12);
        assert_eq!(location["logicalLocations"][0]["name"], "f");
        assert_eq!(found["message"]["text"], "f: branch depends on key at 0x120, 3 times");
        let index = found["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(Rule::ALL[index].texts().0, found["ruleId"]);
        assert!(found["suppressions"].is_null());
    }

    #[test]
    fn finding_without_a_line_stands_in_the_checked_file() {
        let found = leak(&row("f+0x10"), "f", Path::new("/tmp/f.elf"), Some("it is fine"));
        let physical = &found["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "file:///tmp/f.elf");
        assert_eq!(physical["region"]["startLine"], 1);
        assert_eq!(found["suppressions"][0]["justification"], "it is fine");
    }
}
