//! The record of commands that may have been sent with the keys: `commands.toml` and `told.toml`.
//! They lie with the keys and so outlive the database. For sealed keys it is in the tables
//! `key_networks` and `told`.
//!
//! A database that is lost, or put back from a copy, must not make a number m come twice: two
//! messages under one nonce of AES-GCM give away the key that authenticates. So a number is here
//! before it is used; and what suites and addresses a meter may have been told is here before it is
//! told. docs/how-to/collector/files.md, "Back up and restore".

use super::RegistryError;
use super::file::Folder;
use super::sealed::SealedNetwork;
use crate::network::GlobalMeterId;
use crate::store::{METERS_OF_A_PAGE, MeterRange, SqlError, values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::meter::{Address, MeterId, MeterState, Suite};

/// Both files.
pub(super) const NAMES: [&str; 2] = [NUMBERS, TOLD];
const NUMBERS: &str = "commands.toml";
const TOLD: &str = "told.toml";
/// 65,536 meters with eight addresses each.
const BYTES_MAX: u64 = 64 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    /// No command has had this number or a higher one.
    below: u32,
}

/// By number of the meter.
type ToldFile = BTreeMap<String, Told>;

/// The suites and addresses that a meter may have been told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    /// Of the keys.
    pub(crate) epoch: u32,
    /// The suites that it may have.
    pub(crate) suites: Vec<Suite>,
    /// The addresses that it may have.
    pub(crate) addresses: Vec<Address>,
}

impl Told {
    fn of(epoch: u32, state: &MeterState) -> Told {
        Told { epoch, suites: state.suites().to_vec(), addresses: state.addresses().to_vec() }
    }
}

/// The place of the record.
#[derive(Clone, Debug)]
enum Where {
    Files(Folder),
    Tables(SealedNetwork),
    /// Nowhere: nothing that is covered is kept.
    #[cfg(test)]
    Nowhere,
}

/// Both, as they are on the disk.
#[derive(Debug)]
pub(crate) struct CounterFloor {
    at: Where,
    numbers: Numbers,
    told: ToldFile,
}

impl CounterFloor {
    /// Nothing, nowhere.
    #[cfg(test)]
    pub(crate) fn nowhere() -> CounterFloor {
        CounterFloor { at: Where::Nowhere, numbers: Numbers::default(), told: ToldFile::new() }
    }

    /// Reads them; where there are none nothing was issued.
    pub(super) fn read(folder: &Folder) -> Result<CounterFloor, RegistryError> {
        let numbers = folder.read(NUMBERS)?.unwrap_or_default();
        let told = folder.read_up_to(TOLD, BYTES_MAX)?.unwrap_or_default();
        Ok(CounterFloor { at: Where::Files(folder.clone()), numbers, told })
    }

    /// Reads what is beside sealed keys.
    pub(super) fn of(sealed: &SealedNetwork) -> Result<CounterFloor, RegistryError> {
        let (numbers, told) = sealed.store.ask(|session| {
            let below = "SELECT below FROM key_networks WHERE network = $1";
            let below = session.first(below, values![sealed.network.0], |row| row.get(0))?.unwrap_or(0);
            let sql =
                format!("SELECT meter, told FROM told WHERE {} ORDER BY meter LIMIT $5", MeterRange::sql());
            let (mut told, mut after) = (ToldFile::new(), None);
            loop {
                let page = MeterRange::OfNetwork(sealed.network).page(after, METERS_OF_A_PAGE);
                let page = session.query(&sql, &page, |row| {
                    let (meter, text): (GlobalMeterId, String) = (row.get(0)?, row.get(1)?);
                    let of = serde_json::from_str(&text);
                    Ok((
                        meter,
                        of.map_err(|error| SqlError::Stored(format!("told of meter {meter}: {error}")))?,
                    ))
                })?;
                let Some((last, _)) = page.last() else { return Ok((Numbers { below }, told)) };
                after = Some(last.key());
                told.extend(page.into_iter().map(|(meter, of)| (meter.meter.to_string(), of)));
            }
        })?;
        Ok(CounterFloor { at: Where::Tables(sealed.clone()), numbers, told })
    }

    /// Returns all that meters were told, as the table has it.
    pub(super) fn told_as_text(&self) -> Result<BTreeMap<MeterId, String>, RegistryError> {
        as_text(&self.told)
    }

    /// No command has had this number or a higher one.
    pub(crate) fn below(&self) -> u32 {
        self.numbers.below
    }

    /// Returns all that a meter with keys of this epoch may have been told; `None` if no command
    /// was sent with them.
    pub(crate) fn told(&self, meter: MeterId, epoch: u32) -> Option<&Told> {
        self.told.get(&meter.to_string()).filter(|told| told.epoch == epoch)
    }

    /// Makes durable what these states will have used and told once they are stored. Each with the
    /// epoch of its keys. Where another process of this machine has written since, that stays:
    /// several workers have meters of one network.
    ///
    /// # Errors
    /// [`RegistryError::File`]; then none of them must be stored.
    pub(crate) fn cover<'a>(
        &mut self,
        states: impl Iterator<Item = (u32, &'a MeterState)>,
    ) -> Result<(), RegistryError> {
        let mut below = self.numbers.below;
        let mut told = ToldFile::new();
        for (epoch, state) in states {
            below = below.max(state.next_m());
            let (meter, now) = (state.meter.to_string(), Told::of(epoch, state));
            if told.get(&meter).or(self.told.get(&meter)) != Some(&now) {
                told.insert(meter, now);
            }
        }
        if below == self.numbers.below && told.is_empty() {
            return Ok(());
        }
        let folder = match &self.at {
            Where::Files(folder) => folder.clone(),
            #[cfg(test)]
            Where::Nowhere => return Ok(()),
            Where::Tables(sealed) => {
                let text = as_text(&told)?;
                sealed.change_issued(|rows| rows.put_issued(below, &text))?;
                self.numbers = Numbers { below };
                self.told.append(&mut told);
                return Ok(());
            }
        };
        let _lock = folder.lock()?;
        if below > self.numbers.below {
            let written: Numbers = folder.read(NUMBERS)?.unwrap_or_default();
            let numbers = Numbers { below: below.max(written.below) };
            folder.write(NUMBERS, &numbers)?;
            self.numbers = numbers;
        }
        if !told.is_empty() {
            let mut all = self.told.clone();
            all.append(&mut folder.read_up_to(TOLD, BYTES_MAX)?.unwrap_or_default());
            all.append(&mut told);
            folder.write(TOLD, &all)?;
            self.told = all;
        }
        Ok(())
    }
}

fn as_text(told: &ToldFile) -> Result<BTreeMap<MeterId, String>, RegistryError> {
    let text = |(meter, told): (&String, &Told)| {
        let written = serde_json::to_string(told).map_err(|error| error.to_string());
        let written = written.and_then(|text| Ok((meter.parse().map_err(|_| "no meter".to_owned())?, text)));
        written.map_err(|error| RegistryError::Kek(format!("what meter {meter} was told: {error}")))
    };
    told.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::TryRngCore;
    use wire::meter::{Identity, Provision, Setup};

    fn state(meter: MeterId) -> MeterState {
        let rng = &mut rand::rngs::OsRng.unwrap_err();
        let collector = Identity::generate(rng);
        MeterState::new(&Provision::generate(Setup::usual(meter), collector.public(), rng).record())
    }

    #[test]
    fn numbers_and_what_was_told_are_there_again() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let folder = Folder::open(&folder.path().join("keys")).expect("made");
        let mut counter_floor = CounterFloor::read(&folder).expect("none is there");
        assert_eq!((counter_floor.below(), counter_floor.told(258, 1)), (0, None));
        let mut state = state(258);
        state.number_commands_from(1000);
        state.may_have(&[Suite::Ecies], &[]);
        counter_floor.cover([(1, &state)].into_iter()).expect("written");
        let again = CounterFloor::read(&folder).expect("there");
        assert_eq!(again.below(), 1000);
        let told = again.told(258, 1).expect("it was told");
        assert_eq!((&told.suites[..], &told.addresses[..]), (state.suites(), state.addresses()));
        assert_eq!(again.told(258, 2), None);
        // An existing file is not written again, each by itself.
        let paths = NAMES.map(|name| folder.path_of(name));
        let written = |counter_floor: &mut CounterFloor, state: &MeterState| {
            for path in &paths {
                let _ = std::fs::remove_file(path);
            }
            counter_floor.cover([(1, state)].into_iter()).expect("written");
            paths.each_ref().map(|path| path.exists())
        };
        assert_eq!(written(&mut counter_floor, &state), [false, false]);
        state.number_commands_from(1001);
        assert_eq!(written(&mut counter_floor, &state), [true, false]);
        assert_eq!(CounterFloor::read(&folder).expect("there").below(), 1001);
        state.may_have(&[Suite::None], &[]);
        assert_eq!(written(&mut counter_floor, &state), [false, true]);
    }

    #[test]
    fn counter_floor_of_another_process_stays() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let folder = Folder::open(&folder.path().join("keys")).expect("made");
        let (mut one, mut other) =
            (CounterFloor::read(&folder).expect("none"), CounterFloor::read(&folder).expect("none"));
        let (mut first, mut second) = (state(258), state(259));
        first.number_commands_from(2000);
        second.number_commands_from(1000);
        one.cover([(1, &first)].into_iter()).expect("written");
        other.cover([(1, &second)].into_iter()).expect("written");
        let both = CounterFloor::read(&folder).expect("there");
        assert_eq!(both.below(), 2000);
        assert!(both.told(258, 1).is_some() && both.told(259, 1).is_some());
    }

    #[test]
    fn unwritable_counter_floor_is_not_believed_written() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let keys = folder.path().join("keys");
        let opened = Folder::open(&keys).expect("made");
        let mut counter_floor = CounterFloor::read(&opened).expect("none is there");
        std::fs::remove_dir_all(&keys).expect("there");
        let state = state(258);
        counter_floor.cover([(1, &state)].into_iter()).expect_err("the folder is gone");
        assert_eq!((counter_floor.below(), counter_floor.told(258, 1)), (0, None));
    }
}
