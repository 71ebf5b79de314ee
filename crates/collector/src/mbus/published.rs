//! Telegrams as observers are told of them: their numbers. Contents have none of a code, a key or a
//! password.

use crate::event::{Telegram, TelegramValue};
use crate::store::NewTelegram;

/// Returns the numbers of a telegram whose codes are all known.
pub(super) fn published(telegram: &NewTelegram) -> Telegram {
    let values = telegram.contents.records.iter().filter_map(|record| {
        let quantity = record.quantity.clone()?;
        // Only a number that is understood has one.
        record.mantissa.as_ref()?;
        Some(TelegramValue {
            quantity,
            unit: record.unit.clone(),
            value: record.value.clone(),
            function: record.function.clone(),
            storage: record.storage,
            tariff: record.tariff,
            subunit: record.subunit,
            modifiers: record.modifiers.clone(),
        })
    });
    Telegram {
        meter: telegram.meter,
        device_type: telegram.address.device_type,
        heard_ms: telegram.heard_ms,
        authenticated: telegram.authenticated,
        values: values.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{TelegramContents, TelegramRecord};
    use wire::wireless_mbus::{Manufacturer, MeterAddress};

    fn record(quantity: Option<&str>, mantissa: Option<&str>) -> TelegramRecord {
        TelegramRecord {
            quantity: quantity.map(str::to_owned),
            mantissa: mantissa.map(str::to_owned),
            value: "17".into(),
            ..TelegramRecord::default()
        }
    }

    #[test]
    fn bytes_of_unknown_codes_are_left_out() {
        let number = Some("17");
        let records =
            vec![record(Some("volume"), number), record(None, number), record(Some("energy"), None)];
        let address = MeterAddress {
            manufacturer: Manufacturer(0x1593),
            identification: [0x78, 0x56, 0x34, 0x12],
            version: 1,
            device_type: 7,
        };
        let telegram = NewTelegram {
            meter: "ELS-12345678".parse().expect("a meter"),
            heard_ms: 1,
            address,
            mode: 7,
            authenticated: true,
            counter: None,
            access_number: None,
            status: None,
            clock_off_s: None,
            contents: TelegramContents { records, ..TelegramContents::default() },
        };
        let names: Vec<String> =
            published(&telegram).values.into_iter().map(|value| value.quantity).collect();
        assert_eq!(names, ["volume"]);
    }
}
