//! The API with several networks: a caller who names none sees network 0, as if there were no
//! others.

use super::events::Listener;
use super::stand::{METERS, Stand, no_limits, refused, told};
use collector::network::NetworkId;
use reqwest::Method;
use serde_json::{Value, json};

/// 2026-03-01T00:00:00Z.
const BEGIN_S: i64 = 1_772_323_200;

fn meters(list: &Value) -> Vec<(Value, Value)> {
    let of = |one: &Value| (one["network"].clone(), one["meter"].clone());
    list.as_array().expect("a list").iter().map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn meters_differ_by_network_and_unnamed_network_is_0() {
    let stand = Stand::of_networks(no_limits(), None, &[NetworkId::DEFAULT, NetworkId(7)]).await;
    let tokens = stand.tokens().await;
    let token = &tokens.administrator;
    let mut default = Listener::new(&stand, token, "/events").await;
    let mut all = Listener::new(&stand, token, "/events?network=all").await;
    let reading = |told: &Value| (told["network"].clone(), told["meter"].clone(), told["power_w"].clone());
    // Network 7's first: they would come first where they do not belong. Its meters are behind
    // network 0's.
    for (which, network, power_w) in [(METERS.len(), json!(7), 700), (0, Value::Null, 100)] {
        for (n, at_s, energy_dwh) in [(1, BEGIN_S, 10), (2, BEGIN_S + 60, 10 + power_w as u32)] {
            stand.measure(which, n, at_s, energy_dwh, power_w);
            let told = all.named("reading").await;
            assert_eq!(reading(&told), (network.clone(), json!(258), json!(power_w)));
        }
    }
    for _ in 0..2 {
        assert_eq!(reading(&default.named("reading").await), (Value::Null, json!(258), json!(100)));
    }

    let (none, seven) = (Value::Null, json!(7));
    let get = async |path: &str| stand.get(path, token).await;
    let of_network_0 = [(none.clone(), json!(258)), (none.clone(), json!(300))];
    let of_network_7 = [(seven.clone(), json!(258)), (seven.clone(), json!(300))];
    for path in ["/meters", "/meters?network=0"] {
        assert_eq!(meters(&get(path).await), of_network_0, "{path}");
    }
    assert_eq!(meters(&get("/meters?network=7").await), of_network_7);
    assert_eq!(meters(&get("/meters?network=all").await), [of_network_0, of_network_7].concat());
    assert_eq!(meters(&get("/meters?network=8").await), []);

    let range = format!("from={BEGIN_S}&to={}", BEGIN_S + 3600);
    for (name, power_w) in [("258", 100), ("7-258", 700)] {
        let readings = get(&format!("/meters/{name}/readings?{range}")).await;
        assert_eq!(readings["power_w"], json!([power_w, power_w]), "{name}");
        let one = get(&format!("/meters/{name}")).await;
        assert_eq!((&one["meter"], &one["last"]["power_w"]), (&json!(258), &json!(power_w)), "{name}");
        let used = get(&format!("/consumption?{range}&meter={name}&resolution=hour")).await;
        assert_eq!(used["meters"][0]["used_wh"], json!([1.0 + f64::from(power_w) / 10.0]), "{name}");
    }
    let used = |list: &Value| meters(&list["meters"]).len();
    assert_eq!(used(&get(&format!("/consumption?{range}")).await), 2);
    assert_eq!(used(&get(&format!("/consumption?{range}&network=all")).await), 4);

    let label = json!({"label": "Flat 7"});
    told(stand.ask(Method::PATCH, "/meters/7-258").bearer_auth(token).json(&label), 200).await;
    assert_eq!(get("/meters/258").await["label"], "");
    assert_eq!(get("/meters/7-258").await["label"], "Flat 7");
    let event = all.named("meter").await;
    assert_eq!(event, json!({"event": "meter", "network": 7, "meter": 258}));

    let order = json!({"command": "reboot"});
    let request = stand.ask(Method::POST, "/meters/7-258/commands").bearer_auth(token).json(&order);
    let command = told(request, 201).await;
    assert_eq!((&command["network"], &command["meter"]), (&seven, &json!(258)));
    let id = &command["id"];
    let other = stand.ask(Method::DELETE, &format!("/meters/258/commands/{id}")).bearer_auth(token);
    assert_eq!(refused(other, 404).await.0, "command-unknown");
    assert_eq!(get("/meters/258/commands").await, json!([]));
    assert_eq!(meters(&get("/meters/7-258/commands").await), [(seven, json!(258))]);
    let actions = get("/actions?limit=2").await;
    assert!(actions.to_string().contains("commanded meter 7-258"), "{actions}");
    let request = stand.ask(Method::GET, "/metrics").bearer_auth(token);
    let text = request.send().await.expect("an answer").text().await.expect("a text");
    for line in [
        "wattseal_meter_power_watts{meter=\"258\"} 100",
        "wattseal_meter_power_watts{meter=\"258\",network=\"7\"} 700",
        "wattseal_meters 4",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_are_listed_with_their_network_s() {
    let stand = Stand::of_networks(no_limits(), None, &[NetworkId::DEFAULT, NetworkId(7)]).await;
    let tokens = stand.tokens().await;
    let alert = |meter, cause: &str| {
        let (cause, detail) = (cause.to_owned(), String::new());
        collector::store::Write::Alert(collector::store::NewAlert {
            meter,
            at_ms: 1000 * BEGIN_S,
            cause,
            detail,
        })
    };
    let alerts = vec![
        alert(None, "clock"),
        alert(Some(258.into()), "silent"),
        alert(Some(NetworkId(7).meter(258)), "silent"),
    ];
    stand.running.writer().write(alerts).await.expect("written");
    let list = async |query: &str| meters(&stand.get(&format!("/alerts{query}"), &tokens.viewer).await);
    let (own, default) = ((Value::Null, Value::Null), (Value::Null, json!(258)));
    let seven = (json!(7), json!(258));
    assert_eq!(list("").await, [default.clone(), own.clone()]);
    for query in ["?network=7", "?meter=7-258", "?meter=7-258&network=7"] {
        assert_eq!(list(query).await, vec![seven.clone()], "{query}");
    }
    assert_eq!(list("?network=all").await, [seven, default.clone(), own]);
    assert_eq!(list("?meter=258&network=all").await, [default]);
    for (query, code, hint) in [
        ("?meter=258&network=7", "argument-wrong", "7-258"),
        ("?meter=7-", "argument-wrong", ""),
        ("?network=seven", "argument-wrong", ""),
        ("?networks=7", "argument-unknown", "network"),
    ] {
        let request = stand.ask(Method::GET, &format!("/alerts{query}")).bearer_auth(&tokens.viewer);
        let (found, hinted) = refused(request, 400).await;
        assert!(found == code && hinted.contains(hint), "{query}: {found}, {hinted}");
    }
    let request = stand.ask(Method::GET, "/meters/7-259").bearer_auth(&tokens.viewer);
    let (code, hint) = refused(request, 404).await;
    assert!(code == "meter-unknown" && hint.contains("7-258") && hint.contains("network=7"), "{hint}");
    assert_eq!(stand.get("/meters/7-258", &tokens.viewer).await["open_alerts"], 1);
}
