//! The API against its description, by an independent tool: schemathesis (PyPI). A command of its
//! own: `SCHEMATHESIS=/path/to/schemathesis cargo test -p wattseal-collector --test suite --
//! --ignored described --nocapture`

use super::stand::Stand;
use std::process::Command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes and a tool from PyPI"]
async fn schemathesis_finds_nothing() {
    let tool = std::env::var("SCHEMATHESIS").unwrap_or_else(|_| "schemathesis".into());
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    for n in 1..=50 {
        stand.measure(0, n, 1_772_323_200 + 600 * i64::from(n), 50 * n, 25);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    // Rules between arguments, such as that of a calibration's steps, are in no schema: 422 is all
    // right.
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("schemathesis.toml");
    let expected = r#"["2xx", "3xx", "401", "403", "404", "409", "422", "429", "503"]"#;
    let checks = format!("[checks.positive_data_acceptance]\nexpected-statuses = {expected}\n");
    std::fs::write(&config, checks).expect("written");
    let mut command = Command::new(tool);
    command
        .arg("--config-file")
        .arg(&config)
        // Its memory for the next time goes with the folder.
        .current_dir(folder.path())
        .args(["run", &stand.url("/openapi.json"), "--checks", "all", "--max-examples", "60", "--no-color"])
        .args(["--header", &format!("Authorization: Bearer {}", tokens.administrator)])
        // A stream has no end, and a tool that revokes its own token finds no more.
        .args(["--exclude-path", "/api/v1/events", "--exclude-operation-id", "revoke"]);
    let run = tokio::task::spawn_blocking(move || command.status()).await.expect("no panic");
    let status = run.expect("schemathesis: pip install schemathesis");
    assert!(status.success(), "{status}");
}
