//! The rights of every kind of caller, on every route of the description.

use super::stand::{Stand, no_limits, refused, told};
use collector::api::Rates;
use collector::secret::Secret;
use reqwest::{Method, StatusCode};
use serde_json::json;
use std::collections::BTreeSet;

/// The callers with the right.
#[derive(Clone, Copy, Debug, PartialEq)]
enum May {
    Everybody,
    Viewers,
    Administrators,
}
use May::{Administrators, Everybody, Viewers};

/// The table of docs/how-to/collector.md. The objects of these requests do not exist, or have no body, so
/// that permitted ones change nothing.
const TABLE: [(&str, &str, May); 31] = [
    ("GET", "/health", Everybody),
    ("GET", "/openapi.json", Everybody),
    ("POST", "/session", Everybody),
    ("GET", "/session", Everybody),
    ("DELETE", "/session", Everybody),
    ("GET", "/meters", Viewers),
    ("GET", "/meters/{meter}", Viewers),
    ("PATCH", "/meters/{meter}", Administrators),
    ("GET", "/meters/{meter}/readings", Viewers),
    ("GET", "/wireless-mbus", Viewers),
    ("GET", "/wireless-mbus/{meter}/telegrams", Viewers),
    ("GET", "/consumption", Viewers),
    ("GET", "/alerts", Viewers),
    ("POST", "/alerts/{id}/acknowledge", Administrators),
    ("GET", "/meters/{meter}/commands", Viewers),
    ("POST", "/meters/{meter}/commands", Administrators),
    ("DELETE", "/meters/{meter}/commands/{id}", Administrators),
    ("GET", "/images", Viewers),
    ("POST", "/images", Administrators),
    ("DELETE", "/images/{digest}", Administrators),
    ("GET", "/updates", Viewers),
    ("POST", "/updates", Administrators),
    ("DELETE", "/meters/{meter}/update", Administrators),
    ("GET", "/costs", Viewers),
    ("GET", "/events", Viewers),
    ("GET", "/metrics", Viewers),
    ("GET", "/tokens", Administrators),
    ("POST", "/tokens", Administrators),
    ("POST", "/tokens/first", Everybody),
    ("DELETE", "/tokens/{id}", Administrators),
    ("GET", "/actions", Administrators),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_is_in_the_table_and_the_other_way_round() {
    let stand = Stand::new().await;
    let description = told(stand.ask(Method::GET, "/openapi.json"), 200).await;
    assert!(description["openapi"].as_str().expect("a version").starts_with("3.1"));
    let mut described = BTreeSet::new();
    for (path, item) in description["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("operations").keys() {
            let path = path.strip_prefix("/api/v1").expect("below /api/v1").to_owned();
            described.insert((method.to_uppercase(), path));
        }
    }
    let listed: BTreeSet<_> =
        TABLE.into_iter().map(|(method, path, _)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(described, listed, "routes and rows of the table");
    // The description's rights are those of the table.
    for (method, path, may) in TABLE.into_iter() {
        let operation = &description["paths"][format!("/api/v1{path}")][method.to_lowercase()];
        let scope = match may {
            Everybody => None,
            Viewers => Some("viewer"),
            Administrators => Some("administrator"),
        };
        assert_eq!(operation["security"][0]["token"][0].as_str(), scope, "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn role_without_permission_is_refused() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let wrong = Secret::generate(&mut rand::rng()).expose().to_owned();
    let almost = {
        let last = if tokens.administrator.ends_with('A') { 'Q' } else { 'A' };
        format!("{}{last}", &tokens.administrator[..tokens.administrator.len() - 1])
    };
    let actions_before = stand.get("/actions", &tokens.administrator).await;
    // The caller, the credential, and the rights.
    let callers: [(&str, Option<&str>, Option<May>); 7] = [
        ("nobody", None, None),
        ("a wrong token", Some(&wrong), None),
        ("almost the token", Some(&almost), None),
        ("no token at all", Some("wst_"), None),
        ("a revoked token", Some(&tokens.revoked), None),
        ("a viewer", Some(&tokens.viewer), Some(Viewers)),
        ("an administrator", Some(&tokens.administrator), Some(Administrators)),
    ];
    for (method, path, may) in TABLE.into_iter() {
        let path =
            path.replace("{meter}", "65535").replace("{id}", "999999").replace("{digest}", &"0".repeat(64));
        for (who, token, is) in callers {
            for by_cookie in [false, true] {
                let mut methods = vec![method];
                if method == "GET" && path != "/events" {
                    methods.push("HEAD");
                }
                for method in methods {
                    let mut request = stand.ask(method.parse().expect("a method"), &path);
                    request = match token {
                        Some(token) if by_cookie => request.header("cookie", format!("wattseal={token}")),
                        Some(token) => request.bearer_auth(token),
                        None => request,
                    };
                    let status = request.send().await.expect("an answer").status();
                    let what = format!("{method} {path} by {who}, cookie: {by_cookie}");
                    let wanted = match (may, is) {
                        // Nobody has no name to be told.
                        (Everybody, None) if path == "/session" && matches!(method, "GET" | "HEAD") => {
                            Some(401)
                        }
                        (Everybody, _) => None,
                        (_, None) => Some(401),
                        (Administrators, Some(Viewers)) => Some(403),
                        _ => None,
                    };
                    match wanted {
                        Some(wanted) => assert_eq!(status.as_u16(), wanted, "{what}"),
                        None => {
                            let refused = [
                                StatusCode::UNAUTHORIZED,
                                StatusCode::FORBIDDEN,
                                StatusCode::METHOD_NOT_ALLOWED,
                            ];
                            assert!(
                                !refused.contains(&status) && !status.is_server_error(),
                                "{what}: {status}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert_eq!(
        stand.get("/actions", &tokens.administrator).await,
        actions_before,
        "somebody changed something"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_token_nobody_is_anything() {
    let stand = Stand::new().await;
    let wrong = Secret::generate(&mut rand::rng()).expose().to_owned();
    let cookie = format!("wattseal={wrong}");
    for (method, path, _) in TABLE.into_iter().filter(|(_, _, may)| *may != Everybody) {
        let path = path.replace("{meter}", "258").replace("{id}", "1");
        let ask = || {
            stand
                .ask(method.parse().expect("a method"), &path)
                .json(&json!({"name": "eve", "role": "administrator"}))
        };
        for (who, request) in [
            ("somebody on this machine", ask()),
            ("a wrong token", ask().bearer_auth(&wrong)),
            ("a cookie of before", ask().header("cookie", &cookie)),
            ("a proxy", ask().header("x-forwarded-for", "192.0.2.1")),
            ("a name bound to loopback", ask().header("host", "evil.example")),
            ("the link's secret as a token", ask().bearer_auth(stand.link_secret())),
        ] {
            let (code, hint) = refused(request, 401).await;
            assert_eq!(code, "no-administrator", "{who}: {method} {path}");
            assert!(hint.contains(".one-time-link") && !hint.contains("wsl_"), "{hint}");
        }
    }
    assert_eq!(refused(stand.ask(Method::GET, "/session"), 401).await.0, "no-administrator");
    // Public routes stay public.
    for path in ["/health", "/openapi.json"] {
        told(stand.ask(Method::GET, path), 200).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn setup_link_makes_first_administrator_only_once() {
    let stand = Stand::new().await;
    let secret = stand.link_secret();
    let first = |secret: &str| stand.ask(Method::POST, "/tokens/first").json(&json!({"secret": secret}));
    let almost = format!("{}{}", &secret[..secret.len() - 1], if secret.ends_with('A') { 'Q' } else { 'A' });
    for wrong in ["", "wsl_", &almost, &secret[4..], Secret::generate(&mut rand::rng()).expose()] {
        assert_eq!(refused(first(wrong), 401).await.0, "link-over", "{wrong}");
    }
    // A page of another origin does not even use a link that it knows; a name that is taken by
    // nobody does not use it up.
    for (header, value) in
        [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site")]
    {
        assert_eq!(refused(first(&secret).header(header, value), 403).await.0, "other-origin");
    }
    let form = stand
        .ask(Method::POST, "/tokens/first")
        .header("content-type", "text/plain")
        .body(format!(r#"{{"secret":"{secret}"}}"#));
    assert_eq!(refused(form, 400).await.0, "content-type");
    let local = json!({"secret": secret, "name": "local"});
    assert_eq!(refused(stand.ask(Method::POST, "/tokens/first").json(&local), 409).await.0, "name-taken");
    assert!(stand.link.file().exists());

    let response = first(&secret).send().await.expect("an answer");
    assert_eq!(response.status(), 201);
    let cookie = response.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let made: serde_json::Value = response.json().await.expect("JSON");
    assert_eq!((&made["name"], &made["role"]), (&json!("administrator"), &json!("administrator")));
    let token = made["token"].as_str().expect("the secret");
    assert!(cookie.starts_with(&format!("wattseal={token};")), "the cookie is of another token");
    assert_eq!(stand.get("/session", token).await["role"], "administrator");
    assert!(!stand.link.file().exists(), "the link's file stays");
    assert_eq!(refused(first(&secret), 401).await.0, "link-over");
    let actions = stand.get("/actions", token).await;
    assert_eq!((actions.as_array().expect("a list").len(), &actions[0]["who"]), (1, &json!("one-time link")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_those_who_open_the_link_at_once_one_comes_in() {
    let stand = Stand::new().await;
    let secret = stand.link_secret();
    let asked: Vec<_> = (0..16)
        .map(|who| {
            let first = json!({"secret": secret, "name": format!("who {who}")});
            tokio::spawn(stand.ask(Method::POST, "/tokens/first").json(&first).send())
        })
        .collect();
    let mut made = 0;
    for asked in asked {
        let status = asked.await.expect("no panic").expect("an answer").status().as_u16();
        assert!([201, 401].contains(&status), "{status}");
        made += usize::from(status == 201);
    }
    assert_eq!(made, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn link_guesser_is_told_to_wait_and_its_holder_not() {
    let stand =
        Stand::with(Rates { failures_per_min: Rates::default().failures_per_min, ..no_limits() }, None).await;
    let mut statuses = Vec::new();
    for _ in 0..7 {
        let wrong = json!({"secret": Secret::generate(&mut rand::rng()).expose()});
        let asked = stand.ask(Method::POST, "/tokens/first").json(&wrong).send();
        statuses.push(asked.await.expect("an answer").status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429, 429]);
    stand.first_token("anna").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_administrator_stays() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    for path in ["/meters", "/tokens", "/session", "/events"] {
        assert_eq!(refused(stand.ask(Method::GET, path), 401).await.0, "token-missing");
    }
    let list = stand.get("/tokens", &tokens.administrator).await;
    let anna = list.as_array().expect("a list").iter().find(|token| token["name"] == "anna").expect("her");
    let last =
        stand.ask(Method::DELETE, &format!("/tokens/{}", anna["id"])).bearer_auth(&tokens.administrator);
    assert_eq!(refused(last, 409).await.0, "last-administrator");
    // No secret and no hash is in the list.
    assert!(
        list.as_array()
            .expect("a list")
            .iter()
            .all(|token| token.get("token").is_none() && token.get("hash").is_none())
    );
    let again = json!({"name": "anna", "role": "viewer"});
    let again = stand.ask(Method::POST, "/tokens").bearer_auth(&tokens.administrator).json(&again);
    assert_eq!(refused(again, 409).await.0, "name-taken");
}
