//! The version is stated in one way everywhere, and the change log has a section for it.

use serde_json::Value;
use std::process::Command;
use testkit::documents::home;

fn read(path: &str) -> String {
    std::fs::read_to_string(home().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the version of the workspace's packages.
fn version() -> String {
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).expect("TOML");
    manifest["workspace"]["package"]["version"].as_str().expect("a version").to_owned()
}

#[test]
fn files_state_the_workspace_s_version() {
    let version = version();
    for (path, stated) in [
        ("crates/collector/src/api/health.rs", format!("example = \"{version}\"")),
        ("docs/how-to/collector/http.md", format!("\"version\":\"{version}\"")),
        ("docs/how-to/collector/mqtt.md", format!("\"sw_version\":\"{version}\"")),
        ("web/mock/server.ts", format!("version: '{version}'")),
    ] {
        assert!(read(path).contains(&stated), "{path} does not say {stated}");
    }
    let description: Value = serde_json::from_str(&read("web/openapi.json")).expect("JSON");
    assert_eq!(description["info"]["version"], version.as_str(), "web/openapi.json");
    let example = &description["components"]["schemas"]["Health"]["properties"]["version"]["example"];
    assert_eq!(*example, version.as_str(), "web/openapi.json, Health");
    // Python's wheel takes it from its crate.
    assert!(read("crates/python/pyproject.toml").contains("dynamic = [\"version\"]"));
    let lock: toml::Table = toml::from_str(&read("Cargo.lock")).expect("TOML");
    let locked = lock["package"].as_array().expect("packages").iter();
    let own: Vec<&toml::Value> = locked
        .filter(|package| package["name"].as_str().is_some_and(|name| name.starts_with("wattseal-")))
        .collect();
    assert!(own.len() >= 16, "{}", own.len());
    assert!(own.iter().all(|package| package["version"].as_str() == Some(&version)), "{own:?}");
}

/// New lines have a place above the newest release.
#[test]
fn change_log_begins_with_unreleased_and_the_version() {
    let text = read("CHANGELOG.md");
    let mut sections = text.lines().filter_map(|line| line.strip_prefix("## "));
    assert_eq!(sections.next(), Some("Unreleased"));
    let newest = sections.next().expect("a release");
    assert!(newest.starts_with(&format!("{} (", version())), "{newest}");
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// The other files of a release are checked by the same script where they are built.
#[test]
fn debian_package_is_reproducible_and_runs_in_an_empty_root() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("wattseal");
    run(Command::new("strip").arg("-o").arg(&binary).arg(env!("CARGO_BIN_EXE_wattseal")));
    let built = |name: &str| {
        let package = folder.path().join(name);
        let mut build = Command::new(home().join("ci/debian/build"));
        build.arg("wattseal").arg(&binary).arg(&package).env("DEB_COMPRESSION", "none");
        run(build.env("SOURCE_DATE_EPOCH", "1700000000"));
        let file = std::fs::read_dir(&package).expect("a folder").next().expect("a file").expect("an entry");
        (package, std::fs::read(file.path()).expect("a package"))
    };
    let ((package, one), (_, other)) = (built("one"), built("other"));
    assert!(one == other, "the same binary gives two packages");
    let said = run(Command::new(home().join("ci/release-check")).arg(&package));
    assert!(said.contains(&format!("wattseal {}, after", version())), "{said}");
}

/// The binary of a release has no libraries that would have to be brought into the root.
#[test]
fn static_binary_runs_in_an_empty_root() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for inner in ["files", "dist"] {
        std::fs::create_dir(at(inner)).expect("made");
    }
    let source = "#include <stdio.h>\nint main(void) { return puts(\"wattseal 1.2.3\") < 0; }\n";
    std::fs::write(at("main.c"), source).expect("written");
    run(Command::new("cc").args(["-static", "-o"]).args([at("files/wattseal"), at("main.c")]));
    let archive = at("dist/wattseal-1.2.3-linux.tar.gz");
    run(Command::new("tar").arg("-czf").arg(archive).arg("-C").arg(folder.path()).arg("files"));
    let said = run(Command::new(home().join("ci/release-check")).arg(at("dist")));
    assert!(said.contains("wattseal 1.2.3, after"), "{said}");
}

/// A wheel says which glibc it wants; one that wants more, or another library, is refused.
#[test]
fn wheel_that_wants_more_than_its_name_says_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("library.so");
    let source = "int puts(const char *); const char *SSL_new(void); int f(void) { return puts(LIBRARY); }";
    let wheel = |name: &str, linked: &[&str], text: &str| {
        std::fs::write(folder.path().join("library.c"), source.replace("LIBRARY", text)).expect("written");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "library.c", "-o"]).arg(&library).args(linked);
        run(compiler.current_dir(folder.path()));
        let name = folder.path().join(name);
        let zip = "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').write(sys.argv[2], 'wattseal/_native.abi3.so')";
        run(Command::new("python3").args(["-c", zip]).arg(&name).arg(&library));
        let output = Command::new(home().join("ci/wheel-needs")).arg(&name).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = wheel("w-1-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", &[], "\"\"");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = wheel("w-1-cp39-abi3-manylinux_2_1_x86_64.whl", &[], "\"\"");
    assert!(code == Some(1) && said.contains("its name promises glibc 2.1"), "{said}");
    let linked = ["-Wl,--no-as-needed", "-lssl"];
    let (code, said) = wheel("w-1-cp39-abi3-manylinux2014_x86_64.whl", &linked, "SSL_new()");
    assert!(code == Some(1) && said.contains("libssl.so.3 is not on every Linux"), "{said}");
}
