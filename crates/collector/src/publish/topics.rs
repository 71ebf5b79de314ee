//! Topics and payloads.

use crate::event::{Alert, Reading};
use crate::network::GlobalMeterId;
use crate::store::Meter;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The topic of the collector's state: [`ONLINE`] or [`OFFLINE`], retained.
pub const STATUS: &str = "wattseal/status";
pub const ONLINE: &str = "online";
/// It is not: said by itself when it stops, else by the broker.
pub const OFFLINE: &str = "offline";
/// The topic of Home Assistant's discovery, by its default.
pub(super) const DISCOVERY: &str = "homeassistant";
/// The intervals without a newer figure after which Home Assistant shows it as not available; there
/// is also a least time in seconds.
const EXPIRES_AFTER_INTERVALS: u32 = 3;
const EXPIRES_AFTER_S: u32 = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub topic: String,
    /// The payload; an empty one takes a retained message back.
    pub payload: Vec<u8>,
    /// Asks the broker to keep it for later subscribers.
    pub retain: bool,
}

impl Said {
    /// A message that the broker keeps.
    #[must_use]
    pub fn retained(topic: impl Into<String>, payload: impl Into<Vec<u8>>) -> Said {
        Said { topic: topic.into(), payload: payload.into(), retain: true }
    }

    /// A message that passes.
    #[must_use]
    pub fn passing(topic: impl Into<String>, payload: impl Into<Vec<u8>>) -> Said {
        Said { topic: topic.into(), payload: payload.into(), retain: false }
    }

    pub(super) fn again(topic: String, payload: &[u8], retain: bool) -> Said {
        Said { topic, payload: payload.to_vec(), retain }
    }

    /// Says if it is sent anew at each connection.
    pub(super) fn is_of_the_connection(&self) -> bool {
        self.topic == STATUS || self.topic.starts_with(DISCOVERY)
    }
}

/// The names of meters in emonCMS.
#[derive(Clone, Debug, Default)]
pub struct Names(HashMap<GlobalMeterId, String>);

impl Names {
    /// By their labels, in which only letters, digits, `-`, `_` and `.` stay; without one
    /// `meter258`, `meter7_258`. Where two would be the same, `-258`, `-7_258` is added to both,
    /// and to all that look as if theirs was: figures of two must not come under one name.
    #[must_use]
    pub fn of(meters: &BTreeMap<GlobalMeterId, Meter>) -> Names {
        let mut count: HashMap<String, usize> = HashMap::new();
        for meter in meters.values() {
            *count.entry(plain(meter)).or_default() += 1;
        }
        let unique = |meter: &Meter| match plain(meter) {
            name if count[&name] == 1 && !ends_in_number(&name) => name,
            name => format!("{name}-{}", word(meter.meter)),
        };
        Names(meters.values().map(|meter| (meter.meter, unique(meter))).collect())
    }

    pub(super) fn knows(&self, meter: GlobalMeterId) -> bool {
        self.0.contains_key(&meter)
    }

    /// A measurement: once whole, and its two figures as emonCMS takes them, in W and Wh.
    #[must_use]
    pub fn reading(&self, reading: &Reading) -> Vec<Said> {
        let Reading { meter, n, at_s, power_w, energy_dwh, total_dwh, .. } = *reading;
        let energy_wh = f64::from(energy_dwh) / 10.0;
        let total_wh = total_dwh.map(|total_dwh| total_dwh as f64 / 10.0);
        let whole = json!({
            "at_s": at_s,
            "power_w": power_w,
            "energy_wh": energy_wh,
            "total_wh": total_wh,
            "n": n,
        });
        let name = self.0.get(&meter).cloned().unwrap_or_else(|| unnamed(meter));
        vec![
            Said::retained(topic(meter, "reading"), whole.to_string()),
            Said::passing(format!("emon/{name}/power"), power_w.to_string()),
            Said::passing(format!("emon/{name}/energy"), energy_wh.to_string()),
        ]
    }
}

/// A meter in one word, without what stands before a number in [`Names`]: `258`, `7_258`.
fn word(meter: GlobalMeterId) -> String {
    match meter.network.named() {
        None => meter.meter.to_string(),
        Some(network) => format!("{network}_{}", meter.meter),
    }
}

/// Returns the name of a meter without a label.
fn unnamed(meter: GlobalMeterId) -> String {
    format!("meter{}", word(meter))
}

fn ends_in_number(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    name.rsplit_once('-').is_some_and(|(_, word)| match word.split_once('_') {
        None => is_number(word),
        Some((network, meter)) => is_number(network) && is_number(meter),
    })
}

fn plain(meter: &Meter) -> String {
    let keep = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    match meter.label.trim() {
        "" => unnamed(meter.meter),
        label => label.chars().map(keep).collect(),
    }
}

/// Returns a topic of a meter, below its own level: in network 0 below `wattseal`, in others below
/// their network's.
fn topic(meter: GlobalMeterId, what: &str) -> String {
    match meter.network.named() {
        None => format!("wattseal/{}/{what}", meter.meter),
        Some(network) => format!("wattseal/networks/{network}/{}/{what}", meter.meter),
    }
}

/// An alert: a meter's under the meter, the collector's own under `wattseal/alert`.
#[must_use]
pub fn alert(alert: &Alert) -> Said {
    let topic = match alert.meter {
        Some(meter) => topic(meter, "alert"),
        None => "wattseal/alert".to_owned(),
    };
    let Alert { id, at_s, cause, detail, .. } = alert;
    Said::passing(topic, json!({ "id": id, "at_s": at_s, "cause": cause, "detail": detail }).to_string())
}

/// The program that speaks, as discovery names it.
pub(super) fn origin() -> Value {
    json!({ "name": "WattSeal", "sw_version": env!("CARGO_PKG_VERSION") })
}

/// Returns Home Assistant's MQTT discovery of a meter: a device with two sensors, power and energy.
/// Of a revoked meter it takes them back.
#[must_use]
pub fn discovery(meter: &Meter) -> Vec<Said> {
    let id = format!("wattseal_{}", word(meter.meter));
    let config = |figure: &str| format!("{DISCOVERY}/sensor/{id}/{figure}/config");
    if meter.revoked {
        let topics = [config("power"), config("energy"), topic(meter.meter, "reading")];
        return topics.into_iter().map(|topic| Said::retained(topic, "")).collect();
    }
    let label = match meter.label.trim() {
        "" => format!("Meter {}", meter.meter),
        label => label.to_owned(),
    };
    let expires_s = (EXPIRES_AFTER_INTERVALS * u32::from(meter.interval_s)).max(EXPIRES_AFTER_S);
    let sensor = |figure: &str, name: &str, unit: &str, state_class: &str, template: &str, decimals: u8| {
        json!({
            "name": name,
            "unique_id": format!("{id}_{figure}"),
            "state_topic": topic(meter.meter, "reading"),
            "value_template": template,
            "device_class": figure,
            "state_class": state_class,
            "unit_of_measurement": unit,
            "suggested_display_precision": decimals,
            "expire_after": expires_s,
            "availability_topic": STATUS,
            "payload_available": ONLINE,
            "payload_not_available": OFFLINE,
            "device": {
                "identifiers": [id],
                "name": label,
                "manufacturer": "WattSeal",
                "model": "Electricity meter",
                "serial_number": meter.meter.to_string(),
            },
            "origin": origin(),
        })
        .to_string()
    };
    let power = sensor("power", "Power", "W", "measurement", "{{ value_json.power_w }}", 0);
    let energy = sensor(
        "energy",
        "Energy",
        "kWh",
        "total_increasing",
        "{{ (value_json.energy_wh / 1000) | round(4) }}",
        2,
    );
    vec![Said::retained(config("power"), power), Said::retained(config("energy"), energy)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkId;
    use crate::store::Link;
    use std::collections::BTreeSet;
    use wire::meter::Suite;

    fn meter(meter: GlobalMeterId, label: &str) -> Meter {
        Meter {
            meter,
            label: label.into(),
            epoch: 1,
            suite: Suite::Aes128Gcm,
            interval_s: 10,
            revoked: false,
            last: None,
            heard_s: None,
            total_wh: None,
            online: true,
            link: Link { rssi_dbm: None, reports: 0, repeats: 0, refused: 0, lost: 0 },
            open_alerts: 0,
            waiting_commands: 0,
        }
    }

    #[test]
    fn no_two_meters_share_a_name() {
        let labels = ["Flat 3", "Flat/3", "", "meter3", "a+b#c/d\u{0}é", " x ", "Flat_3-1"];
        let named = |(id, label): (u16, &str)| (id.into(), meter(id.into(), label));
        let names = Names::of(&(1..).zip(labels).map(named).collect());
        let name = |meter: u16| names.0[&meter.into()].as_str();
        assert_eq!(
            [1, 2, 3, 4, 5, 6, 7].map(name),
            ["Flat_3-1", "Flat_3-2", "meter3-3", "meter3-4", "a_b_c_d_é", "x", "Flat_3-1-7"]
        );
    }

    #[test]
    fn no_two_meters_of_two_networks_share_a_name_or_a_topic() {
        let networks = [0, 7, 8].map(NetworkId);
        let labels = ["", "Y", "Y-7", "Y-7_258", "meter258", "meter7_258", "Y-258"];
        for (one, other) in labels.iter().flat_map(|one| labels.map(|other| (*one, other))) {
            let all = networks.into_iter().flat_map(|network| {
                [(258, one), (259, other)].map(|(id, label)| meter(network.meter(id), label))
            });
            let meters: BTreeMap<_, _> = all.map(|meter| (meter.meter, meter)).collect();
            let names = Names::of(&meters);
            let different: BTreeSet<&String> = names.0.values().collect();
            assert_eq!(different.len(), meters.len(), "{one:?}, {other:?}: {names:?}");
            let topics: Vec<String> = meters.values().flat_map(discovery).map(|said| said.topic).collect();
            let different: BTreeSet<&String> = topics.iter().collect();
            assert_eq!(different.len(), topics.len(), "{topics:?}");
        }
        let unnamed = meter(NetworkId(7).meter(258), "");
        assert_eq!(Names::of(&[(unnamed.meter, unnamed)].into()).0[&NetworkId(7).meter(258)], "meter7_258");
    }

    /// MQTT 3.1.1, 4.7: levels, wildcards, `$` and NUL mean something to brokers.
    #[test]
    fn no_label_reaches_another_topic() {
        let seed = testkit::random::seed();
        let mut random = testkit::random::Random::new(seed);
        let letters =
            ['/', '+', '#', '$', '\0', '\n', '\u{7f}', '\u{202e}', '.', ' ', 'S', 'Y', '7', 'é', '\u{ffff}'];
        let whole =
            ["$SYS/broker", "#", "+", "../status", "/", "$share/a/b", "homeassistant/sensor/+/config"];
        for round in 0..2000 {
            let length = 1 + random.below(12);
            let any: String =
                (0..length).map(|_| letters[random.below(letters.len() as u32) as usize]).collect();
            let label = whole.get(round).map_or(any, |label| (*label).to_owned());
            let of = meter(258.into(), &label);
            let reading = Reading {
                meter: 258.into(),
                n: 7,
                at_s: 0,
                heard_ms: 0,
                power_w: 1,
                energy_dwh: 1,
                total_dwh: None,
                suite: Suite::None,
                rssi_dbm: None,
            };
            let mut said = Names::of(&[(of.meter, of.clone())].into()).reading(&reading);
            said.extend(discovery(&of));
            for Said { topic, .. } in said {
                let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
                let levels: Vec<&str> = topic.split('/').collect();
                assert!(topic.chars().all(is_plain), "seed {seed}: {label:?}: {topic:?}");
                let is_one = match levels[..] {
                    ["wattseal", "258", "reading"] | ["homeassistant", "sensor", _, _, "config"] => true,
                    ["emon", name, "power" | "energy"] => !name.is_empty(),
                    _ => false,
                };
                assert!(is_one, "seed {seed}: {label:?}: {topic:?}");
            }
        }
    }

    #[test]
    fn figures() {
        let reading = Reading {
            meter: 258.into(),
            n: 7,
            at_s: 1_767_225_600,
            heard_ms: 0,
            power_w: -1500,
            energy_dwh: 123_456,
            total_dwh: Some(5_000_000_000),
            suite: Suite::None,
            rssi_dbm: None,
        };
        let said = Names::of(&[(258.into(), meter(258.into(), "Flat 3"))].into()).reading(&reading);
        let whole = r#"{"at_s":1767225600,"energy_wh":12345.6,"n":7,"power_w":-1500,"total_wh":500000000.0}"#;
        assert_eq!(
            said,
            [
                Said::retained("wattseal/258/reading", whole),
                Said::passing("emon/Flat_3/power", "-1500"),
                Said::passing("emon/Flat_3/energy", "12345.6"),
            ]
        );
        let of_network_7 = Names::default().reading(&Reading { meter: NetworkId(7).meter(258), ..reading });
        let topics = of_network_7.iter().map(|said| said.topic.as_str());
        assert!(topics.eq([
            "wattseal/networks/7/258/reading",
            "emon/meter7_258/power",
            "emon/meter7_258/energy"
        ]));
        let most = Names::default().reading(&Reading { energy_dwh: u32::MAX, ..reading });
        assert_eq!(most[2], Said::passing("emon/meter258/energy", "429496729.5"));
    }
}
