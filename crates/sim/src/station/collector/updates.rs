//! Images of the firmware for the meters that take some: which one each has, and is to have.

use super::CollectorCounts;
use crate::chance::{Chance, Purpose};
use crate::time::SECOND_NS;
use device::meter::flash::Flash;
use serde::Deserialize;
use std::collections::BTreeMap;
use wire::meter::{Collector, Image, ImageRefusal, MeterId, UpdateEnd};

/// Images, as a scenario says it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateSettings {
    /// Mean time from one image that is given to the next, to any meter that is not being given
    /// one, in seconds.
    pub every_s: f64,
    /// From one piece to the next, to all meters together, in milliseconds.
    #[serde(default = "usual")]
    pub piece_every_ms: u64,
    /// Of the programs, which nobody runs.
    #[serde(default = "small")]
    pub program_bytes: u32,
}

fn usual() -> u64 {
    wire::meter::Policy::default().update_piece_every_ms
}

fn small() -> u32 {
    1040
}

/// Contents of a meter's slots, as far as its collector knows.
struct Firmware {
    version: u32,
    slot: usize,
    /// Image that it is to have.
    given: Option<Image>,
}

/// Source of the meters' images.
pub struct Updates {
    settings: UpdateSettings,
    chance: Chance,
    meters: BTreeMap<MeterId, Firmware>,
    next_ns: u64,
}

impl Updates {
    /// Of these meters, each of which has version 1 in its first slot.
    pub fn new(settings: UpdateSettings, seed: u64, meters: impl IntoIterator<Item = MeterId>) -> Updates {
        let firmware = || Firmware { version: 1, slot: 0, given: None };
        let meters = meters.into_iter().map(|meter| (meter, firmware())).collect();
        let mut updates =
            Updates { settings, chance: Chance::new(seed, Purpose::Updates, 0, 0), meters, next_ns: 0 };
        updates.plan(0);
        updates
    }

    /// The image of a version for a meter's slot: others for each meter.
    #[must_use]
    pub fn image(settings: &UpdateSettings, meter: MeterId, slot: usize, version: u32) -> Vec<u8> {
        let mut chance = Chance::new(meter.into(), Purpose::Updates, version.into(), 1);
        let mut program = vec![0; settings.program_bytes as usize];
        chance.fill(&mut program);
        Flash::image(slot, version, &program)
    }

    /// When the next one is given.
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// No more are given.
    pub(super) fn stop(&mut self) {
        self.next_ns = u64::MAX;
    }

    fn plan(&mut self, now_ns: u64) {
        let every_s = self.chance.exponential(self.settings.every_s);
        self.next_ns = now_ns + (every_s * SECOND_NS as f64) as u64 + 1;
    }

    /// Gives a meter its next version, if one is not being given any. It is durable.
    pub(super) fn give(&mut self, engine: &mut Collector, now_ns: u64) -> Option<(MeterId, Image)> {
        self.plan(now_ns);
        let idle = self.meters.iter_mut().filter(|(_, firmware)| firmware.given.is_none());
        let mut idle: Vec<_> = idle.collect();
        if idle.is_empty() {
            return None;
        }
        let (meter, firmware) = idle.swap_remove(self.chance.below(idle.len() as u64) as usize);
        let bytes = Updates::image(&self.settings, *meter, 1 - firmware.slot, firmware.version + 1);
        let image = Image::new(bytes)?;
        engine.update(*meter, image.clone()).ok()?;
        firmware.given = Some(image.clone());
        Some((*meter, image))
    }

    /// The engine has begun anew, and knows of images what is durable.
    pub(super) fn go_on(&self, engine: &mut Collector) {
        for (meter, firmware) in &self.meters {
            let is_open = engine.update_progress(*meter).is_some_and(|known| known.update.end.is_none());
            if let Some(image) = firmware.given.as_ref().filter(|_| is_open) {
                // The meter is there: it was asked for its update.
                let _ = engine.update(*meter, image.clone());
            }
        }
    }

    /// Something came of a meter: its update may be over.
    ///
    /// # Errors
    /// An end that no update should come to.
    pub(super) fn heard(
        &mut self,
        engine: &Collector,
        meter: MeterId,
        counts: &mut CollectorCounts,
    ) -> Result<(), String> {
        let Some(firmware) = self.meters.get_mut(&meter).filter(|firmware| firmware.given.is_some()) else {
            return Ok(());
        };
        let progress = engine.update_progress(meter).ok_or("an update that was ordered is forgotten")?;
        let Some(end) = progress.update.end else { return Ok(()) };
        match end {
            UpdateEnd::Runs => {
                (firmware.version, firmware.slot) = (progress.update.version, 1 - firmware.slot);
                counts.updates_run += 1;
            }
            // Its starts on trial were used up by losses of power.
            UpdateEnd::WentBack => counts.updates_gone_back += 1,
            UpdateEnd::Refused(ImageRefusal::OtherSlot) => {
                return Err(format!(
                    "meter {meter} does not run slot {}, which it said it does",
                    firmware.slot
                ));
            }
            UpdateEnd::Refused(_) | UpdateEnd::NotPossible => {
                return Err(format!("meter {meter} does not take an image: {end:?}"));
            }
        }
        firmware.given = None;
        Ok(())
    }

    /// The first meter that is being given one.
    pub(super) fn unfinished(&self) -> Option<MeterId> {
        self.meters.iter().find(|(_, firmware)| firmware.given.is_some()).map(|(meter, _)| *meter)
    }
}
