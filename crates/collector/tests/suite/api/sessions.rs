//! Browsers' sessions, pages of other origins, and how often one may ask.

use super::stand::{Stand, no_limits, refused, told};
use collector::api::Rates;
use collector::secret::Secret;
use reqwest::Method;
use serde_json::json;
use std::num::NonZeroU32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_signs_in_and_out() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let request = stand.ask(Method::POST, "/session").json(&json!({"token": tokens.viewer}));
    let response = request.send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    let cookie = response.headers()["set-cookie"].to_str().expect("text").to_owned();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "without TLS no browser would send it");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let who: serde_json::Value = response.json().await.expect("JSON");
    assert_eq!(who, json!({"name": "ben", "role": "viewer"}));
    let cookie = cookie.split(';').next().expect("name and value").to_owned();

    let with = |method: Method, path: &str| stand.ask(method, path).header("cookie", &cookie);
    assert_eq!(told(with(Method::GET, "/session"), 200).await, who);
    told(with(Method::GET, "/meters"), 200).await;
    // A header goes before the cookie.
    refused(with(Method::GET, "/meters").bearer_auth("wst_wrong"), 401).await;
    let out = with(Method::DELETE, "/session").send().await.expect("an answer");
    assert_eq!(out.status(), 204);
    assert!(out.headers()["set-cookie"].to_str().expect("text").starts_with("wattseal=; "));
    // A revoked token's cookie is taken back at once, so that the browser is not wrong again.
    let stale = stand.ask(Method::GET, "/session").header("cookie", format!("wattseal={}", tokens.revoked));
    let stale = stale.send().await.expect("an answer");
    assert_eq!(stale.status(), 401);
    assert!(stale.headers()["set-cookie"].to_str().expect("text").contains("Max-Age=0"));
    for wrong in [json!({"token": "wst_"}), json!({"token": Secret::generate(&mut rand::rng()).expose()})] {
        let (code, _) = refused(stand.ask(Method::POST, "/session").json(&wrong), 401).await;
        assert_eq!(code, "token-wrong");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_other_origins_change_nothing() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let own = format!("http://{}", stand.address);
    let label = json!({"label": "Flat 3"});
    for (header, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://127.0.0.1:1", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("origin", own.as_str(), 200),
        ("sec-fetch-site", "same-origin", 200),
    ] {
        let request = stand
            .ask(Method::PATCH, "/meters/258")
            .header("cookie", format!("wattseal={}", tokens.administrator));
        told(request.header(header, value).json(&label), status).await;
    }
    // A form can be sent from anywhere: it is no JSON.
    let form = stand.ask(Method::PATCH, "/meters/258").bearer_auth(&tokens.administrator);
    let form = form.header("content-type", "text/plain").body(r#"{"label":"evil"}"#);
    assert_eq!(refused(form, 400).await.0, "content-type");
    assert_eq!(stand.get("/meters/258", &tokens.viewer).await["label"], "Flat 3");
    // And no other origin may read.
    let response = stand
        .ask(Method::GET, "/health")
        .header("origin", "https://evil.example")
        .send()
        .await
        .expect("an answer");
    assert!(response.headers().keys().all(|name| !name.as_str().starts_with("access-control-")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_and_guesses_are_told_to_wait() {
    let stand =
        Stand::with(Rates { failures_per_min: Rates::default().failures_per_min, ..no_limits() }, None).await;
    let tokens = stand.tokens().await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let wrong = Secret::generate(&mut rand::rng());
        let response =
            stand.ask(Method::GET, "/meters").bearer_auth(wrong.expose()).send().await.expect("an answer");
        if response.status() == 429 {
            let wait_s: u32 =
                response.headers()["retry-after"].to_str().expect("text").parse().expect("seconds");
            assert!((1..=60).contains(&wait_s), "{wait_s}");
        }
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429, 429, 429]);
    let guess = stand.ask(Method::POST, "/session").json(&json!({"token": "wst_guess"}));
    assert_eq!(refused(guess, 429).await.0, "token-rate");
    // The holder of a token is not locked out by a neighbour.
    stand.get("/meters", &tokens.viewer).await;

    let number = |number| NonZeroU32::new(number).expect("not zero");
    let slow = Rates { requests_per_s: number(1), requests_burst: number(10), ..no_limits() };
    let stand = Stand::with(slow, None).await;
    let mut limited = 0;
    for _ in 0..40 {
        let response = stand.ask(Method::GET, "/health").send().await.expect("an answer");
        if response.status() == 429 {
            limited += 1;
            assert_eq!(response.headers()["retry-after"], "1");
        }
    }
    assert!(limited > 0, "40 requests at once");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    told(stand.ask(Method::GET, "/health"), 200).await;
}
