//! The binary alone: without a clone, beside one that cannot be written, with target files of a
//! user's own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use testkit::documents::home;

const BENCH: &str = "bench --target atmega328p --op aes128-encrypt --variant fast --runs 1 --format json";

/// A user's machine: an empty folder to be in, a home, a cache.
struct Machine(TempDir);

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["here", "home"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Machine(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
        command.args(line.split(' ')).current_dir(self.at("here")).env_remove("WATTSEAL_HOME");
        command.env("HOME", self.at("home")).env("XDG_CACHE_HOME", self.at("cache"));
        command
    }

    /// Returns the output, after checking for success.
    fn run(&self, line: &str) -> String {
        succeeded(line, self.command(line).output().expect("wattseal runs"))
    }

    /// The exit code and what it says, where it does not.
    fn refused(&self, line: &str) -> (Option<i32>, String) {
        let output = self.command(line).output().expect("wattseal runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// An ELF file of the user's own, in the folder to be in.
    fn firmware(&self) {
        let source = home().join("crates/cli/tests/suite/run/debug.c");
        let mut compiler = Command::new("avr-gcc");
        let compiler = compiler.args(["-mmcu=atmega328p", "-Os", "-o"]).arg(self.at("here/own.elf"));
        assert!(compiler.arg(source).status().expect("the compiler runs").success());
    }
}

fn succeeded(line: &str, output: Output) -> String {
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn operations_are_built_and_measured_without_a_clone() {
    let machine = Machine::new();
    let rows = machine.run(BENCH);
    assert!(rows.contains("\"verified\": true"), "{rows}");
    assert_eq!(names(&machine.at("cache/wattseal")), ["figures", "firmware", "project"]);
    assert!(names(&machine.at("here")).is_empty() && names(&machine.at("home")).is_empty());
    // The second time they are there.
    let again = machine.command(BENCH).output().expect("wattseal runs");
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("1 of 1 rows are of an earlier measurement"), "{said}");
    // Where the environment names no cache it is the home's.
    let mut at_home = machine.command(BENCH);
    succeeded(BENCH, at_home.env_remove("XDG_CACHE_HOME").output().expect("wattseal runs"));
    assert_eq!(names(&machine.at("home/.cache/wattseal")), ["figures", "firmware", "project"]);
}

#[test]
fn the_project_s_data_are_in_the_binary() {
    let machine = Machine::new();
    let plan = "plan --target atmega328p --scheme aes128-gcm --variant fast --clock 8MHz --supply 3 --panel 50mW --rate 1/h";
    let plan = format!("{plan} --capacitor 0.1F --radio rfm12b --format json");
    assert!(machine.run(&plan).contains("\"radio_packets\": 1"));
    let calibrated = format!("{BENCH} --clock 8MHz --supply 3 --calibration calibrations/mane2014.toml");
    let (code, said) = machine.refused(&calibrated);
    assert!(code == Some(2) && said.contains("calibrates"), "{said}");
    for (line, named) in [
        ("reproduce fujdiak2051", "fujdiak2015"),
        ("simulate networc", "network"),
        ("simulate network --plot a.svg", "a network has none"),
        ("simulate scenarios/network.toml --plot a.svg", "a network has none"),
        ("bench --target atmega382p", "atmega328p"),
    ] {
        let (code, said) = machine.refused(line);
        assert!(code == Some(2) && said.contains(named), "{said}");
    }
}

#[test]
fn firmware_of_one_s_own_needs_no_cache() {
    let machine = Machine::new();
    machine.firmware();
    let line = "measure own.elf --target atmega328p --max-cycles 20000 --function main --calls 1";
    let mut command = machine.command(line);
    let output = command.env_remove("HOME").env_remove("XDG_CACHE_HOME").output().expect("wattseal runs");
    succeeded(line, output);
    // Its own exit code.
    assert_eq!(machine.refused("run own.elf --target atmega328p --time 1ms").0, Some(7));
    assert_eq!(names(&machine.0.path().join("cache")), [""; 0]);
}

/// Writing fails because of a file in place of the folder, which stops the administrator, too.
#[test]
fn unwritable_clone_builds_into_the_user_s_cache() {
    let machine = Machine::new();
    let clone = machine.at("clone");
    fs::create_dir(&clone).expect("a folder");
    for name in ["bench.toml", "boards", "calibrations", "device", "targets"] {
        symlink(home().join(name), clone.join(name)).expect("a link");
    }
    fs::write(clone.join("target"), "").expect("written");
    let mut command = machine.command(BENCH);
    succeeded(BENCH, command.env("WATTSEAL_HOME", &clone).output().expect("wattseal runs"));
    assert_eq!(names(&machine.at("cache/wattseal")), ["figures", "firmware"]);
    fs::remove_file(clone.join("target")).expect("removed");
    let mut command = machine.command(BENCH);
    succeeded(BENCH, command.env("WATTSEAL_HOME", &clone).output().expect("wattseal runs"));
    assert_eq!(names(&clone.join("target")), ["figures", "firmware"]);
}

#[test]
fn the_cache_is_where_it_is_asked_for() {
    let machine = Machine::new();
    machine.run(&format!("{BENCH} --cache ./of-its-own"));
    assert_eq!(names(&machine.at("here/of-its-own")), ["figures", "firmware", "project"]);
    assert!(names(&machine.at("cache")).is_empty());
    fs::write(machine.at("here/file"), "").expect("written");
    let (code, said) = machine.refused(&format!("{BENCH} --cache file"));
    assert!(code == Some(1) && said.contains("--cache"), "{said}");
    let mut homeless = machine.command(BENCH);
    let output = homeless.env("HOME", "/dev/null").env("XDG_CACHE_HOME", "/dev/null/cache").output();
    let output = output.expect("wattseal runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("--cache"), "{said}");
}

#[test]
fn a_target_file_of_one_s_own_is_a_target() {
    let machine = Machine::new();
    machine.firmware();
    let text = fs::read_to_string(home().join("targets/atmega328p.toml")).expect("a target file");
    let named = |name: &str| text.replacen("name = \"atmega328p\"", &format!("name = \"{name}\""), 1);
    fs::create_dir(machine.at("here/parts")).expect("a folder");
    fs::write(machine.at("here/mine.toml"), named("mine")).expect("written");
    fs::write(machine.at("here/parts/other.toml"), named("other")).expect("written");
    fs::write(machine.at("here/bad.toml"), named("../bad")).expect("written");
    let theirs = machine.run(BENCH);
    // A row has the hash of its target's file.
    let lines = |rows: &str| -> Vec<String> {
        rows.lines().filter(|line| !line.contains("target_sha256")).map(str::to_owned).collect()
    };
    for (asked, name) in [("mine.toml", "mine"), ("./mine.toml", "mine"), ("parts/", "other")] {
        let own = machine.run(&BENCH.replacen("atmega328p", asked, 1));
        let theirs = theirs.replace("\"atmega328p\"", &format!("\"{name}\""));
        assert_eq!(lines(&own), lines(&theirs), "{asked}");
    }
    let measured = machine.run("measure own.elf --target ./mine.toml --max-cycles 20000 --format json");
    assert!(measured.contains("\"target\": \"mine\""), "{measured}");
    fs::write(
        machine.at("here/parts/wattseal.toml"),
        "[[firmware]]\nelf = \"../own.elf\"\ntarget = \"other.toml\"\nmax_cycles = 20000\n",
    )
    .expect("written");
    let (_, checked) = machine.refused("check parts");
    assert!(!checked.contains("no target") && !checked.contains("No such file"), "{checked}");
    for (asked, why) in [
        ("parts", "no target 'parts'"),
        ("./parts", "is a folder"),
        ("./bad.toml", "a name has"),
        ("./none.toml", "none.toml"),
    ] {
        let (code, said) = machine.refused(&format!("measure own.elf --target {asked}"));
        assert!(code != Some(0) && said.contains(why), "{asked}: {said}");
    }
}

/// The Debian package recommends what the launcher installs to build firmware with.
#[test]
fn the_package_recommends_the_compilers() {
    let control = fs::read_to_string(home().join("ci/debian/wattseal.control")).expect("a package");
    let recommends = control.lines().find_map(|line| line.strip_prefix("Recommends: ")).expect("a list");
    let recommended: Vec<&str> = recommends.split(", ").collect();
    let packages = fs::read_to_string(home().join("packages.txt")).expect("the list of packages");
    let wanted: Vec<&str> = packages
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.first().is_some_and(|group| ["firmware", "compilers"].contains(group)))
        .map(|words| words[2])
        .collect();
    assert_eq!(recommended, wanted);
}

/// A registry refuses a package whose dependencies are nowhere but here; what only tests need is
/// left out of a package.
#[test]
fn published_packages_depend_on_none_that_is_not() {
    for name in ["energy", "mcu", "wire"] {
        let manifest =
            fs::read_to_string(home().join(format!("crates/{name}/Cargo.toml"))).expect("a manifest");
        let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
        assert_eq!(manifest["package"]["publish"].as_bool(), Some(true), "{name}");
        let dependencies = manifest["dependencies"].as_table().expect("a table");
        let own = dependencies.iter().find(|(_, on)| on.get("path").is_some());
        assert!(own.is_none(), "{name}: {own:?}");
        let in_tests = manifest.get("dev-dependencies").and_then(toml::Value::as_table).into_iter();
        let versioned = (in_tests.flat_map(toml::Table::values))
            .find(|on| on.get("path").is_some() && on.get("version").is_some());
        assert!(versioned.is_none(), "{name}: {versioned:?}");
    }
}
