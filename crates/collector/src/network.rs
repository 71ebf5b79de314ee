//! Names of meters among several networks.
//!
//! A *network* is what one collector address on one radio channel is: meters that are told apart by
//! the 16 bits of their packets. These bits say nothing of the network; the gateway that hears them
//! knows it. Network 0 is the one that nobody has to name: its meters are written as their number
//! alone.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use wire::meter::MeterId;

/// Between network and meter. A hyphen is unreserved in URLs (RFC 3986, 2.3), no wildcard and no
/// level in MQTT's topics, nothing to a shell behind a digit, and allowed in every file's name; and
/// no program takes `7-258` for a number, as many do `7.258`, and Python and YAML 1.1 `7_258`.
const SEPARATOR: char = '-';

/// A network's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NetworkId(pub u32);

impl NetworkId {
    /// The one that nobody has to name.
    pub const DEFAULT: NetworkId = NetworkId(0);

    #[must_use]
    pub const fn meter(self, meter: MeterId) -> GlobalMeterId {
        GlobalMeterId { network: self, meter }
    }

    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == NetworkId::DEFAULT
    }

    /// Its number where it has to be named; `None`: the default one.
    #[must_use]
    pub fn named(self) -> Option<u32> {
        (!self.is_default()).then_some(self.0)
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for NetworkId {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<NetworkId, NoNetwork> {
        number(text).map(NetworkId).ok_or(NoNetwork)
    }
}

/// A text that names no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a network is a number from 0 to 4294967295")]
pub struct NoNetwork;

/// A meter, as it was provisioned, among all networks. In text `258` in network 0, `7-258` in
/// network 7; in JSON the fields `meter` and, in other networks than 0, `network`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GlobalMeterId {
    #[serde(default, skip_serializing_if = "NetworkId::is_default")]
    pub network: NetworkId,
    /// In its packets, until it is registered under another number.
    pub meter: MeterId,
}

impl GlobalMeterId {
    /// Both in one number, in the same order: what a store keeps. Of network 0 it is the meter's
    /// number.
    #[must_use]
    pub const fn key(self) -> i64 {
        // 48 bits.
        (self.network.0 as i64) << MeterId::BITS | self.meter as i64
    }

    /// The meter with this key; `None`: no meter has it.
    #[must_use]
    pub fn from_key(key: i64) -> Option<GlobalMeterId> {
        let network = NetworkId(u32::try_from(key >> MeterId::BITS).ok()?);
        Some(network.meter((key & i64::from(MeterId::MAX)) as MeterId))
    }
}

/// A meter of network 0.
impl From<MeterId> for GlobalMeterId {
    fn from(meter: MeterId) -> GlobalMeterId {
        NetworkId::DEFAULT.meter(meter)
    }
}

impl fmt::Display for GlobalMeterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.network.named() {
            None => write!(f, "{}", self.meter),
            Some(network) => write!(f, "{network}{SEPARATOR}{}", self.meter),
        }
    }
}

/// A text that names no meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a meter as 258, or, of another network than 0, as 7-258")]
pub struct NoMeter;

impl FromStr for GlobalMeterId {
    type Err = NoMeter;

    fn from_str(text: &str) -> Result<GlobalMeterId, NoMeter> {
        let (network, meter) = match text.split_once(SEPARATOR) {
            Some((network, meter)) => (number(network).ok_or(NoMeter)?, meter),
            None => (0, text),
        };
        Ok(NetworkId(network).meter(number(meter).ok_or(NoMeter)?))
    }
}

/// Digits alone: `parse` takes a plus as well.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A value of a network, such as a gateway's address. In text `ADDRESS` for network 0, else
/// `ADDRESS@7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfNetwork<T> {
    pub network: NetworkId,
    pub what: T,
}

/// Of network 0.
impl<T> From<T> for OfNetwork<T> {
    fn from(what: T) -> OfNetwork<T> {
        OfNetwork { network: NetworkId::DEFAULT, what }
    }
}

impl<T: fmt::Display> fmt::Display for OfNetwork<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.network.named() {
            None => self.what.fmt(f),
            Some(network) => write!(f, "{}@{network}", self.what),
        }
    }
}

impl<T: FromStr<Err: fmt::Display>> FromStr for OfNetwork<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<OfNetwork<T>, String> {
        let (what, network) = match text.rsplit_once('@') {
            Some((what, network)) => (what, network.parse().map_err(|error: NoNetwork| error.to_string())?),
            None => (text, NetworkId::DEFAULT),
        };
        Ok(OfNetwork { network, what: what.parse().map_err(|error: T::Err| error.to_string())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::SocketAddr;

    #[test]
    fn names_as_they_are_written() {
        for (text, network, meter) in [
            ("258", 0, 258),
            ("7-258", 7, 258),
            ("4294967295-65535", u32::MAX, 65535),
            ("0", 0, 0),
            ("7-0", 7, 0),
        ] {
            let named = NetworkId(network).meter(meter);
            assert_eq!((text.parse(), named.to_string()), (Ok(named), text.to_owned()));
        }
        // Nobody has to name network 0, and who does means the same.
        assert_eq!("0-258".parse(), Ok(GlobalMeterId::from(258)));
        assert_eq!("00258".parse(), Ok(GlobalMeterId::from(258)));
        for text in [
            "",
            "-",
            "7-",
            "-258",
            "7--258",
            "7-258-1",
            "+258",
            "7-+258",
            "65536",
            "4294967296-1",
            "7/258",
            " 258",
            "٧",
        ] {
            assert_eq!(text.parse::<GlobalMeterId>(), Err(NoMeter), "{text:?}");
        }
    }

    #[test]
    fn in_json_network_0_is_not_named() {
        let json = |meter: GlobalMeterId| serde_json::to_string(&meter).expect("JSON");
        assert_eq!(json(258.into()), r#"{"meter":258}"#);
        assert_eq!(json(NetworkId(7).meter(258)), r#"{"network":7,"meter":258}"#);
    }

    #[test]
    fn a_gateway_names_its_network_behind_its_address() {
        let parse = |text: &str| text.parse::<OfNetwork<SocketAddr>>();
        let at: SocketAddr = "127.0.0.1:7878".parse().expect("an address");
        assert_eq!(parse("127.0.0.1:7878"), Ok(at.into()));
        assert_eq!(parse("127.0.0.1:7878@7"), Ok(OfNetwork { network: NetworkId(7), what: at }));
        assert_eq!(parse("127.0.0.1:7878@7").expect("one").to_string(), "127.0.0.1:7878@7");
        for text in ["127.0.0.1:7878@", "127.0.0.1:7878@x", "@7", "127.0.0.1:7878@4294967296"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_read_as_it_is_written_and_safe_wherever_it_is_put(network: u32, meter: u16) {
            let named = NetworkId(network).meter(meter);
            let text = named.to_string();
            prop_assert_eq!(text.parse(), Ok(named));
            // RFC 3986, 2.3; of these MQTT, file names and shells take all that a digit begins.
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
            prop_assert!(text.starts_with(|first: char| first.is_ascii_digit()));
            prop_assert_eq!(text.contains('-'), network != 0);
        }

        #[test]
        fn parsed_meter_prints_and_parses_back(text in "[0-9]{0,11}-?[0-9]{0,6}") {
            if let Ok(named) = text.parse::<GlobalMeterId>() {
                prop_assert_eq!(named.to_string().parse(), Ok(named));
            }
        }

        #[test]
        fn keys_are_in_the_order_of_names(one: (u32, u16), other: (u32, u16)) {
            let named = |(network, meter)| NetworkId(network).meter(meter);
            let (one, other) = (named(one), named(other));
            prop_assert_eq!(one.key().cmp(&other.key()), one.cmp(&other));
            prop_assert_eq!(GlobalMeterId::from_key(one.key()), Some(one));
        }

        #[test]
        fn other_numbers_are_no_keys(key in prop_oneof![i64::MIN..0, 1i64 << 48..=i64::MAX]) {
            prop_assert_eq!(GlobalMeterId::from_key(key), None);
        }
    }
}
