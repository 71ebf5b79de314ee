//! The collector's modules: no two need each other, and what keeps and takes readings knows nothing
//! of HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The text of each top module, without comments and without tests.
fn modules() -> BTreeMap<String, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    let mut modules = BTreeMap::<String, String>::new();
    for path in found.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let inner = path.strip_prefix(&src).expect("below it").with_extension("");
        let module = inner.iter().next().and_then(|name| name.to_str()).expect("a name").to_owned();
        // The library's root lists the modules, and the binary is above them.
        if module == "lib" || module == "bin" {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a text");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        modules.entry(module).or_default().extend(code.flat_map(|line| [line, "\n"]));
    }
    modules
}

/// The modules that one names.
fn needed<'a>(modules: &'a BTreeMap<String, String>, module: &str) -> BTreeSet<&'a str> {
    let named = |other: &str| {
        modules[module].split("crate::").skip(1).any(|rest| {
            // One, or several in braces.
            let names =
                rest.strip_prefix('{').map_or(rest, |several| several.split(';').next().unwrap_or_default());
            let of_one = rest.starts_with('{');
            let mut names = names.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            if of_one { names.any(|name| name == other) } else { names.next() == Some(other) }
        })
    };
    modules.keys().map(String::as_str).filter(|other| *other != module && named(other)).collect()
}

#[test]
fn no_two_modules_need_each_other() {
    let modules = modules();
    let mut left: BTreeMap<&str, BTreeSet<&str>> =
        modules.keys().map(|module| (module.as_str(), needed(&modules, module))).collect();
    assert!(left["daemon"].contains("api") && left["api"].contains("store"), "{left:?}");
    // Those that need none of what is left go, again and again.
    loop {
        let free: Vec<&str> =
            left.iter().filter(|(_, needs)| needs.is_empty()).map(|(module, _)| *module).collect();
        if free.is_empty() {
            break;
        }
        for module in free {
            left.remove(module);
            for needs in left.values_mut() {
                needs.remove(module);
            }
        }
    }
    assert!(left.is_empty(), "they need each other, by way of others: {left:?}");
}

#[test]
fn sessions_and_store_know_nothing_of_http() {
    let modules = modules();
    for module in ["meters", "downlink", "uplink", "session", "store", "event"] {
        for name in ["axum", "utoipa", "tower", "http::", "crate::api"] {
            assert!(!modules[module].contains(name), "{module} knows {name}");
        }
    }
}
