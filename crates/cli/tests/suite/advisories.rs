//! No dependency with an advisory of RustSec that nobody has looked at: Cargo.lock against
//! `advisories/rustsec.toml`, a copy of the advisory database (its date is in it), or against a
//! checkout of the database that ADVISORY_DB names. To renew the copy:
//! `ADVISORY_DB=/path/to/advisory-db cargo test -p wattseal-cli --test suite -- --ignored renew`

use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The database as it is kept here.
#[derive(Serialize, Deserialize)]
struct Database {
    /// The day of its last commit.
    copied: String,
    commit: String,
    advisories: Vec<Advisory>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Advisory {
    id: String,
    package: String,
    title: String,
    /// `unmaintained`, `unsound`, `notice`; none for a vulnerability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    informational: Option<String>,
    #[serde(default)]
    patched: Vec<VersionReq>,
    #[serde(default)]
    unaffected: Vec<VersionReq>,
}

#[derive(Deserialize)]
struct Accepted {
    id: String,
    reason: String,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Version,
    /// None of those that are ours.
    source: Option<String>,
}

impl Advisory {
    fn concerns(&self, package: &Package) -> bool {
        let is_in =
            |requirements: &[VersionReq]| requirements.iter().any(|one| one.matches(&package.version));
        package.source.is_some()
            && self.package == package.name
            && !is_in(&self.patched)
            && !is_in(&self.unaffected)
    }
}

/// Returns the advisories on the packages that are not accepted, and the acceptances without an
/// advisory.
fn findings(advisories: &[Advisory], packages: &[Package], accepted: &[Accepted]) -> Vec<String> {
    let mut found = Vec::new();
    let mut concerned = BTreeSet::new();
    for advisory in advisories {
        for package in packages.iter().filter(|package| advisory.concerns(package)) {
            concerned.insert(advisory.id.as_str());
            if !accepted.iter().any(|one| one.id == advisory.id) {
                let kind = advisory.informational.as_deref().unwrap_or("vulnerability");
                let Advisory { id, title, .. } = advisory;
                found.push(format!("{} {}: {id} ({kind}): {title}", package.name, package.version));
            }
        }
    }
    for one in accepted {
        if one.reason.trim().is_empty() || !concerned.contains(one.id.as_str()) {
            found.push(format!("{} is accepted, without a reason or for nothing in Cargo.lock", one.id));
        }
    }
    found
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file<T: for<'a> Deserialize<'a>>(path: &str) -> T {
    let path = home().join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct AllAccepted {
    accepted: Vec<Accepted>,
}

/// The words of `./wattseal test` about the copy's age on a day.
fn age(today: &str) -> String {
    let ran = Command::new(home().join("advisories/age")).arg(today).output().expect("bash");
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stderr).expect("text")
}

#[test]
fn copy_that_is_older_than_30_days_is_warned_of() {
    let database: Database = file("advisories/rustsec.toml");
    let after = |days: u32| age(&format!("{} {days} days", database.copied));
    for days in [0, 30] {
        assert!(
            after(days).contains(&database.copied) && !after(days).contains("WARNING"),
            "{}",
            after(days)
        );
    }
    let old = after(31);
    assert!(old.contains("WARNING") && old.contains("31 days") && old.contains("renew"), "{old}");
}

#[test]
fn no_dependency_has_an_advisory_that_nobody_has_looked_at() {
    let (lock, accepted): (Lock, AllAccepted) = (file("Cargo.lock"), file("advisories/accepted.toml"));
    assert!(lock.package.len() > 100, "{} packages", lock.package.len());
    let database = match std::env::var_os("ADVISORY_DB") {
        Some(checkout) => checked_out(Path::new(&checkout)),
        None => file("advisories/rustsec.toml"),
    };
    println!("RustSec's advisories of {}", database.copied);
    let found = findings(&database.advisories, &lock.package, &accepted.accepted);
    assert!(
        found.is_empty(),
        "RustSec's advisories of {}:\n{}\nTake a patched version (cargo update -p PACKAGE), or say in advisories/accepted.toml why it \
         is not in the way",
        database.copied,
        found.join("\n")
    );
}

#[test]
fn findings_are_advisories_on_packages_in_the_lock_file() {
    let requirements =
        |texts: &[&str]| texts.iter().map(|text| text.parse().expect("a requirement")).collect();
    let advisory = Advisory {
        id: "RUSTSEC-2026-0104".to_owned(),
        package: "rustls-webpki".to_owned(),
        title: "Reachable panic".to_owned(),
        informational: None,
        patched: requirements(&[">= 0.103.13, < 0.104.0-alpha.1", ">= 0.104.0-alpha.7"]),
        unaffected: requirements(&["< 0.101.0"]),
    };
    let package = |name: &str, version: &str, source: Option<&str>| Package {
        name: name.to_owned(),
        version: version.parse().expect("a version"),
        source: source.map(str::to_owned),
    };
    let registry = Some("registry");
    let accept = |reason: &str| Accepted { id: advisory.id.clone(), reason: reason.to_owned() };
    let look =
        |package, accepted: &[Accepted]| findings(std::slice::from_ref(&advisory), &[package], accepted);
    for version in ["0.102.8", "0.103.12", "0.101.0"] {
        let found = look(package("rustls-webpki", version, registry), &[]);
        assert!(found[0].contains("RUSTSEC-2026-0104 (vulnerability): Reachable panic"), "{found:?}");
        assert!(look(package("rustls-webpki", version, registry), &[accept("no CRL is read")]).is_empty());
        assert_eq!(look(package("rustls-webpki", version, registry), &[accept(" ")]).len(), 1);
    }
    for version in ["0.103.13", "0.103.16", "0.104.0", "0.100.9"] {
        assert!(look(package("rustls-webpki", version, registry), &[]).is_empty(), "{version}");
        assert_eq!(look(package("rustls-webpki", version, registry), &[accept("for nothing")]).len(), 1);
    }
    assert!(look(package("webpki", "0.102.8", registry), &[]).is_empty());
    assert!(look(package("rustls-webpki", "0.102.9", None), &[]).is_empty(), "one of our own");
}

/// The database of a checkout: crates/PACKAGE/ID.md, each with TOML at its beginning and a title
/// below.
fn checked_out(checkout: &Path) -> Database {
    let git = |format: &str| {
        let mut command = Command::new("git");
        command.arg("-C").arg(checkout).args(["log", "-1", "--date=short", format]);
        let output = command.output().expect("git");
        assert!(output.status.success(), "ADVISORY_DB is to be a checkout of RustSec's advisory-db");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries =
            std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let mut advisories: Vec<Advisory> = entries(&checkout.join("crates"))
        .iter()
        .flat_map(|package| entries(package))
        .filter_map(|path| {
            advisory(&std::fs::read_to_string(&path).expect("text"))
                .unwrap_or_else(|| panic!("{}", path.display()))
        })
        .collect();
    assert!(advisories.len() > 500, "{} advisories", advisories.len());
    advisories.sort_by(|a, b| a.id.cmp(&b.id));
    Database { copied: git("--format=%cd"), commit: git("--format=%H"), advisories }
}

/// One advisory; `Some(None)`: it was withdrawn; `None`: it is none.
fn advisory(text: &str) -> Option<Option<Advisory>> {
    #[derive(Deserialize)]
    struct Head {
        advisory: About,
        versions: Versions,
    }
    #[derive(Deserialize)]
    struct About {
        id: String,
        package: String,
        informational: Option<String>,
        withdrawn: Option<String>,
    }
    #[derive(Deserialize)]
    struct Versions {
        patched: Vec<VersionReq>,
        #[serde(default)]
        unaffected: Vec<VersionReq>,
    }
    let (head, rest) = text.split_once("```toml\n")?.1.split_once("\n```")?;
    let Head { advisory: about, versions } = toml::from_str(head).ok()?;
    let title = rest.lines().find_map(|line| line.strip_prefix("# "))?.trim().to_owned();
    let About { id, package, informational, withdrawn } = about;
    let Versions { patched, unaffected } = versions;
    Some(withdrawn.is_none().then_some(Advisory { id, package, title, informational, patched, unaffected }))
}

#[test]
#[ignore = "renews advisories/rustsec.toml from the checkout that ADVISORY_DB names"]
fn renew() {
    let checkout = std::env::var_os("ADVISORY_DB").expect("ADVISORY_DB, a checkout of RustSec's advisory-db");
    let database = checked_out(Path::new(&checkout));
    let mut text = format!(
        "# A copy of RustSec's advisory database: id, package, title and versions of every advisory that was not withdrawn.\n\
         # Written by crates/cli/tests/suite/advisories.rs, which says how to renew it.\n\n\
         copied = {:?}\ncommit = {:?}\nadvisories = [\n",
        database.copied, database.commit
    );
    for advisory in &database.advisories {
        let value = toml::Value::try_from(advisory).expect("a table");
        writeln!(text, "  {value},").expect("a string");
    }
    text.push_str("]\n");
    std::fs::write(home().join("advisories/rustsec.toml"), text).expect("written");
}
