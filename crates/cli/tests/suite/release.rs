//! The version is stated in one way everywhere, and the change log has a section for it.

use serde_json::Value;
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
