//! Dependencies between the crates point down: docs/explanation/architecture.md, "The crates".

use crate::tiers::manifests;

/// The crates, each below those behind it. Nothing but tests may need a crate that comes later.
const ORDER: [&str; 17] = [
    "output",
    "embedded",
    "mcu",
    "energy",
    "wire",
    "update",
    "device",
    "firmware",
    "lab",
    "papers",
    "sim",
    "collector",
    "testkit",
    "mcu/tests",
    "testbed",
    "cli",
    "python",
];

/// Pairs of a crate and one that it needs neither itself nor through another.
const APART: [(&str, &str); 8] = [
    ("mcu", "firmware"),
    ("wire", "device"),
    ("device", "wire"),
    ("collector", "mcu"),
    ("collector", "device"),
    ("cli", "collector"),
    ("cli", "testkit"),
    ("sim", "collector"),
];

/// Returns the crates that a crate is built from, by the folders of its manifest's paths.
fn needs(name: &str) -> Vec<String> {
    let (_, manifest) = manifests()
        .into_iter()
        .find(|(folder, _)| *folder == format!("crates/{name}"))
        .unwrap_or_else(|| panic!("there is no crates/{name}"));
    let dependencies = manifest.get("dependencies").and_then(|table| table.as_table().cloned());
    let paths = dependencies.unwrap_or_default().into_iter().filter_map(|(_, dependency)| {
        Some(dependency.get("path")?.as_str()?.trim_start_matches("../").to_owned())
    });
    paths.collect()
}

#[test]
fn crates_need_only_those_below_them() {
    let folders =
        manifests().into_iter().filter_map(|(folder, _)| folder.strip_prefix("crates/").map(str::to_owned));
    let mut unnamed: Vec<String> = folders.filter(|name| !ORDER.contains(&name.as_str())).collect();
    unnamed.sort();
    assert!(unnamed.is_empty(), "architecture.rs does not say where {unnamed:?} stand");
    let mut count = 0;
    for (at, name) in ORDER.iter().enumerate() {
        for needed in needs(name) {
            assert!(ORDER[..at].contains(&needed.as_str()), "{name} needs {needed}, which is not below it");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn parts_that_are_apart_need_each_other_by_no_way() {
    for (from, to) in APART {
        let mut reached = needs(from);
        let mut at = 0;
        while let Some(name) = reached.get(at).cloned() {
            for needed in needs(&name) {
                if !reached.contains(&needed) {
                    reached.push(needed);
                }
            }
            at += 1;
        }
        assert!(!reached.contains(&to.to_owned()), "{from} needs {to}, by {reached:?}");
    }
}
