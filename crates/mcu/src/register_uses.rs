//! Uses of registers by instructions: reads, and writes of what is not read before.

use crate::dataflow::{CoreDataflow, Dataflow, Effect, Locations};
use std::collections::{BTreeSet, HashMap};

/// Use of some bits of a register by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterUse {
    /// Neither read nor written.
    None,
    /// Written, whatever they are.
    Overwritten,
    /// Read, or not known.
    Read,
}

/// Uses of a core's registers by some instructions of its program.
pub struct RegisterUses {
    locations: fn(usize, u32, u8) -> Locations,
    uses: HashMap<u32, Uses>,
}

#[derive(Clone, Copy)]
struct Uses {
    read: Locations,
    overwritten: Locations,
}

impl RegisterUses {
    /// Uses by the instructions at these addresses; `None` where registers have addresses or
    /// banks, so that more reads them than their names say.
    pub(crate) fn of(flow: CoreDataflow, addresses: &BTreeSet<u32>) -> Option<RegisterUses> {
        if !flow.mapped.is_empty() || flow.banks != 1 {
            return None;
        }
        let mut uses = HashMap::new();
        for address in addresses {
            let told = (flow.describe)(*address);
            let is_block = told.len() > 1;
            for (at, dataflow) in &told {
                // An instruction in a block is told of rightly together with the block alone.
                if is_block || !uses.contains_key(at) {
                    uses.insert(*at, Uses::of(dataflow));
                }
            }
        }
        Some(RegisterUses { locations: flow.locations, uses })
    }

    /// Returns the use of some bits of a register, by its index in
    /// [`crate::Mcu::register_names`], by the instruction at an address.
    #[must_use]
    pub fn by(&self, address: u32, register: usize, bits: u32) -> RegisterUse {
        let places = (self.locations)(register, bits, 0);
        let Some(uses) = self.uses.get(&address).filter(|_| !places.is_empty()) else {
            return RegisterUse::Read;
        };
        if places.without(uses.read | uses.overwritten) == places {
            RegisterUse::None
        } else if places.without(uses.overwritten).is_empty() {
            RegisterUse::Overwritten
        } else {
            RegisterUse::Read
        }
    }
}

impl Uses {
    fn of(dataflow: &Dataflow) -> Uses {
        let (mut read, mut written) = (dataflow.condition, Locations::NONE);
        for effect in &dataflow.effects {
            let (from, to) = match *effect {
                Effect::Move { from, to, .. } => (from, to),
                Effect::Read { to, .. } => (Locations::NONE, to),
                Effect::Address(from) | Effect::Write(from) | Effect::Branch(from) | Effect::Time(from) => {
                    (from, Locations::NONE)
                }
                Effect::Repeat(_) => continue,
            };
            read |= from.without(written);
            written |= to;
        }
        // What is not executed leaves what was there.
        if dataflow.condition.is_empty() {
            Uses { read, overwritten: written.without(read) }
        } else {
            Uses { read: read | written, overwritten: Locations::NONE }
        }
    }
}
