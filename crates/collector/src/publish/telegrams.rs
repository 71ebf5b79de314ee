//! Topics and payloads of telegrams: other makers' meters by wireless M-Bus.

use super::topics::{self, DISCOVERY, OFFLINE, ONLINE, STATUS, Said};
use crate::event::{Telegram, TelegramValue};
use crate::mbus_meter::MbusMeterId;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wire::wireless_mbus::device_type_name;

/// Figures of a meter that have a topic at most.
const FIGURES_MAX: usize = 32;
/// Values in a payload at most.
const VALUES_MAX: usize = 256;

/// Sensors and topics of other makers' meters since the start.
#[derive(Clone, Debug, Default)]
pub struct TelegramTopics {
    meters: BTreeMap<MbusMeterId, Announced>,
}

/// The sensors of a meter, as Home Assistant knows them.
#[derive(Clone, Debug, Default)]
struct Announced {
    /// True if the telegrams were authenticated, as the sensors say.
    authenticated: bool,
    /// The meter was removed, and the sensors are taken back at each connection.
    removed: bool,
    /// Discovery by figure.
    sensors: BTreeMap<String, Said>,
}

impl TelegramTopics {
    /// A telegram: whole, then each present figure, and before them the sensors that are new.
    pub fn telegram(&mut self, telegram: &Telegram) -> Vec<Said> {
        let announced = self.meters.entry(telegram.meter).or_default();
        if announced.removed || announced.authenticated != telegram.authenticated {
            *announced = Announced { authenticated: telegram.authenticated, ..Announced::default() };
        }
        let (mut sensors, mut figures) = (Vec::new(), Vec::new());
        let mut named = BTreeSet::new();
        for value in telegram.values.iter().filter(|value| is_present(value)) {
            let figure = figure(value);
            // Of several of a kind the first is shown; the whole telegram has all.
            if !named.insert(figure.clone()) {
                continue;
            }
            if !announced.sensors.contains_key(&figure) {
                if announced.sensors.len() == FIGURES_MAX {
                    continue;
                }
                let sensor = discovery(telegram, value, &figure);
                announced.sensors.insert(figure.clone(), sensor.clone());
                sensors.push(sensor);
            }
            let payload = json!({
                "value": value.value,
                "unit": value.unit,
                "heard_ms": telegram.heard_ms,
                "authenticated": telegram.authenticated,
            });
            figures.push(Said::retained(topic(telegram.meter, &figure), payload.to_string()));
            let emon = format!("emon/{}/{figure}", telegram.meter);
            figures.push(Said::passing(emon, value.value.clone()));
        }
        let whole = json!({
            "heard_ms": telegram.heard_ms,
            "authenticated": telegram.authenticated,
            "values": telegram.values.iter().take(VALUES_MAX).collect::<Vec<_>>(),
        });
        sensors.push(Said::retained(topic(telegram.meter, "telegram"), whole.to_string()));
        sensors.extend(figures);
        sensors
    }

    /// The sensors of all meters.
    pub fn sensors(&self) -> impl Iterator<Item = Said> {
        self.meters.values().flat_map(|announced| announced.sensors.values().cloned())
    }

    /// Takes back what was said of a meter.
    pub fn removed(&mut self, meter: MbusMeterId) -> Vec<Said> {
        let announced = self.meters.get_mut(&meter).filter(|announced| !announced.removed);
        let Some(announced) = announced else { return Vec::new() };
        announced.removed = true;
        let mut gone = vec![Said::retained(topic(meter, "telegram"), "")];
        for (figure, sensor) in &mut announced.sensors {
            sensor.payload.clear();
            gone.extend([sensor.clone(), Said::retained(topic(meter, figure), "")]);
        }
        gone
    }
}

/// Returns true of a figure as it is now, of the whole meter.
fn is_present(value: &TelegramValue) -> bool {
    let TelegramValue { function, storage, tariff, subunit, modifiers, unit, quantity, .. } = value;
    let is_figure = !unit.is_empty() || quantity == "units of heat cost allocation";
    (function.as_str(), *storage, *tariff, *subunit) == ("instantaneous", 0, 0, 0)
        && modifiers.is_empty()
        && is_figure
}

/// Returns the name of a figure, by quantity and unit: `energy_wh`, `volume_flow_m3_h`.
fn figure(value: &TelegramValue) -> String {
    let plain = |text: &str| -> String {
        let one = |c: char| match c {
            '³' => '3',
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '_',
        };
        text.chars().map(one).collect()
    };
    let name = format!("{}_{}", plain(&value.quantity), plain(&value.unit));
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    words.join("_")
}

fn topic(meter: MbusMeterId, what: &str) -> String {
    format!("wattseal/mbus/{meter}/{what}")
}

/// Home Assistant's class of a figure, and its state class.
fn classes(device_type: u8, value: &TelegramValue) -> (Option<&'static str>, &'static str) {
    match (value.quantity.as_str(), value.unit.as_str()) {
        ("energy", "Wh" | "J") => (Some("energy"), "total_increasing"),
        ("volume", "m³" | "ft³") => match device_type_name(device_type) {
            Some("gas") => (Some("gas"), "total_increasing"),
            Some("water" | "warm water" | "hot water" | "cold water" | "hot and cold water") => {
                (Some("water"), "total_increasing")
            }
            _ => (Some("volume"), "total_increasing"),
        },
        ("power", "W") => (Some("power"), "measurement"),
        ("volume flow", "m³/h") => (Some("volume_flow_rate"), "measurement"),
        ("flow temperature" | "return temperature" | "external temperature", "°C") => {
            (Some("temperature"), "measurement")
        }
        ("pressure", "bar") => (Some("pressure"), "measurement"),
        ("voltage", "V") => (Some("voltage"), "measurement"),
        ("current", "A") => (Some("current"), "measurement"),
        ("energy" | "mass" | "units of heat cost allocation", _) => (None, "total_increasing"),
        _ => (None, "measurement"),
    }
}

/// Home Assistant's MQTT discovery of a figure.
fn discovery(telegram: &Telegram, value: &TelegramValue, figure: &str) -> Said {
    let Telegram { meter, device_type, authenticated, .. } = telegram;
    let id = format!("wattseal_mbus_{}", meter.to_string().replace('-', "_").to_ascii_lowercase());
    let model = device_type_name(*device_type).unwrap_or("meter");
    let model = if *authenticated { model.to_owned() } else { format!("{model}, not authenticated") };
    let (device_class, state_class) = classes(*device_type, value);
    let mut config = json!({
        "name": capitalized(&value.quantity),
        "unique_id": format!("{id}_{figure}"),
        "state_topic": topic(*meter, figure),
        "value_template": "{{ value_json.value }}",
        "json_attributes_topic": topic(*meter, figure),
        "state_class": state_class,
        "availability_topic": STATUS,
        "payload_available": ONLINE,
        "payload_not_available": OFFLINE,
        "device": {
            "identifiers": [id],
            "name": meter.to_string(),
            "manufacturer": meter.to_string()[..3],
            "model": model,
            "serial_number": meter.to_string()[4..],
        },
        "origin": topics::origin(),
    });
    if let Some(device_class) = device_class {
        config["device_class"] = Value::from(device_class);
    }
    if !value.unit.is_empty() {
        config["unit_of_measurement"] = Value::from(value.unit.as_str());
    }
    Said::retained(format!("{DISCOVERY}/sensor/{id}/{figure}/config"), config.to_string())
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const METER: &str = "ELS-12345678";

    fn value(quantity: &str, value: &str, unit: &str) -> TelegramValue {
        TelegramValue {
            quantity: quantity.into(),
            unit: unit.into(),
            value: value.into(),
            function: "instantaneous".into(),
            ..TelegramValue::default()
        }
    }

    fn telegram(values: Vec<TelegramValue>) -> Telegram {
        let meter = METER.parse().expect("a meter");
        Telegram { meter, device_type: 0x07, heard_ms: 5000, authenticated: true, values }
    }

    fn topics(said: &[Said]) -> Vec<&str> {
        said.iter().map(|said| said.topic.as_str()).collect()
    }

    #[test]
    fn present_figures_have_topics_and_sensors_once() {
        let mut topics_of = TelegramTopics::default();
        let past = TelegramValue { storage: 1, ..value("volume", "9.5", "m³") };
        let backward =
            TelegramValue { modifiers: vec!["backward only".into()], ..value("volume", "1", "m³") };
        let number = value("fabrication number", "77", "");
        let again = value("volume", "99", "m³");
        let all = telegram(vec![value("volume", "12.345", "m³"), past, backward, number, again]);
        let said = topics_of.telegram(&all);
        assert_eq!(
            topics(&said),
            [
                "homeassistant/sensor/wattseal_mbus_els_12345678/volume_m3/config",
                "wattseal/mbus/ELS-12345678/telegram",
                "wattseal/mbus/ELS-12345678/volume_m3",
                "emon/ELS-12345678/volume_m3",
            ]
        );
        let sensor: Value = serde_json::from_slice(&said[0].payload).expect("JSON");
        assert_eq!(
            [&sensor["device_class"], &sensor["unit_of_measurement"], &sensor["device"]["model"]],
            ["water", "m³", "water"]
        );
        let whole: Value = serde_json::from_slice(&said[1].payload).expect("JSON");
        assert_eq!(whole["values"].as_array().map(Vec::len), Some(5));
        let figure: Value = serde_json::from_slice(&said[2].payload).expect("JSON");
        let shown = json!({ "value": "12.345", "unit": "m³", "heard_ms": 5000, "authenticated": true });
        assert_eq!(figure, shown);
        assert_eq!(said[3], Said::passing("emon/ELS-12345678/volume_m3", "12.345"));
        // The second telegram says figures alone.
        assert_eq!(topics_of.telegram(&all).len(), 3);
        assert_eq!(topics_of.sensors().count(), 1);
    }

    #[test]
    fn unauthenticated_telegram_is_announced_as_such() {
        let mut topics_of = TelegramTopics::default();
        let honest = telegram(vec![value("volume", "1", "m³")]);
        topics_of.telegram(&honest);
        let said = topics_of.telegram(&Telegram { authenticated: false, ..honest });
        let sensor: Value = serde_json::from_slice(&said[0].payload).expect("JSON");
        assert_eq!(sensor["device"]["model"], "water, not authenticated");
        let figure: Value = serde_json::from_slice(&said[2].payload).expect("JSON");
        assert_eq!(figure["authenticated"], false);
    }

    #[test]
    fn removed_meter_is_taken_back_once() {
        let mut topics_of = TelegramTopics::default();
        let meter = METER.parse().expect("a meter");
        let said = topics_of.telegram(&telegram(vec![value("power", "5", "W"), value("energy", "7", "Wh")]));
        let retained: BTreeSet<&str> =
            said.iter().filter(|said| said.retain).map(|said| said.topic.as_str()).collect();
        let gone = topics_of.removed(meter);
        assert!(gone.iter().all(|said| said.retain && said.payload.is_empty()), "{gone:?}");
        assert_eq!(topics(&gone).into_iter().collect::<BTreeSet<_>>(), retained);
        assert!(topics_of.removed(meter).is_empty());
        // A broker that was away hears it at the next connection.
        assert!(topics_of.sensors().all(|said| said.payload.is_empty()));
        assert_eq!(topics_of.telegram(&telegram(vec![value("power", "5", "W")])).len(), 4);
    }

    #[test]
    fn meter_with_many_figures_stays_within_the_bound() {
        let mut topics_of = TelegramTopics::default();
        let many = (0..1000).map(|n| value(&format!("quantity {n}"), "1", "W")).collect();
        let said = topics_of.telegram(&telegram(many));
        assert_eq!(topics_of.sensors().count(), FIGURES_MAX);
        assert_eq!(said.len(), 3 * FIGURES_MAX + 1);
        let whole: Value = serde_json::from_slice(&said[FIGURES_MAX].payload).expect("JSON");
        assert_eq!(whole["values"].as_array().map(Vec::len), Some(VALUES_MAX));
    }

    /// MQTT 3.1.1, 4.7: levels, wildcards and NUL mean something to brokers.
    #[test]
    fn unit_in_plain_text_reaches_no_other_topic() {
        for unit in ["../x", "a/b", "+", "#", "\0", "$SYS", "é", "m³/h"] {
            let mut topics_of = TelegramTopics::default();
            for said in topics_of.telegram(&telegram(vec![value("any quantity", "1", unit)])) {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
                assert!(said.topic.chars().all(is_plain), "{unit:?}: {}", said.topic);
                assert!(matches!(said.topic.split('/').count(), 3..=5), "{unit:?}: {}", said.topic);
            }
        }
    }
}
