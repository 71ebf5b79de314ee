//! The quick tier: the crates that a change concerns (`ci/affected`), and the tests of them that
//! are run (`ci/run-affected`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::documents::home;
use testkit::programs;

fn read(path: impl AsRef<Path>) -> String {
    let path = home().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the workspace's packages, each with its folder.
pub fn packages() -> BTreeMap<String, String> {
    let workspace: toml::Table = toml::from_str(&read("Cargo.toml")).expect("TOML");
    let members = workspace["workspace"]["members"].as_array().expect("members").iter();
    let members = members.map(|member| member.as_str().expect("a folder").to_owned());
    let folders = members.flat_map(|member| match member.strip_suffix("/*") {
        None => vec![member],
        Some(parent) => {
            let entries = fs::read_dir(home().join(parent)).expect("a folder of packages");
            entries
                .map(|entry| format!("{parent}/{}", entry.expect("an entry").file_name().display()))
                .collect()
        }
    });
    folders
        .map(|folder| {
            let manifest: toml::Table = toml::from_str(&read(format!("{folder}/Cargo.toml"))).expect("TOML");
            (manifest["package"]["name"].as_str().expect("a name").to_owned(), folder)
        })
        .collect()
}

/// Returns the packages' manifests, each with the folder.
pub fn manifests() -> Vec<(String, toml::Table)> {
    let read = |folder: String| {
        let manifest = toml::from_str(&read(format!("{folder}/Cargo.toml"))).expect("TOML");
        (folder, manifest)
    };
    packages().into_values().map(read).collect()
}

/// Returns the lines below a path of the project that match an extended regular expression.
fn lines_of(path: &str, expression: &str) -> String {
    let mut grep = Command::new("grep");
    grep.args(["-rnE", expression]).arg(home().join(path));
    String::from_utf8(grep.output().expect("grep runs").stdout).expect("UTF-8")
}

fn is_off(target: Option<&toml::Value>, key: &str) -> bool {
    target.and_then(|target| target.get(key)).and_then(toml::Value::as_bool) == Some(false)
}

/// `doctest = false` saves rustdoc's run over a crate; it must hide no example.
#[test]
fn crates_with_examples_in_comments_test_them() {
    let mut without = 0;
    for (folder, manifest) in manifests() {
        if is_off(manifest.get("lib"), "doctest") {
            without += 1;
            let found = lines_of(&format!("{folder}/src"), r"^ *//[/!] *```|^ *#!?\[doc = include");
            assert!(found.is_empty(), "{folder} has doctest = false, and there are examples:\n{found}");
        }
    }
    assert!(without > 10, "{without} crates");
}

/// Returns the programs of tests `src/units.rs`, which count the tests of the sources beside them.
fn units_programs() -> BTreeSet<PathBuf> {
    let path = |folder: &str, test: &toml::Value| {
        let path = test.get("path")?.as_str().filter(|path| path.ends_with("src/units.rs"))?;
        let path = home().join(folder).join(path).canonicalize().expect("a program");
        let text = fs::read_to_string(&path).expect("UTF-8");
        text.contains("fn units_hold_every_test_of_the_sources()").then_some(path)
    };
    let of = |(folder, manifest): (String, toml::Table)| {
        let tests = manifest.get("test").and_then(toml::Value::as_array).into_iter().flatten();
        tests.filter_map(|test| path(&folder, test)).collect::<Vec<_>>()
    };
    manifests().into_iter().flat_map(of).collect()
}

/// `test = false` saves a compilation and a link; it must hide no test.
#[test]
fn crates_with_unit_tests_run_them() {
    let mut without = Vec::new();
    let programs = units_programs();
    assert!(!programs.is_empty());
    for (folder, manifest) in manifests() {
        let units = home().join(&folder).join("src/units.rs");
        if is_off(manifest.get("lib"), "test") && !programs.contains(&units) {
            without.push(format!("{folder}/src"));
        }
        let binaries = manifest.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
        for binary in binaries.filter(|binary| is_off(Some(binary), "test")) {
            let name = binary["name"].as_str().expect("a name");
            let path = binary.get("path").and_then(toml::Value::as_str);
            let path = path.map_or(format!("src/bin/{name}.rs"), str::to_owned);
            assert!(home().join(&folder).join(&path).is_file(), "{folder}: there is no {path}");
            without.push(format!("{folder}/{path}"));
        }
    }
    assert!(without.len() > 10, "{without:?}");
    for path in without {
        let found = lines_of(&path, r"^ *#\[(tokio::)?test\b");
        assert!(found.is_empty(), "{path} has test = false, and there are tests:\n{found}");
    }
}

/// Runs a line of a shell in `folder`, and returns its lines.
fn run(folder: &Path, line: &str) -> Vec<String> {
    let output = Command::new("bash").args(["-ec", line]).current_dir(folder).output().expect("bash runs");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn readers_are_named_for_all_files_of_the_root() {
    let tiers: toml::Table = toml::from_str(&read("ci/tiers.toml")).expect("TOML");
    let readers = tiers["readers"].as_table().expect("readers");
    let packages = packages();
    for (path, read_by) in readers {
        assert!(home().join(path).exists(), "ci/tiers.toml: there is no {path}");
        for package in read_by.as_array().expect("packages") {
            let package = package.as_str().expect("a name");
            let is_known = ["*", "dashboard"].contains(&package) || packages.contains_key(package);
            assert!(is_known, "ci/tiers.toml, {path}: there is no package {package}");
        }
    }
    let entries = fs::read_dir(home()).expect("the root").map(|entry| entry.expect("an entry").file_name());
    let names = entries.map(|name| name.display().to_string());
    let unnamed: Vec<_> = names
        .filter(|name| !name.starts_with('.') && !["crates", "target", "vendor"].contains(&name.as_str()))
        .filter(|name| !readers.contains_key(name))
        .collect();
    assert!(unnamed.is_empty(), "ci/tiers.toml does not say who reads {unnamed:?}");
}

/// The last part of a path is of a function or a module of the crate.
#[test]
fn slow_tests_of_the_quick_tier_exist() {
    let packages = packages();
    for line in read("ci/slow.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(package), Some(test)) = (words.next(), words.next()) else { panic!("ci/slow.txt: {line}") };
        let folder = packages.get(package).unwrap_or_else(|| panic!("ci/slow.txt: {line}: no such package"));
        let name = test.trim_end_matches("::").rsplit("::").next().expect("a name");
        let found =
            Command::new("grep").args(["-rq", name, "--include=*.rs"]).arg(home().join(folder)).status();
        assert!(found.expect("grep runs").success(), "ci/slow.txt: {folder} has no {name}");
    }
}

/// A repository with packages `base`, `base-tests` within, `middle`, which is built from `base`,
/// `top`, whose tests are built from `middle`, and `other`.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for (name, dependencies) in [
        ("base", ""),
        ("base/tests", "[dev-dependencies]\nbase = { path = \"..\" }\n"),
        ("middle", "[dependencies]\nrenamed = { path = \"../base\", package = \"base\" }\n"),
        ("top", "[dev-dependencies]\nmiddle = { path = \"../middle\" }\n"),
        ("other", ""),
    ] {
        fs::create_dir_all(at(&format!("crates/{name}/src"))).expect("made");
        for file in ["lib.rs", "gone.rs"] {
            fs::write(at(&format!("crates/{name}/src/{file}")), "").expect("written");
        }
        let package = name.replace('/', "-");
        let package = format!("[package]\nname = \"{package}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n");
        fs::write(at(&format!("crates/{name}/Cargo.toml")), package + dependencies).expect("written");
    }
    fs::write(
        at("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"crates/base/tests\"]\n",
    )
    .expect("written");
    fs::create_dir_all(at("ci")).expect("made");
    programs::copy(&home().join("ci/affected"), &at("ci/affected"));
    let readers = "[readers]\n\"data\" = [\"top\"]\n\"data/all\" = [\"*\"]\n\"ci\" = []\n";
    fs::write(at("ci/tiers.toml"), readers).expect("written");
    run(folder.path(), "git init --quiet --initial-branch main");
    commit(folder.path());
    folder
}

fn commit(folder: &Path) {
    run(
        folder,
        "git add --all && git -c user.name=n -c user.email=e commit --quiet --allow-empty --message m",
    );
}

#[test]
fn changed_crates_and_their_dependents_are_affected() {
    let folder = repository();
    let affected = |change: &str| {
        let found = run(folder.path(), &format!("{change} && ci/affected --since HEAD"));
        run(folder.path(), "git reset --quiet --hard && git clean --quiet --force -d");
        found
    };
    let every = ["base", "base-tests", "middle", "other", "top"];
    assert!(affected("true").is_empty());
    assert_eq!(affected("echo // >>crates/base/src/lib.rs"), ["base", "base-tests", "middle", "top"]);
    // Of a package within another, the outer one is not.
    assert_eq!(affected("touch crates/base/tests/src/new.rs"), ["base-tests"]);
    assert_eq!(affected("touch crates/middle/src/new.rs"), ["middle", "top"]);
    assert_eq!(affected("git rm --quiet crates/other/src/gone.rs"), ["other"]);
    assert_eq!(affected("mkdir data && touch data/a"), ["top"]);
    assert_eq!(affected("mkdir -p data/all && touch data/all/a"), every);
    // No rule names this file.
    assert_eq!(affected("touch unknown"), every);
}

#[test]
fn change_counts_from_the_merge_base() {
    let folder = repository();
    run(folder.path(), "git checkout --quiet -b work && echo // >>crates/top/src/lib.rs");
    commit(folder.path());
    run(folder.path(), "git checkout --quiet main && echo // >>crates/other/src/lib.rs");
    commit(folder.path());
    run(folder.path(), "git checkout --quiet work");
    assert_eq!(run(folder.path(), "ci/affected --since main"), ["top"]);
    // Without another commit, the last one.
    assert_eq!(run(folder.path(), "ci/affected"), ["top"]);
    run(
        folder.path(),
        "git update-ref refs/remotes/origin/main main~1 && echo // >>crates/middle/src/lib.rs",
    );
    assert_eq!(run(folder.path(), "ci/affected"), ["middle", "top"]);
}

#[test]
fn quick_tier_runs_affected_crates_and_always_tidy() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    programs::copy(&home().join("ci/run-affected"), &at("run-affected"));
    programs::script(&at("program"), "echo ran \"$@\" $WATTSEAL_AFFECTED");
    fs::write(at("slow.txt"), "# Comment.\na slow::one 9 s\nb other\na two\n").expect("written");
    let ran = |affected: &str, package: &str| {
        let line =
            format!("WATTSEAL_AFFECTED='{affected}' CARGO_PKG_NAME={package} ./run-affected ./program -q");
        run(folder.path(), &line).join("\n")
    };
    assert_eq!(ran("a c", "a"), "ran -q --skip slow::one --skip two");
    assert_eq!(ran("a c", "c"), "ran -q");
    assert_eq!(ran("a c", "b"), "");
    assert_eq!(ran("ab", "a"), "");
    assert_eq!(ran("a c", "wattseal-cli"), "ran -q tidy::");
    assert_eq!(ran("a wattseal-cli", "wattseal-cli"), "ran -q");
    assert_eq!(ran("", "wattseal-cli"), "ran -q tidy::");
}

#[test]
fn every_package_has_one_lane_of_the_full_tier() {
    let folder = tempfile::tempdir().expect("a folder");
    programs::copy(&home().join("ci/run-lane"), &folder.path().join("run-lane"));
    programs::script(&folder.path().join("program"), "echo ran \"$@\" $WATTSEAL_LANE");
    let mut lanes = BTreeMap::<&str, BTreeSet<String>>::new();
    for package in packages().into_keys() {
        let runs = |lane: &&&str| {
            let line = format!("WATTSEAL_LANE={lane} CARGO_PKG_NAME={package} ./run-lane ./program -q");
            match run(folder.path(), &line).join("\n").as_str() {
                "ran -q" => true,
                "" => false,
                other => panic!("{package}: {other}"),
            }
        };
        let of: Vec<&&str> = ["computing", "commands", "waiting"].iter().filter(runs).collect();
        assert_eq!(of.len(), 1, "{package}: {of:?}");
        lanes.entry(*of[0]).or_default().insert(package);
    }
    // A name that the script has wrong would be of no package.
    assert_eq!(lanes["commands"], BTreeSet::from(["wattseal-cli".to_owned()]));
    assert_eq!(
        lanes["waiting"],
        BTreeSet::from(["wattseal-collector".to_owned(), "wattseal-testbed".to_owned()])
    );
}

/// Returns the packages that a line of arguments names.
pub fn named_packages(arguments: &str) -> BTreeSet<String> {
    let words: Vec<&str> = arguments.split(' ').collect();
    let named = words.windows(2).filter(|pair| pair[0] == "--package").map(|pair| pair[1].to_owned());
    named.collect()
}
