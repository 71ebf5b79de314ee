//! Branch prediction of the Cortex-M7.

/// A direct-mapped branch target cache of 64 entries (DDI 0489 section 1.2: "branch target address
/// cache"; its size is that of ARM's presentations of the core).
const ENTRIES: usize = 64;

/// Cycles lost by a branch that was not foreseen, if what decides it was there three cycles before:
/// it is then resolved on its way to the first stage (DDI 0489 section 1.2: "forwarding of flags
/// for early resolution of direct branches"). `m7.toml` says why three.
const MISPREDICTED: u32 = 3;
/// The same if it was not.
const MISPREDICTED_LATE: u32 = 4;

#[derive(Clone, Copy, Default)]
struct Entry {
    branch: u32,
    target: u32,
    /// 0, 1: not taken; 2, 3: taken.
    counter: u8,
}

/// The branch target cache.
#[derive(Clone)]
pub struct Branches {
    entries: [Entry; ENTRIES],
}

impl Branches {
    pub fn new() -> Branches {
        Branches { entries: [Entry::default(); ENTRIES] }
    }

    pub fn clear(&mut self) {
        *self = Branches::new();
    }

    /// Cycles lost by a branch at `address` that goes to `target`, or does not go. `early` says
    /// that what decides it was there three cycles before.
    #[inline]
    pub fn lost(&mut self, address: u32, target: Option<u32>, early: bool) -> u32 {
        let entry = &mut self.entries[(address >> 1) as usize % ENTRIES];
        // The usual case: known, and as last time.
        if entry.branch == address {
            let foreseen = (entry.counter >= 2).then_some(entry.target);
            entry.counter = match target {
                Some(target) => {
                    entry.target = target;
                    (entry.counter + 1).min(3)
                }
                None => entry.counter.saturating_sub(1),
            };
            return match foreseen == target {
                true => 0,
                false if early => MISPREDICTED,
                false => MISPREDICTED_LATE,
            };
        }
        // Unknown branches are taken to fall through.
        let Some(target) = target else { return 0 };
        *entry = Entry { branch: address, target, counter: 2 };
        if early { MISPREDICTED } else { MISPREDICTED_LATE }
    }
}
