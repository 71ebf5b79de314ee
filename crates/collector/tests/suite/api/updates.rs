//! Images of meters' firmware, and updates: added, begun, listed, taken back, and refused with what
//! is wrong with them.

use super::events::Listener;
use super::stand::{Stand, no_limits, refused, told};
use collector::network::NetworkId;
use device::meter::flash::Flash;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::random::seed;

const MIB: usize = 1 << 20;

fn image(slot: usize, version: u32) -> Vec<u8> {
    Flash::image(slot, version, b"a program")
}

fn add(stand: &Stand, token: &str, image: &[u8]) -> RequestBuilder {
    let request = stand.ask(Method::POST, "/images").bearer_auth(token);
    request.header("content-type", "application/octet-stream").body(image.to_vec())
}

/// The digest of an image that is added.
async fn added(stand: &Stand, token: &str, image: &[u8]) -> String {
    told(add(stand, token, image), 201).await["digest"].as_str().expect("a digest").to_owned()
}

fn begin(stand: &Stand, token: &str, image: &str, meters: Value) -> RequestBuilder {
    let wanted = json!({"image": image, "meters": meters});
    stand.ask(Method::POST, "/updates").bearer_auth(token).json(&wanted)
}

fn withdraw(stand: &Stand, token: &str, meter: &str) -> RequestBuilder {
    stand.ask(Method::DELETE, &format!("/meters/{meter}/update")).bearer_auth(token)
}

async fn whats(stand: &Stand, token: &str) -> Vec<String> {
    let actions = stand.get("/actions", token).await;
    let all = actions.as_array().expect("a list").iter();
    all.map(|action| action["what"].as_str().expect("words").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_is_added_listed_and_taken_away() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let token = &tokens.administrator;
    let file = image(1, 7);
    let made = told(add(&stand, token, &file), 201).await;
    let digest = made["digest"].as_str().expect("a digest").to_owned();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let bytes = file.len();
    let shown = json!({"digest": digest, "target": "host", "version": 7, "address": 0x6000, "bytes": bytes,
        "pieces": bytes.div_ceil(36), "added_s": made["added_s"], "by": "anna"});
    assert_eq!(made, shown);
    assert_eq!(told(add(&stand, token, &file), 200).await, made);
    let later = added(&stand, token, &image(0, 8)).await;
    let list = stand.get("/images", &tokens.viewer).await;
    assert_eq!(
        (&list[0]["digest"], &list[1], list.as_array().map(Vec::len)),
        (&json!(later), &made, Some(2))
    );

    // A viewer looks.
    assert_eq!(refused(add(&stand, &tokens.viewer, &image(0, 9)), 403).await.0, "role");
    let remove = |digest: &str| stand.ask(Method::DELETE, &format!("/images/{digest}"));
    assert_eq!(refused(remove(&digest).bearer_auth(&tokens.viewer), 403).await.0, "role");
    // A name that is almost one is told the right one.
    let near = format!("{}0", &digest[..63]);
    let near = if near == digest { format!("{}1", &digest[..63]) } else { near };
    let (code, hint) = refused(remove(&near).bearer_auth(token), 404).await;
    assert!(code == "image-unknown" && hint.contains(&digest), "{hint}");
    let gone = remove(&digest).bearer_auth(token).send().await.expect("an answer");
    assert_eq!((gone.status().as_u16(), gone.text().await.expect("a text")), (204, String::new()));
    assert_eq!(refused(remove(&digest).bearer_auth(token), 404).await.0, "image-unknown");
    assert_eq!(refused(remove("7").bearer_auth(token), 400).await.0, "path-wrong");
    let whats = whats(&stand, token).await;
    for what in ["added the image", "took the image"] {
        let noted = whats.iter().filter(|noted| noted.contains(what) && noted.contains(&digest)).count();
        assert_eq!(noted, 1, "{what}: {whats:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upload_that_is_no_image_or_above_a_mebibyte_is_refused() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let token = &tokens.administrator;
    let good = image(0, 2);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    for wrong in [
        Vec::new(),
        good[..good.len() - 4].to_vec(),
        [&good[..], &[0; 4]].concat(),
        with(0, b"WSI2"),
        with(32, &[0xff; 4]),
        // A target without a name, and with one that nobody would type.
        with(4, &[0; 16]),
        with(4, b"a b"),
        with(4, b"\xff"),
        b"{}".to_vec(),
    ] {
        assert_eq!(refused(add(&stand, token, &wrong), 422).await.0, "image-invalid", "{wrong:02x?}");
    }
    let (code, hint) =
        refused(stand.ask(Method::POST, "/images").bearer_auth(token).json(&json!({})), 400).await;
    assert!(code == "content-type" && hint.contains("application/octet-stream"), "{code}: {hint}");
    // Header, program and signature.
    let largest = Flash::image(0, 3, &vec![1; MIB - 512 - 44]);
    let larger = Flash::image(0, 4, &vec![1; MIB - 512 - 40]);
    assert_eq!((largest.len(), larger.len()), (MIB, MIB + 4));
    assert_eq!(refused(add(&stand, token, &larger), 413).await.0, "body-too-large");
    assert_eq!(told(add(&stand, token, &largest), 201).await["bytes"], MIB);
    // Of this route alone.
    let label = json!({"label": "x".repeat(70_000)});
    let patch = stand.ask(Method::PATCH, "/meters/258").bearer_auth(token).json(&label);
    assert_eq!(refused(patch, 413).await.0, "body-too-large");

    let seed = seed();
    let rng = &mut StdRng::seed_from_u64(seed);
    for _ in 0..100 {
        let mut bytes = good.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len().min(64));
            match rng.random_range(0..3) {
                0 => bytes[at] = rng.random(),
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(rng.random_range(64..bytes.len().max(65))),
            }
        }
        let answer = add(&stand, token, &bytes).send().await.expect("an answer");
        let status = answer.status().as_u16();
        // There is room for 64 that happen to be images.
        assert!([200, 201, 409, 422].contains(&status), "seed {seed}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_is_begun_listed_and_taken_back() {
    let stand = Stand::of_networks(no_limits(), None, &[NetworkId::DEFAULT, NetworkId(7)]).await;
    let tokens = stand.tokens().await;
    let (token, viewer) = (&tokens.administrator, &tokens.viewer);
    let digest = added(&stand, token, &image(0, 7)).await;
    let mut events = Listener::new(&stand, viewer, "/events?network=7").await;
    // A meter that comes twice is one.
    let begun = told(begin(&stand, token, &digest, json!([300, "7-258", "300", 258])), 201).await;
    let of = |update: &Value| (update["network"].clone(), update["meter"].clone());
    let begun = begun.as_array().expect("a list").clone();
    let named = [(Value::Null, json!(300)), (json!(7), json!(258)), (Value::Null, json!(258))];
    assert_eq!(begun.iter().map(of).collect::<Vec<_>>(), named);
    let shown = json!({"meter": 300, "image": digest, "version": 7, "state": "waiting", "refusal": null, "pieces": 0,
        "of": begun[0]["of"], "by": "anna", "created_s": begun[0]["created_s"], "changed_s": begun[0]["changed_s"]});
    assert_eq!(begun[0], shown);
    assert_eq!(events.named("update").await, json!({"event": "update", "network": 7, "meter": 258}));
    let list = async |query: &str| stand.get(&format!("/updates{query}"), viewer).await;
    assert_eq!(list("").await.as_array().map(Vec::len), Some(2));
    assert_eq!(list("?network=7").await, json!([begun[1]]));
    assert_eq!(list("?network=all").await.as_array().map(Vec::len), Some(3));
    // The same again changes nothing; a viewer neither.
    assert_eq!(told(begin(&stand, token, &digest, json!([300])), 201).await, json!([begun[0]]));
    assert_eq!(refused(begin(&stand, viewer, &digest, json!([300])), 403).await.0, "role");
    assert_eq!(refused(withdraw(&stand, viewer, "300"), 403).await.0, "role");

    let remove = || stand.ask(Method::DELETE, &format!("/images/{digest}")).bearer_auth(token);
    assert_eq!(refused(remove(), 409).await.0, "image-in-use");
    let gone = told(withdraw(&stand, token, "300"), 200).await;
    assert_eq!((&gone["state"], &gone["meter"]), (&json!("withdrawn"), &json!(300)));
    assert_eq!(refused(withdraw(&stand, token, "300"), 409).await.0, "update-over");
    assert_eq!(refused(withdraw(&stand, token, "7-300"), 404).await.0, "update-unknown");
    assert_eq!(refused(withdraw(&stand, token, "259"), 404).await.0, "meter-unknown");
    // The latest change first.
    assert_eq!(list("").await[0], gone);
    // Another image takes the place of the one before.
    let other = added(&stand, token, &image(1, 8)).await;
    let replaced = told(begin(&stand, token, &other, json!([258, "7-258"])), 201).await;
    assert_eq!((&replaced[0]["image"], &replaced[0]["version"]), (&json!(other), &json!(8)));
    assert_eq!(remove().send().await.expect("an answer").status(), 204, "nobody needs it any more");
    let whats = whats(&stand, token).await;
    let noted = |what: &str| whats.iter().any(|noted| noted.contains(what));
    assert!(noted("began to update meters 258, 300, 7-258 to version 7 of host"), "{whats:?}");
    assert!(noted("took the update of meter 300 back"), "{whats:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_meter_or_image_begins_no_update() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let token = &tokens.administrator;
    let digest = added(&stand, token, &image(0, 7)).await;
    let (code, hint) = refused(begin(&stand, token, &digest, json!([258, 259, 300])), 404).await;
    assert!(code == "meter-unknown" && hint.contains("258"), "{code}: {hint}");
    assert_eq!(refused(begin(&stand, token, &"ab".repeat(32), json!([258])), 404).await.0, "image-unknown");
    let many: Vec<u16> = (1..=1001).collect();
    for (image, meters, code) in [
        (&digest[..], json!([]), "argument-range"),
        (&digest, json!(many), "argument-range"),
        (&digest, json!([258, "flat"]), "body-wrong"),
        (&digest, json!([258, 65_536]), "body-wrong"),
        (&digest, json!([258, -1]), "body-wrong"),
        (&digest, json!([258, "7.258"]), "body-wrong"),
        (&digest, json!(258), "body-wrong"),
        ("seven", json!([258]), "body-wrong"),
    ] {
        assert_eq!(refused(begin(&stand, token, image, meters.clone()), 422).await.0, code, "{meters}");
    }
    stand.running.meters().revoke(300.into()).await.expect("it was there");
    assert_eq!(refused(begin(&stand, token, &digest, json!([258, 300])), 409).await.0, "meter-revoked");
    assert_eq!(stand.get("/updates?network=all", token).await, json!([]));
    assert!(!whats(&stand, token).await.iter().any(|what| what.contains("began")), "nothing was");
}
