//! Every answer to any request is one of ours.

use super::stand::{Stand, refused, told};
use proptest::collection::vec;
use proptest::prelude::{any, prop};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_are_told_with_what_was_meant() {
    let stand = Stand::administrated().await;
    let get = |path: &str| stand.ask(Method::GET, path);
    let post = |path: &str, body: &str| {
        stand.ask(Method::POST, path).header("content-type", "application/json").body(body.to_owned())
    };
    let large = format!(r#"{{"label":"{}"}}"#, "x".repeat(70_000));
    let patch = |body: &str| {
        stand
            .ask(Method::PATCH, "/meters/258")
            .header("content-type", "application/json")
            .body(body.to_owned())
    };
    let cases: Vec<(RequestBuilder, u16, &str, &str)> = vec![
        (get("/metres"), 404, "route-unknown", "/api/v1/meters"),
        (stand.client.get(format!("http://{}/api", stand.address)), 404, "route-unknown", "openapi.json"),
        (
            stand.client.get(format!("http://{}/api/v2/meters", stand.address)),
            404,
            "route-unknown",
            "/api/v1/meters",
        ),
        (stand.ask(Method::PUT, "/meters"), 405, "method", "Allow"),
        (stand.ask(Method::POST, "/health"), 405, "method", "Allow"),
        (get("/meters/259"), 404, "meter-unknown", "258"),
        (get("/meters/0"), 404, "meter-unknown", "258"),
        (get("/meters/70000"), 400, "path-wrong", ""),
        (get("/meters/flat"), 400, "path-wrong", ""),
        (get("/meters/259/readings"), 404, "meter-unknown", "258"),
        (get("/meters/258/readings?resolution=quarters"), 400, "argument-wrong", "quarter"),
        (get("/meters/258/readings?form=2026-03-01T00:00:00Z"), 400, "argument-unknown", "from"),
        (get("/meters/258/readings?from=yesterday"), 400, "argument-wrong", ""),
        (get("/meters/258/readings?limit=0"), 400, "argument-wrong", ""),
        (get("/meters/258/readings?limit=10001"), 400, "argument-wrong", ""),
        (get("/meters/258/readings?limit=5&limit=6"), 400, "argument-wrong", ""),
        (get("/consumption?resolution=mouth"), 400, "argument-wrong", "month"),
        (get("/consumption?meter=259"), 404, "meter-unknown", "258"),
        (get("/alerts?open=yes"), 400, "argument-wrong", ""),
        (stand.ask(Method::POST, "/alerts/1/acknowledge"), 404, "alert-unknown", ""),
        (stand.ask(Method::DELETE, "/tokens/9"), 404, "token-unknown", "/tokens"),
        (patch(&large), 413, "body-too-large", ""),
        (patch("{"), 400, "json-wrong", ""),
        (patch(""), 400, "json-wrong", ""),
        (patch(r#"{"lable":"x"}"#), 422, "body-wrong", "label"),
        (patch(r#"{"label":5}"#), 422, "body-wrong", ""),
        (patch(r#"{"label":"a\nb"}"#), 422, "label-wrong", ""),
        (patch(r#"{"label":"a\u202eb"}"#), 422, "label-wrong", ""),
        (patch(&json!({"label": "é".repeat(65)}).to_string()), 422, "label-wrong", ""),
        (stand.ask(Method::PATCH, "/meters/258").body("{}"), 400, "content-type", "application/json"),
        (post("/meters/258/commands", r#"{"command":"rebot"}"#), 422, "body-wrong", "reboot"),
        (post("/meters/258/commands", r#"{"command":{"configur":{}}}"#), 422, "body-wrong", "configure"),
        (post("/tokens", r#"{"name":"x","role":"admin"}"#), 422, "body-wrong", "administrator"),
        (post("/tokens", r#"{"name":" ","role":"viewer"}"#), 422, "name-wrong", ""),
    ];
    for (request, status, code, hint) in cases {
        let built = request.try_clone().expect("no stream").build().expect("a request");
        let found = refused(request, status).await;
        assert_eq!(found.0, code, "{built:?}");
        assert!(found.1.contains(hint), "{built:?}: {found:?}");
    }
    // 64 characters are not 64 bytes.
    let label = patch(&json!({"label": "é".repeat(64)}).to_string());
    assert_eq!(super::stand::told(label, 200).await["label"], "é".repeat(64));
}

/// Bodies that are nothing, and bodies that are almost something.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let almost = prop::sample::select(vec![
        r#"{"command":{"configure":{"interval_s":60,"suite":"aes256-gcm"}}}"#,
        r#"{"command":{"calibrate":{"voltage_uv":1,"current_ua":4000000,"phase":-256}}}"#,
        r#"{"command":{"register":{"meter":0,"address":1,"collector_address":1}}}"#,
        r#"{"command":{"read-status":{"page":1}}}"#,
        r#"{"token":"wst_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
        r#"{"label":"Flat 3"}"#,
        r#"{"name":"anna","role":"viewer"}"#,
    ]);
    let changed = (almost, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(text, at, byte)| {
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes
    });
    proptest::prop_oneof![vec(any::<u8>(), 0..200), changed]
}

#[test]
fn arbitrary_bytes_never_trouble_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let stand = runtime.block_on(Stand::administrated());
    let routes = ["/session", "/tokens", "/meters/258", "/meters/258/commands", "/alerts/1/acknowledge"];
    let asked = (prop::sample::select(routes.to_vec()), bodies(), "[ -~]{0,20}");
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let looked = runner.run(&asked, |(path, body, query)| {
        let method = if path == "/meters/258" { Method::PATCH } else { Method::POST };
        let request = stand.ask(method, path).header("content-type", "application/json").body(body);
        runtime.block_on(is_ours(request));
        let query: String = url_escaped(&query);
        for path in ["/meters/258/readings", "/consumption", "/alerts", "/meters/258/commands", "/actions"] {
            runtime.block_on(is_ours(stand.ask(Method::GET, &format!("{path}?{query}"))));
        }
        runtime.block_on(is_ours(stand.ask(Method::GET, &format!("/meters/{query}"))));
        Ok(())
    });
    if let Err(error) = looked {
        panic!("{error}");
    }
}

/// Escapes what no URL has, but leaves it its separators.
fn url_escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'=' | b'&' | b'-' | b'%' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02x}"),
        })
        .collect()
}

/// An answer in JSON with a status below 500; a refusal in the form of refusals.
async fn is_ours(request: RequestBuilder) {
    let response = request.send().await.expect("an answer");
    let (status, url) = (response.status(), response.url().clone());
    assert!(!status.is_server_error(), "{url}: {status}");
    if status == 204 {
        return;
    }
    let text = response.text().await.expect("UTF-8");
    let body: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{url}: {status}: {error}: {text}"));
    if !status.is_success() {
        assert!(body["error"]["code"].is_string() && body["error"]["message"].is_string(), "{url}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_tells_browsers_to_be_careful() {
    let stand = Stand::new().await;
    let root = format!("http://{}/", stand.address);
    for url in [
        root.clone(),
        format!("{root}meters/258"),
        format!("{root}none.js"),
        stand.url("/health"),
        stand.url("/none"),
    ] {
        let response = stand.client.get(&url).send().await.expect("an answer");
        let header = |name: &str| response.headers()[name].to_str().expect("text").to_owned();
        let policy = header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert!(response.headers().contains_key("cache-control"), "{url}");
    }
    let page = stand.client.get(&root).send().await.expect("an answer");
    assert_eq!(
        (page.status().as_u16(), &page.headers()["content-type"]),
        (200, &"text/html; charset=utf-8".parse().expect("a value"))
    );
    assert_eq!(stand.client.get(format!("{root}none.js")).send().await.expect("an answer").status(), 404);
    assert_eq!(stand.client.post(&root).send().await.expect("an answer").status(), 405);
}

/// A database that is removed under the service: health says so, and that it came back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_says_that_nothing_can_be_stored_and_why() {
    let stand = Stand::administrated().await;
    let label = || stand.ask(Method::PATCH, "/meters/258").json(&json!({"label": "Flat 3"}));
    told(label(), 200).await;
    std::fs::write(stand.db().with_file_name("other"), "something else").expect("written");
    std::fs::rename(stand.db().with_file_name("other"), stand.db()).expect("replaced");
    refused(label(), 503).await;
    let health = told(stand.ask(Method::GET, "/health"), 503).await;
    assert_eq!(health["status"], "store");
    assert!(health["detail"].as_str().is_some_and(|detail| detail.contains("is another file")), "{health}");
    std::fs::remove_file(stand.db()).expect("there");
    let until = std::time::Instant::now() + super::stand::LONG;
    while stand.ask(Method::GET, "/health").send().await.expect("an answer").status() != 200 {
        assert!(std::time::Instant::now() < until, "it does not come back by itself");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let health = told(stand.ask(Method::GET, "/health"), 200).await;
    assert_eq!((&health["status"], health.get("detail")), (&json!("ok"), None));
    assert_eq!(told(stand.ask(Method::GET, "/meters/258"), 200).await["label"], "Flat 3");
}
