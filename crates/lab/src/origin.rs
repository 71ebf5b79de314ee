//! Origin of figures: program, source tree, target file, compiler, seed.

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// Program and source tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The program's version.
    pub version: String,
    pub commit: Commit,
}

impl Origin {
    /// This program, and the commit of a project's folder.
    #[must_use]
    pub fn of(folder: Option<&Path>) -> Origin {
        Origin { version: env!("CARGO_PKG_VERSION").into(), commit: Commit::of(folder) }
    }

    /// Looks the commit up, before the figures of rows that show it: the tree may change while they
    /// are measured.
    pub fn look_up(&self) {
        let _known = self.commit.as_str();
    }
}

/// Commit of a source tree, with `-dirty` where a file of it differs, or that of a release without
/// a tree; otherwise `unknown`. It is looked up where it is first shown: a table shows none.
#[derive(Clone, Debug)]
pub struct Commit(Arc<Lookup>);

#[derive(Debug)]
struct Lookup {
    folder: Option<PathBuf>,
    found: OnceLock<String>,
}

impl Commit {
    pub(crate) fn of(folder: Option<&Path>) -> Commit {
        Commit(Arc::new(Lookup { folder: folder.map(Path::to_owned), found: OnceLock::new() }))
    }

    /// Its name, looked up the first time.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let Lookup { folder, found } = &*self.0;
        found.get_or_init(|| name(folder.as_deref(), option_env!("WATTSEAL_COMMIT")))
    }
}

/// Name of a folder's commit; without a folder that of the release, whose sources are in the
/// program.
fn name(folder: Option<&Path>, release: Option<&str>) -> String {
    folder.map_or_else(|| release.map(str::to_owned), commit).unwrap_or_else(|| "unknown".into())
}

impl PartialEq for Commit {
    fn eq(&self, other: &Commit) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Commit {}

impl Serialize for Commit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Origin of a row's figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// Version of wattseal.
    pub version: String,
    /// Commit of the project's tree, with `-dirty` where a file of it differs, or of the release;
    /// `unknown` outside of both.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub commit: Commit,
    /// Name and version of the compiler; absent of firmware that was built elsewhere.
    pub compiler: Option<String>,
    /// SHA-256 of the target's file.
    pub target_sha256: String,
    /// Seed of the random inputs; absent where none were drawn.
    pub seed: Option<u64>,
}

impl Provenance {
    /// Provenance of figures on the target whose file has this text.
    pub(crate) fn new(
        origin: &Origin,
        target_text: &str,
        compiler: Option<String>,
        seed: Option<u64>,
    ) -> Provenance {
        let Origin { version, commit } = origin.clone();
        let digest = Sha256::digest(target_text.as_bytes());
        let target_sha256 = digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Provenance { version, commit, compiler, target_sha256, seed }
    }
}

/// Origin of a row as columns of CSV; compiler and seed are there already in some.
#[derive(Default, Serialize)]
pub(crate) struct OriginColumns<'a> {
    version: &'a str,
    commit: &'a str,
    target_sha256: &'a str,
}

impl<'a> From<&'a Provenance> for OriginColumns<'a> {
    fn from(provenance: &'a Provenance) -> OriginColumns<'a> {
        let Provenance { version, commit, target_sha256, .. } = provenance;
        OriginColumns { version, commit: commit.as_str(), target_sha256 }
    }
}

/// Returns the commit of a folder; none where it is not the root of a repository. A folder inside
/// another repository has no commit of its own.
fn commit(root: &Path) -> Option<String> {
    // A folder, or in a work tree a file.
    if !root.join(".git").exists() {
        return None;
    }
    let root = root.canonicalize().ok()?;
    // No lock: another git may be at work in the tree.
    let mut command = Command::new("git");
    // Where `.git` is no repository, git would go up into another one.
    if let Some(outer) = root.parent() {
        command.env("GIT_CEILING_DIRECTORIES", outer);
    }
    command.arg("-C").arg(&root).args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    command.env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The day, UTC: `2026-11-28`.
#[must_use]
pub fn today() -> String {
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
        let origin = Origin::of(Some(&root));
        origin.look_up();
        std::fs::write(root.join("a"), "1").expect("a file");
        assert_eq!(commit(&root).as_ref(), Some(&clean));
        assert_eq!(origin.commit.as_str(), format!("{clean}-dirty"), "as it was before the figures");
        assert_eq!(commit(&root.join("inside")), None);
        assert_eq!(name(None, Some("0123456789ab")), "0123456789ab", "an installed program's");
        assert_eq!(name(None, None), "unknown");
        assert_eq!(name(Some(&root.join("inside")), Some("0123456789ab")), "unknown", "other sources");
        assert_eq!(name(Some(&root), Some("0123456789ab")), clean);
        std::fs::create_dir(root.join("inside/.git")).expect("a folder");
        assert_eq!(commit(&root.join("inside")), None, "not the outer repository's");
        std::fs::remove_dir_all(&root).expect("a folder");
    }
}
