//! Who may do what: every route of the description by everybody that there is.

use crate::stand::{Stand, refused, told};
use collector::api::Secret;
use reqwest::{Method, StatusCode};
use std::collections::BTreeSet;

/// Who may.
#[derive(Clone, Copy, Debug, PartialEq)]
enum May {
    Everybody,
    Viewers,
    Administrators,
}
use May::{Administrators, Everybody, Viewers};

/// The table of docs/collector.md. What is asked for does not exist, or has no body, so that who may changes nothing.
const TABLE: [(&str, &str, May); 22] = [
    ("GET", "/health", Everybody),
    ("GET", "/openapi.json", Everybody),
    ("POST", "/session", Everybody),
    ("GET", "/session", Everybody),
    ("DELETE", "/session", Everybody),
    ("GET", "/meters", Viewers),
    ("GET", "/meters/{meter}", Viewers),
    ("PATCH", "/meters/{meter}", Administrators),
    ("GET", "/meters/{meter}/readings", Viewers),
    ("GET", "/consumption", Viewers),
    ("GET", "/alerts", Viewers),
    ("POST", "/alerts/{id}/acknowledge", Administrators),
    ("GET", "/meters/{meter}/commands", Viewers),
    ("POST", "/meters/{meter}/commands", Administrators),
    ("DELETE", "/meters/{meter}/commands/{id}", Administrators),
    ("GET", "/costs", Viewers),
    ("GET", "/events", Viewers),
    ("GET", "/metrics", Viewers),
    ("GET", "/tokens", Administrators),
    ("POST", "/tokens", Administrators),
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
    // What the description says of who may is what the table says.
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
async fn nobody_does_what_is_not_theirs() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let wrong = Secret::generate(&mut rand::rng()).expose().to_owned();
    let almost = {
        let last = if tokens.administrator.ends_with('A') { 'Q' } else { 'A' };
        format!("{}{last}", &tokens.administrator[..tokens.administrator.len() - 1])
    };
    let actions_before = stand.get("/actions", &tokens.administrator).await;
    // Who, by what, and what they may.
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
        let path = path.replace("{meter}", "65535").replace("{id}", "999999");
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
                        // Who one is, nobody can be told who is nobody.
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
async fn without_a_token_everybody_here_is_administrator_until_there_is_one() {
    let stand = Stand::new().await;
    let me = told(stand.ask(Method::GET, "/session"), 200).await;
    assert_eq!((me["name"].as_str(), me["role"].as_str()), (Some("local"), Some("administrator")));
    told(stand.ask(Method::GET, "/meters"), 200).await;
    // A page of elsewhere, whose name was bound to loopback; one that asks across origins; a proxy.
    for (header, value) in [
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example:8080"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "http://evil.example"),
        ("x-forwarded-for", "192.0.2.1"),
    ] {
        for (method, path) in [(Method::GET, "/meters"), (Method::POST, "/tokens"), (Method::GET, "/session")]
        {
            let request = stand.ask(method, path).header(header, value).json(&serde_json::json!({}));
            refused(request, 403).await;
        }
    }
    // A wrong token is wrong here, too.
    let wrong = Secret::generate(&mut rand::rng());
    refused(stand.ask(Method::GET, "/meters").bearer_auth(wrong.expose()), 401).await;
    // An old cookie is not.
    told(stand.ask(Method::GET, "/meters").header("cookie", format!("wattseal={}", wrong.expose())), 200)
        .await;

    let viewer = serde_json::json!({"name": "ben", "role": "viewer"});
    let (code, _) = refused(stand.ask(Method::POST, "/tokens").json(&viewer), 409).await;
    assert_eq!(code, "administrator-first");
    let local = serde_json::json!({"name": "local", "role": "administrator"});
    refused(stand.ask(Method::POST, "/tokens").json(&local), 409).await;
    let tokens = stand.tokens().await;
    for path in ["/meters", "/tokens", "/session", "/events"] {
        refused(stand.ask(Method::GET, path), 401).await;
    }
    // The last administrator cannot go, and so it never opens again.
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
    let again = serde_json::json!({"name": "anna", "role": "viewer"});
    let again = stand.ask(Method::POST, "/tokens").bearer_auth(&tokens.administrator).json(&again);
    assert_eq!(refused(again, 409).await.0, "name-taken");
}
