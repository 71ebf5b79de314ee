//! The description of the API: programs make clients of it, and so does the dashboard.

use super::stand::Stand;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the file that the dashboard's types are made of.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/openapi.json")
}

async fn served() -> Value {
    let stand = Stand::new().await;
    stand.client.get(stand.url("/openapi.json")).send().await.expect("an answer").json().await.expect("JSON")
}

#[tokio::test]
async fn the_dashboard_s_types_are_made_of_what_is_served() {
    let text = std::fs::read_to_string(file()).expect("a description");
    let kept: Value = serde_json::from_str(&text).expect("JSON");
    let again = "cargo test -p wattseal-collector --test suite -- --ignored renew_the_description && (cd web && npm run api)";
    assert!(kept == served().await, "web/openapi.json is of another API; {again}");
}

#[tokio::test]
#[ignore = "writes web/openapi.json"]
async fn renew_the_description() {
    let text = serde_json::to_string_pretty(&served().await).expect("JSON");
    std::fs::write(file(), text + "\n").expect("written");
}

/// OpenAPI 3.1, "Operation Object": clients name their functions by it.
#[tokio::test]
async fn each_operation_has_a_name_of_its_own() {
    let description = served().await;
    let paths = description["paths"].as_object().expect("paths");
    let operations = paths.values().flat_map(|path| path.as_object().expect("operations").values());
    let names: Vec<&str> =
        operations.map(|operation| operation["operationId"].as_str().expect("a name")).collect();
    let different: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
}
