//! Readings, consumption, alerts, metrics: the figures that were measured are the ones that are
//! shown.

use super::stand::{EPOCH_S, Stand, told, until};
use reqwest::Method;
use serde_json::{Value, json};

/// 2026-03-01 00:00:00 UTC: `date -u -d 2026-03-01 +%s`.
const BEGIN_S: i64 = 1_772_323_200;

async fn filled() -> Stand {
    let stand = Stand::administrated().await;
    for n in 1..=25u32 {
        stand.measure(0, n, BEGIN_S + 600 * i64::from(n), 50 * n, -(n as i16));
        until(async || {
            let meter = told(stand.ask(Method::GET, "/meters/258"), 200).await;
            (meter["last"]["at_s"] == json!(BEGIN_S + 600 * i64::from(n))).then_some(())
        })
        .await;
    }
    stand
}

async fn get(stand: &Stand, path: &str) -> Value {
    told(stand.ask(Method::GET, path), 200).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measured_costs_are_shown() {
    assert_eq!(EPOCH_S % 86_400, 0);
    let stand = filled().await;
    let range = "from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z";
    let whole = get(&stand, &format!("/meters/258/readings?{range}")).await;
    let columns = |of: &dyn Fn(i64) -> Value| Value::Array((1..=25).map(of).collect());
    assert_eq!(
        whole,
        json!({
            "meter": 258,
            "resolution": "raw",
            "at_s": columns(&|n| json!(BEGIN_S + 600 * n)),
            "power_w": columns(&|n| json!(-n)),
            "energy_wh": columns(&|n| json!(5.0 * n as f64)),
            "next": null,
        })
    );
    // Page by page it is the same, `next` being where the next one begins.
    let (mut at_s, mut from, mut pages) = (Vec::new(), "2026-03-01T00:00:00Z".to_owned(), 0);
    loop {
        let page =
            get(&stand, &format!("/meters/258/readings?from={from}&to=2026-03-02T00:00:00Z&limit=7")).await;
        at_s.extend(page["at_s"].as_array().expect("a column").clone());
        pages += 1;
        match &page["next"] {
            Value::String(next) => from = next.clone(),
            next => {
                assert!(next.is_null(), "{next}");
                break;
            }
        }
    }
    assert_eq!((Value::Array(at_s), pages), (whole["at_s"].clone(), 4));
    // The same range in Unix seconds, and in another zone's time.
    for range in [
        format!("from={BEGIN_S}&to={}", BEGIN_S + 86_400),
        "from=2026-03-01T01:00:00%2B01:00&to=2026-03-01T19:00:00-05:00".to_owned(),
    ] {
        assert_eq!(get(&stand, &format!("/meters/258/readings?{range}")).await, whole, "{range}");
    }
    let half =
        get(&stand, &format!("/meters/258/readings?from={}&to={}", BEGIN_S + 1200, BEGIN_S + 1800)).await;
    assert_eq!(half["at_s"], json!([BEGIN_S + 1200]));
    assert_eq!(get(&stand, &format!("/meters/300/readings?{range}")).await["at_s"], json!([]));

    // 25 readings of 5 Wh, six an hour; the first five of them before one o'clock.
    let hours = get(&stand, &format!("/meters/258/readings?{range}&resolution=hour")).await;
    assert_eq!(hours["readings"], json!([5, 6, 6, 6, 2]));
    assert_eq!(hours["used_wh"], json!([25.0, 30.0, 30.0, 30.0, 10.0]));
    assert_eq!(
        (&hours["power_min_w"][0], &hours["power_max_w"][0], &hours["power_w"][0]),
        (&json!(-5), &json!(-1), &json!(-3.0))
    );
    let days = get(&stand, &format!("/consumption?{range}&resolution=day")).await;
    assert_eq!((&days["start_s"], &days["zone"]), (&json!([BEGIN_S]), &json!("UTC")));
    let of = |meter: u16| {
        days["meters"].as_array().expect("meters").iter().find(|of| of["meter"] == meter).cloned()
    };
    assert_eq!(of(258).expect("it")["used_wh"], json!([125.0]));
    let one = get(&stand, &format!("/consumption?{range}&resolution=month&meter=258")).await;
    assert_eq!(
        (&one["meters"].as_array().expect("meters").len(), &one["meters"][0]["used_wh"]),
        (&1, &json!([125.0]))
    );

    let meters = get(&stand, "/meters").await;
    let names: Vec<_> =
        meters.as_array().expect("meters").iter().map(|meter| meter["meter"].clone()).collect();
    assert_eq!(names, [json!(258), json!(300)]);
    assert_eq!((&meters[0]["link"]["reports"], &meters[0]["link"]["rssi_dbm"]), (&json!(25), &json!(-61)));
    assert_eq!((&meters[1]["last"], &meters[1]["heard_s"]), (&Value::Null, &Value::Null));
    let suites: Vec<_> = get(&stand, "/costs")
        .await
        .as_array()
        .expect("costs")
        .iter()
        .map(|cost| cost["suite"].clone())
        .collect();
    assert_eq!(suites, ["none", "aes128-gcm", "aes256-gcm", "ecies", "ecies-ecdsa", "ascon-aead128"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_as_prometheus_reads_them() {
    let stand = filled().await;
    let label = json!({"label": "Flat \"3\" \\"});
    told(stand.ask(Method::PATCH, "/meters/258").json(&label), 200).await;
    let response = stand.ask(Method::GET, "/metrics").send().await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = response.text().await.expect("text");
    let (mut typed, mut buckets) = (std::collections::BTreeSet::new(), Vec::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("name and type");
            assert!(["gauge", "counter", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            let of_it = if kind == "histogram" { &["_bucket", "_sum", "_count"][..] } else { &[""] };
            for suffix in of_it {
                assert!(typed.insert(format!("{name}{suffix}")), "twice: {line}");
            }
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').expect("name and value");
            if name.starts_with("wattseal_commit_seconds_bucket{le=") {
                buckets.push(value.parse::<u64>().expect("a count"));
            }
            let name = name.split('{').next().expect("a name");
            assert!(typed.contains(name) && value.parse::<f64>().is_ok(), "{line}");
        }
    }
    assert!(buckets.len() > 10 && buckets.is_sorted(), "{buckets:?}");
    let all = buckets.last().expect("that of all");
    assert!(*all > 0 && text.contains(&format!("wattseal_commit_seconds_count {all}\n")), "{text}");
    assert!(text.contains(&format!("wattseal_commit_seconds_bucket{{le=\"+Inf\"}} {all}\n")), "{text}");
    for line in [
        "wattseal_link_up 1",
        "wattseal_store_up 1",
        "wattseal_reports_total 25",
        "wattseal_refused_total{reason=\"not-authentic\"} 0",
        "wattseal_meter_power_watts{meter=\"258\"} -25",
        "wattseal_meter_energy_watt_hours_total{meter=\"258\"} 125",
        "wattseal_meter_rssi_dbm{meter=\"258\"} -61",
        "wattseal_meter_online{meter=\"300\"} 0",
        r#"wattseal_meter_info{meter="258",label="Flat \"3\" \\",suite="aes128-gcm",revoked="false"} 1"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("wattseal_meter_power_watts{meter=\"300\"}"), "it never measured");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alert_is_acknowledged_once_and_by_whom_is_known() {
    let stand = Stand::new().await;
    let alert = collector::store::NewAlert {
        meter: None,
        at_ms: 1000 * BEGIN_S,
        cause: "clock".into(),
        detail: "set back".into(),
    };
    stand.running.writer().write_one(collector::store::Write::Alert(alert)).await.expect("written");
    let tokens = stand.tokens().await;
    let open = stand.get("/alerts?open=true", &tokens.viewer).await;
    let alert =
        open.as_array().expect("alerts").iter().find(|alert| alert["cause"] == "clock").expect("it").clone();
    assert_eq!(
        (&alert["at_s"], &alert["meter"], &alert["acknowledged_by"]),
        (&json!(BEGIN_S), &Value::Null, &Value::Null)
    );
    let path = format!("/alerts/{}/acknowledge", alert["id"]);
    let first = told(stand.ask(Method::POST, &path).bearer_auth(&tokens.administrator), 200).await;
    assert_eq!(first["acknowledged_by"], "anna");
    assert_eq!(told(stand.ask(Method::POST, &path).bearer_auth(&tokens.administrator), 200).await, first);
    let still_open = stand.get("/alerts?open=true", &tokens.viewer).await;
    assert!(still_open.as_array().expect("alerts").iter().all(|open| open["id"] != alert["id"]));
    let actions = stand.get("/actions?limit=1", &tokens.administrator).await;
    assert_eq!(actions[0]["who"], "anna");
    assert!(actions[0]["what"].as_str().expect("words").contains("acknowledged alert"), "{actions}");
}
