//! What commands may have been sent with the keys: `commands.toml`, which lies with the keys and so outlives the database.
//!
//! A database that is lost, or put back from a copy, must not make a number m come twice: two messages under one nonce of AES-GCM give
//! away the key that authenticates. So numbers are reserved here ahead, as a meter reserves its n, before one is used; and what suites
//! and addresses a meter may have been told is here before it is told. docs/collector.md, "Back up and restore".

use super::RegistryError;
use super::file::Folder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::meter::{Address, MeterId, MeterState, Suite};

pub(super) const NAME: &str = "commands.toml";
/// 65,536 meters with eight addresses each.
const MOST_BYTES: u64 = 64 << 20;
/// So many numbers are reserved ahead: with numbers that go with the seconds, a write each hour at most.
const AHEAD: u32 = 4096;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// No command has had this number or a higher one.
    below: u32,
    /// By number, as key files have it.
    #[serde(default)]
    meters: BTreeMap<String, Told>,
}

/// What a meter may have been told.
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

/// The file, as it is on the disk.
#[derive(Debug)]
pub(crate) struct Issued {
    folder: Folder,
    file: File,
}

impl Issued {
    /// Reads it; where there is none nothing was issued.
    pub(super) fn read(folder: &Folder) -> Result<Issued, RegistryError> {
        let file = folder.read_up_to(NAME, MOST_BYTES)?.unwrap_or_default();
        Ok(Issued { folder: folder.clone(), file })
    }

    /// No command has had this number or a higher one.
    pub(crate) fn below(&self) -> u32 {
        self.file.below
    }

    /// What a meter with keys of this epoch may have been told; `None` where no command was sent with them.
    pub(crate) fn told(&self, meter: MeterId, epoch: u32) -> Option<&Told> {
        self.file.meters.get(&meter.to_string()).filter(|told| told.epoch == epoch)
    }

    /// Makes durable what these states will have used and told once they are stored. Each with the epoch of its keys.
    ///
    /// # Errors
    /// [`RegistryError::File`]; then none of them must be stored.
    pub(crate) fn cover<'a>(
        &mut self,
        states: impl Iterator<Item = (u32, &'a MeterState)>,
    ) -> Result<(), RegistryError> {
        let mut next: Option<File> = None;
        for (epoch, state) in states {
            let file = next.as_ref().unwrap_or(&self.file);
            let (meter, told) = (state.meter.to_string(), Told::of(epoch, state));
            if state.next_m() <= file.below && file.meters.get(&meter) == Some(&told) {
                continue;
            }
            let file = next.get_or_insert_with(|| self.file.clone());
            if state.next_m() > file.below {
                file.below = state.next_m().saturating_add(AHEAD);
            }
            file.meters.insert(meter, told);
        }
        if let Some(next) = next {
            self.folder.write(NAME, &next)?;
            self.file = next;
        }
        Ok(())
    }
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
    fn numbers_are_reserved_ahead_and_what_was_told_is_there_again() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let folder = Folder::open(&folder.path().join("keys")).expect("made");
        let mut issued = Issued::read(&folder).expect("none is there");
        assert_eq!((issued.below(), issued.told(258, 1)), (0, None));
        let mut state = state(258);
        state.number_commands_from(1000);
        state.may_have(&[Suite::Ecies], &[]);
        issued.cover([(1, &state)].into_iter()).expect("written");
        let again = Issued::read(&folder).expect("there");
        assert_eq!(again.below(), 1000 + AHEAD);
        let told = again.told(258, 1).expect("it was told");
        assert_eq!((&told.suites[..], &told.addresses[..]), (state.suites(), state.addresses()));
        assert_eq!(again.told(258, 2), None);
        // Below what is reserved nothing is written.
        let path = folder.path_of(NAME);
        std::fs::remove_file(&path).expect("there");
        state.number_commands_from(1000 + AHEAD);
        issued.cover([(1, &state)].into_iter()).expect("nothing to do");
        assert!(!path.exists());
        state.number_commands_from(1001 + AHEAD);
        issued.cover([(1, &state)].into_iter()).expect("written");
        assert_eq!(Issued::read(&folder).expect("there").below(), 1001 + 2 * AHEAD);
    }

    #[test]
    fn what_cannot_be_written_is_not_believed_to_be() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let keys = folder.path().join("keys");
        let opened = Folder::open(&keys).expect("made");
        let mut issued = Issued::read(&opened).expect("none is there");
        std::fs::remove_dir_all(&keys).expect("there");
        let state = state(258);
        issued.cover([(1, &state)].into_iter()).expect_err("the folder is gone");
        assert_eq!((issued.below(), issued.told(258, 1)), (0, None));
    }
}
