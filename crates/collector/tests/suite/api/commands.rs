//! Commands: given, listed, taken back, and refused with what is wrong with them.

use super::stand::{Stand, refused, told};
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_given_listed_and_taken_back() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let give = |command: &Value| {
        stand
            .ask(Method::POST, "/meters/258/commands")
            .bearer_auth(&tokens.administrator)
            .json(&json!({"command": command}))
    };
    let orders = [
        json!({"configure": {"interval_s": 60, "suite": "aes256-gcm"}}),
        json!({"calibrate": {"voltage_uv": 270_000, "current_ua": 52_000, "phase": -256}}),
        json!({"register": {"meter": 259, "address": 3, "collector_address": 79}}),
        json!("set-time"),
        json!({"read-status": {"page": 1}}),
        json!("reboot"),
        json!("renew-key"),
    ];
    let mut ids = Vec::new();
    for order in &orders {
        let command = told(give(order), 201).await;
        assert_eq!(
            (&command["command"], &command["meter"], &command["by"]),
            (order, &json!(258), &json!("anna"))
        );
        assert!(command["ended_s"].is_null() && command["answer"].is_null(), "{command}");
        assert!(["waiting", "sent"].contains(&command["state"].as_str().expect("a state")), "{command}");
        ids.push(command["id"].clone());
    }
    let list = stand.get("/meters/258/commands", &tokens.viewer).await;
    let listed: Vec<Value> =
        list.as_array().expect("a list").iter().filter(|command| command["by"] == "anna").cloned().collect();
    let newest_first: Vec<Value> = orders.iter().rev().cloned().collect();
    assert_eq!(listed.iter().map(|command| command["command"].clone()).collect::<Vec<_>>(), newest_first);
    assert_eq!(
        stand.get("/meters/258/commands?limit=2", &tokens.viewer).await.as_array().expect("a list").len(),
        2
    );
    assert!(
        stand.get("/meters/258", &tokens.viewer).await["waiting_commands"].as_u64().expect("a number") >= 7
    );

    let last = ids.last().expect("seven");
    let path = format!("/meters/258/commands/{last}");
    let withdraw = || stand.ask(Method::DELETE, &path).bearer_auth(&tokens.administrator);
    let gone = told(withdraw(), 200).await;
    assert_eq!(gone["state"], "withdrawn");
    assert!(gone["ended_s"].is_number());
    assert_eq!(told(withdraw(), 200).await, gone);
    let other =
        stand.ask(Method::DELETE, &format!("/meters/300/commands/{last}")).bearer_auth(&tokens.administrator);
    assert_eq!(refused(other, 404).await.0, "command-unknown");
    let unknown = stand.ask(Method::POST, "/meters/259/commands").bearer_auth(&tokens.administrator);
    assert_eq!(refused(unknown.json(&json!({"command": "reboot"})), 404).await.0, "meter-unknown");
    let actions = stand.get("/actions", &tokens.administrator).await;
    let whats: Vec<&str> =
        actions.as_array().expect("a list").iter().filter_map(|action| action["what"].as_str()).collect();
    assert!(
        whats.iter().any(|what| what.contains("commanded meter 258") && what.contains("aes256-gcm")),
        "{whats:?}"
    );
    assert!(whats.iter().any(|what| what.contains("withdrew")), "{whats:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_out_of_range_are_named_with_their_range() {
    let stand = Stand::administrated().await;
    let cases = [
        (json!({"configure": {"interval_s": 0, "suite": "none"}}), "interval_s is 0; it is 1 to 65,535"),
        (
            json!({"calibrate": {"voltage_uv": 0, "current_ua": 1, "phase": 0}}),
            "voltage_uv is 0; it is 1 to 4,000,000",
        ),
        (
            json!({"calibrate": {"voltage_uv": 1, "current_ua": 4_000_001, "phase": 0}}),
            "current_ua is 4000001",
        ),
        (
            json!({"calibrate": {"voltage_uv": 270_000, "current_ua": 52_000, "phase": 257}}),
            "phase is 257; it is -256 to 256",
        ),
        (
            json!({"calibrate": {"voltage_uv": 10_000, "current_ua": 10_999, "phase": 0}}),
            "at least 110000000",
        ),
        (json!({"register": {"meter": 0, "address": 1, "collector_address": 1}}), "meter is 0"),
        (
            json!({"register": {"meter": 1, "address": 0, "collector_address": 1}}),
            "address is 0; it is 1 to 255",
        ),
        (json!({"register": {"meter": 1, "address": 1, "collector_address": 0}}), "collector_address is 0"),
        (json!({"read-status": {"page": 2}}), "page is 2; it is 0 or 1"),
    ];
    for (command, words) in cases {
        let request = stand.ask(Method::POST, "/meters/258/commands").json(&json!({"command": command}));
        let body = told(request, 422).await;
        assert_eq!(body["error"]["code"], "argument-range", "{body}");
        assert!(body["error"]["message"].as_str().expect("words").contains(words), "{words}: {body}");
    }
    let taken = json!({"command": {"register": {"meter": 300, "address": 1, "collector_address": 1}}});
    let (code, _) = refused(stand.ask(Method::POST, "/meters/258/commands").json(&taken), 409).await;
    assert_eq!(code, "meter-name-taken");
    assert_eq!(told(stand.ask(Method::GET, "/meters/258"), 200).await["waiting_commands"], 0);
}
