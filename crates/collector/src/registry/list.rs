//! The meters of the register, for people.

use super::{KeyStore, MeterFile, Registry, RegistryError};
use crate::network::{GlobalMeterId, NetworkId};
use crate::store::Meter;
use serde::Serialize;
use std::collections::BTreeMap;
use wire::meter::{MeterId, Setup, Suite};

/// A meter of the register, with what is stored of it. Nothing secret.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedMeter {
    /// The meter, as it was provisioned.
    pub meter: MeterId,
    /// Of all rows, where there are other networks than 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkId>,
    pub label: String,
    /// `registered` or `revoked`.
    pub state: &'static str,
    pub epoch: u32,
    /// The number of renewals of the key of `aes256-gcm-rekeyed` in this epoch.
    pub renewals: u32,
    /// The suite: the provisioned one, or that of its last report.
    pub suite: Suite,
    /// Seconds between its measurements.
    pub interval_s: u16,
    /// Its radio address, as it was provisioned.
    pub address: u8,
    /// When it was heard last: Unix time in seconds.
    pub heard_s: Option<i64>,
    /// Its last measurement: mean real power, in W.
    pub power_w: Option<i16>,
    /// Its last measurement: its register, in Wh.
    pub energy_wh: Option<f64>,
    /// Energy since its first start, over restarts and new keys, in Wh.
    pub total_wh: Option<f64>,
}

impl ListedMeter {
    /// Its name among all networks.
    #[must_use]
    pub fn name(&self) -> GlobalMeterId {
        self.network.unwrap_or_default().meter(self.meter)
    }
}

impl KeyStore {
    /// All meters of all networks that there are keys of, by network and number, also those that
    /// are revoked. stored: what a database says of them, if there is one.
    ///
    /// # Errors
    /// [`RegistryError`]: there are no keys, or some are not as they should be.
    pub fn list(&self, stored: &[Meter]) -> Result<Vec<ListedMeter>, RegistryError> {
        let registries = self.open_all()?;
        let mut all = Vec::new();
        for registry in &registries {
            all.extend(registry.list(stored)?);
        }
        if registries.iter().all(|registry| registry.network.is_default()) {
            for meter in &mut all {
                meter.network = None;
            }
        }
        Ok(all)
    }
}

impl Registry {
    /// This network's.
    fn list(&self, stored: &[Meter]) -> Result<Vec<ListedMeter>, RegistryError> {
        let stored: BTreeMap<GlobalMeterId, &Meter> =
            stored.iter().map(|meter| (meter.meter, meter)).collect();
        let listed = |state, (epoch, renewals), setup: &Setup| {
            let known = stored.get(&self.network.meter(setup.meter));
            let of = known.filter(|of| of.epoch == epoch);
            ListedMeter {
                meter: setup.meter,
                network: Some(self.network),
                label: known.map(|of| of.label.clone()).unwrap_or_default(),
                state,
                epoch,
                renewals,
                suite: of.map_or(setup.suite, |of| of.suite),
                interval_s: of.map_or(setup.interval_s, |of| of.interval_s),
                address: setup.address,
                heard_s: of.and_then(|of| of.heard_s),
                power_w: of.and_then(|of| of.last).map(|last| last.power_w),
                energy_wh: of.and_then(|of| of.last).map(|last| last.energy_wh),
                total_wh: known.and_then(|known| known.total_wh),
            }
        };
        let mut all: BTreeMap<MeterId, ListedMeter> = BTreeMap::new();
        for (meter, file) in self.revoked()? {
            all.insert(meter, listed("revoked", (file.epoch, 0), &file.setup));
        }
        for (meter, MeterFile { epoch, record, .. }) in self.load()? {
            all.insert(meter, listed("registered", (epoch, record.keys.epoch()), &record.setup));
        }
        Ok(all.into_values().collect())
    }
}
