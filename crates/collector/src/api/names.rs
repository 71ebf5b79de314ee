//! Meters and networks in paths and arguments. A request without a network is about network 0. So a
//! program for one network gets no other network's meters, which have the same numbers.

use super::error::ApiError;
use crate::network::{GlobalMeterId, NetworkId, NoMeter};
use crate::store::MeterFilter;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use std::fmt;
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use wire::meter::MeterId;

/// A meter: `258`, or `7-258` of network 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedMeter(pub(super) GlobalMeterId);

/// A network's number, or `all` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedNetwork {
    One(NetworkId),
    All,
}

impl<'de> Deserialize<'de> for NamedMeter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedMeter, D::Error> {
        deserializer.deserialize_any(MeterName)
    }
}

/// Reads both forms: in paths and arguments all is text, in a body a number may be one.
struct MeterName;

impl Visitor<'_> for MeterName {
    type Value = NamedMeter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a meter, as 258 or \"7-258\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<NamedMeter, E> {
        let error = |error| E::custom(format!("{text:?} is no meter: {error}"));
        text.parse().map(NamedMeter).map_err(error)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<NamedMeter, E> {
        let meter = MeterId::try_from(number);
        meter
            .map(|meter| NamedMeter(meter.into()))
            .map_err(|_| E::custom(format!("{number} is no meter: {NoMeter}")))
    }
}

impl<'de> Deserialize<'de> for NamedNetwork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedNetwork, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "all" {
            return Ok(NamedNetwork::All);
        }
        let error = |error| serde::de::Error::custom(format!("{text:?} is no network: {error}, or all"));
        text.parse().map(NamedNetwork::One).map_err(error)
    }
}

impl PartialSchema for NamedMeter {
    fn schema() -> RefOr<Schema> {
        meter_schema()
    }
}

impl ToSchema for NamedMeter {}

/// For the description: both forms.
pub(super) fn meter_schema() -> RefOr<Schema> {
    let number = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(MeterId::MIN))
        .maximum(Some(MeterId::MAX));
    let in_16_bits = "6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4}";
    let in_32_bits = "[1-9][0-9]{0,8}|[1-3][0-9]{9}|4[01][0-9]{8}|42[0-8][0-9]{7}|429[0-3][0-9]{6}|4294[0-8][0-9]{5}|\
                      42949[0-5][0-9]{4}|429496[0-6][0-9]{3}|4294967[01][0-9]{2}|42949672[0-8][0-9]|429496729[0-5]";
    let with_network = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^({in_32_bits})-({in_16_bits})$")));
    RefOr::T(Schema::OneOf(OneOfBuilder::new().item(number).item(with_network).build()))
}

/// For the description: both forms.
pub(super) fn network_schema() -> RefOr<Schema> {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u32::MAX));
    let all = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["all"]));
    RefOr::T(Schema::OneOf(OneOfBuilder::new().item(number).item(all).build()))
}

/// Returns the meters of a query.
pub(super) fn whose(
    meter: Option<NamedMeter>,
    network: Option<NamedNetwork>,
) -> Result<MeterFilter, ApiError> {
    match (meter, network) {
        (Some(NamedMeter(meter)), None | Some(NamedNetwork::All)) => Ok(MeterFilter::Meter(meter)),
        (Some(NamedMeter(meter)), Some(NamedNetwork::One(network))) if meter.network == network => {
            Ok(MeterFilter::Meter(meter))
        }
        (Some(NamedMeter(meter)), Some(NamedNetwork::One(network))) => {
            let message = format!("meter {meter} is not of network {network}");
            Err(ApiError::bad_request("argument-wrong", message).hint(format!(
                "meter={} is meter {} of that network",
                network.meter(meter.meter),
                meter.meter
            )))
        }
        (None, Some(NamedNetwork::All)) => Ok(MeterFilter::All),
        (None, Some(NamedNetwork::One(network))) => Ok(MeterFilter::Network(network)),
        (None, None) => Ok(MeterFilter::Network(NetworkId::DEFAULT)),
    }
}
