//! The origin of a paper's figures: program, source tree, targets, compilers, date.

use lab::LabError;
use lab::workspace::Workspace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// Program and source tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The program's version.
    pub version: String,
    /// Commit of the source tree, with `-dirty` where a file of it differs; `unknown` where there
    /// is no repository.
    pub commit: String,
}

/// Target of a paper's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetOrigin {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Name and version of its compiler: `avr-gcc 5.4.0`.
    pub compiler: String,
}

/// Origin of a paper's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Program and source tree.
    pub origin: Origin,
    /// Day of the run, UTC: `2026-11-28`.
    pub date: String,
    /// Random inputs for each figure.
    pub runs: u32,
    /// The targets that were run.
    pub targets: Vec<TargetOrigin>,
}

impl Origin {
    /// This program, and the commit of a project's folder.
    pub(super) fn of(workspace: &Workspace) -> Result<Origin, LabError> {
        let commit = commit(workspace.root()?).unwrap_or_else(|| "unknown".into());
        Ok(Origin { version: env!("CARGO_PKG_VERSION").into(), commit })
    }
}

impl Provenance {
    pub(super) fn of(
        workspace: &Workspace,
        origin: Origin,
        runs: u32,
        compilers: &BTreeMap<String, String>,
    ) -> Result<Provenance, LabError> {
        let target = |(name, compiler): (&String, &String)| {
            let file = workspace.target(name)?.file();
            Ok(TargetOrigin { name: name.clone(), file, compiler: compiler.clone() })
        };
        Ok(Provenance {
            origin,
            date: today(),
            runs,
            targets: compilers.iter().map(target).collect::<Result<_, LabError>>()?,
        })
    }
}

/// Returns the commit of a folder; none where it is not the root of a repository. A folder inside
/// another repository has no commit of its own.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        // No lock: another git may be at work in the tree.
        let mut command = Command::new("git");
        command.arg("-C").arg(root).args(arguments).env("GIT_OPTIONAL_LOCKS", "0");
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}

fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// The date of a day since 1970-01-01, by the Gregorian calendar.
fn date(day: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut rest) = (1970, day);
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < days {
            break;
        }
        rest -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates_of_the_calendar() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_422, "2025-11-30"),
            (20_453, "2025-12-31"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(date(day), expected);
        }
    }

    #[test]
    fn commit_says_whether_a_file_of_the_tree_differs() {
        let root = std::env::temp_dir().join(format!("wattseal-commit-{}", std::process::id()));
        std::fs::create_dir_all(root.join("inside")).expect("a folder");
        std::fs::write(root.join("a"), "1").expect("a file");
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(&root).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
            assert!(command.output().expect("git").status.success(), "{arguments:?}");
        };
        assert_eq!(commit(&root), None);
        git(&["init", "--quiet"]);
        git(&["add", "a"]);
        git(&["commit", "--quiet", "-m", "a"]);
        let clean = commit(&root).expect("a commit");
        assert!(clean.len() == 12 && clean.chars().all(|digit| digit.is_ascii_hexdigit()), "{clean}");
        std::fs::write(root.join("a"), "22").expect("a file");
        assert_eq!(commit(&root), Some(format!("{clean}-dirty")));
        assert_eq!(commit(&root.join("inside")), None);
        std::fs::remove_dir_all(&root).expect("a folder");
    }
}
