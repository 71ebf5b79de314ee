//! The files of `operations/`, with which a utility runs the collector's roles.

mod alerts;
mod backups;
mod containers;
mod dashboard;
mod figures;
pub mod roles;
mod routes;
mod units;

use serde_json::Value;
use std::path::PathBuf;
use testkit::documents::home;

fn path(name: &str) -> PathBuf {
    home().join("operations").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("operations/{name}: {error}"))
}

fn dashboard() -> Value {
    serde_json::from_str(&text("grafana/wattseal.json")).expect("JSON")
}

/// The queries of the dashboard's panels that one of their fields holds: `rawSql` or `expr`.
fn queries(dashboard: &Value, field: &str) -> Vec<(Value, Value, String)> {
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut found = Vec::new();
    for panel in panels {
        for target in panel["targets"].as_array().expect("targets") {
            if let Some(query) = target[field].as_str() {
                found.push((panel.clone(), target.clone(), query.to_owned()));
            }
        }
    }
    assert!(found.len() >= 7, "{} queries have {field}", found.len());
    found
}

/// The lines of the documentation that begin so, in its blocks.
fn documented(begins: &str) -> Vec<String> {
    let text = std::fs::read_to_string(home().join("docs/how-to/operations.md")).expect("a document");
    text.lines().filter(|line| line.starts_with(begins)).map(str::to_owned).collect()
}
