//! TLS from end to end, with certificates made here, and files that are none.

use super::stand::{LONG, Stand, no_limits, told};
use collector::api::{Listen, ListenError, TlsFiles};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::{Certificate, Client, Method, Version};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn made(folder: &Path, name: &str) -> (TlsFiles, CertifiedKey<rcgen::KeyPair>) {
    let made =
        generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("a certificate");
    let files = TlsFiles {
        certificate: folder.join(format!("{name}.pem")),
        key: folder.join(format!("{name}-key.pem")),
    };
    std::fs::write(&files.certificate, made.cert.pem()).expect("written");
    std::fs::write(&files.key, made.signing_key.serialize_pem()).expect("written");
    (files, made)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_client_trusting_the_certificate_is_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, made) = made(folder.path(), "one");
    let mut stand = Stand::with(no_limits(), Some(files)).await;
    // The stand's own client trusts nobody here.
    let stranger = stand.ask(Method::GET, "/health").send().await.expect_err("an unknown certificate");
    assert!(stranger.is_connect(), "{stranger:?}");
    let plain =
        Client::new().get(format!("http://{}/api/v1/health", stand.address)).timeout(LONG).send().await;
    assert!(plain.is_err(), "{plain:?}");

    let certificate = Certificate::from_pem(made.cert.pem().as_bytes()).expect("a certificate");
    let client = Client::builder().tls_certs_only([certificate]).timeout(LONG).build().expect("a client");
    stand.client = client;
    let health = stand.ask(Method::GET, "/health").send().await.expect("an answer");
    assert_eq!((health.status().as_u16(), health.version()), (200, Version::HTTP_11));
    let tokens = stand.tokens().await;
    let sign_in = stand.ask(Method::POST, "/session").json(&serde_json::json!({"token": tokens.viewer}));
    let response = sign_in.send().await.expect("an answer");
    let cookie = response.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(cookie.starts_with("__Host-wattseal=wst_") && cookie.contains("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().expect("name and value").to_owned();
    told(stand.ask(Method::GET, "/meters").header("cookie", &cookie), 200).await;
    // A cookie that a page without TLS may have set is not the session.
    let other = cookie.replace("__Host-", "");
    told(stand.ask(Method::GET, "/meters").header("cookie", other), 401).await;
    stand.stop_serving().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_without_tls_agreement_is_disconnected() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, _) = made(folder.path(), "one");
    let stand = Stand::with(no_limits(), Some(files)).await;
    let waiting = [&b""[..], b"\x16\x03\x01\x02\x00\x01"].map(async |said| {
        let mut stream = TcpStream::connect(stand.address).await.expect("connected");
        stream.write_all(said).await.expect("written");
        // Five seconds, and what this machine takes.
        let closed = tokio::time::timeout(Duration::from_secs(8), stream.read_to_end(&mut Vec::new())).await;
        assert!(closed.is_ok(), "{said:?} holds a connection");
    });
    let [nothing, half] = waiting;
    tokio::join!(nothing, half);
}

#[test]
fn files_that_are_none_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let ((one, _), (two, _)) = (made(folder.path(), "one"), made(folder.path(), "two"));
    let nonsense = folder.path().join("nonsense.pem");
    std::fs::write(&nonsense, "nonsense").expect("written");
    let broken = folder.path().join("broken.pem");
    let text = std::fs::read_to_string(&one.certificate).expect("there");
    std::fs::write(&broken, &text[..text.len() / 2]).expect("written");
    let missing = folder.path().join("missing.pem");
    let with = |certificate: &Path, key: &Path| {
        let files = TlsFiles { certificate: certificate.to_owned(), key: key.to_owned() };
        Listen { address: "127.0.0.1:0".parse().expect("an address"), tls: Some(files), proxies: Vec::new() }
            .bind(false)
    };
    with(&one.certificate, &one.key).expect("they belong together");
    for (certificate, key, words) in [
        (&missing, &one.key, "cannot read"),
        (&one.certificate, &missing, "cannot read"),
        (&nonsense, &one.key, "has no certificate"),
        (&one.key, &one.key, "has no certificate"),
        (&one.certificate, &nonsense, "has no private key"),
        (&one.certificate, &one.certificate, "has no private key"),
        (&broken, &one.key, "broken.pem"),
        (&one.certificate, &two.key, "cannot be used"),
    ] {
        let error = with(certificate, key).expect_err(words);
        let text = error.to_string();
        assert!(matches!(error, ListenError::Tls(_)) && text.contains(words), "{words}: {text}");
    }
}
