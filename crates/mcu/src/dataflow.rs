//! Data flow of instructions, independent of values.
//!
//! It names the sources of each result, and of the decisions on address, control flow and time.
//!
//! Each core says this of its instructions in its `dataflow.rs`; [`crate::Taint`] follows it and
//! knows no core.

use std::ops::{BitOr, BitOrAssign, Range};

/// A set of the places in a core that hold data: registers, halves of them or flags, as the core
/// divides itself up; a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Locations(pub u64);

impl Locations {
    pub const NONE: Locations = Locations(0);

    /// A place of no core, which holds nothing between two instructions.
    pub const TEMPORARY: Locations = Locations::one(15);

    /// The place of this number, below 64.
    pub const fn one(number: u8) -> Locations {
        Locations(1 << (number & 63))
    }

    /// Both.
    pub const fn with(self, other: Locations) -> Locations {
        Locations(self.0 | other.0)
    }

    /// Those that are not among `other`.
    pub const fn without(self, other: Locations) -> Locations {
        Locations(self.0 & !other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their numbers, from the lowest.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let number = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                number
            })
        })
    }
}

impl BitOr for Locations {
    type Output = Locations;
    fn bitor(self, other: Locations) -> Locations {
        self.with(other)
    }
}

impl BitOrAssign for Locations {
    fn bitor_assign(&mut self, other: Locations) {
        *self = self.with(other);
    }
}

/// Dependence of a result's bytes on those of its sources. A place has four bytes, the least
/// significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// Each on the same byte of all sources.
    Bytes,
    /// As [`Propagation::Bytes`], the bytes of this mask alone; the others are constant.
    Masked(u32),
    /// Each on the same byte and all lower ones: carries.
    Upward,
    /// Each on all bytes.
    Mixed,
    /// Shifted left by a number of bits; constant bits come in.
    Left(u8),
    Right(u8),
    /// As [`Propagation::Right`], the sign coming in.
    SignedRight(u8),
    Rotated(u8),
    /// The bytes in the reverse order.
    Reversed,
}

/// A step of what an instruction does with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Each of `to` is made of all of `from`.
    Move { from: Locations, to: Locations, shape: Propagation },
    /// These decide on the addresses of the accesses that follow.
    Address(Locations),
    /// The next access is a read; its bytes go to each of `to`.
    Read { to: Locations, shape: Propagation },
    /// The next access is a write of what is in `from`.
    Write(Locations),
    /// These decide on the instruction that comes next.
    Branch(Locations),
    /// These decide on how long the instruction takes.
    Time(Locations),
    /// Repeats the given number of effects before this one while there are accesses.
    Repeat(u8),
}

impl Effect {
    /// Returns true if the effect waits for an access to memory.
    pub fn is_access(self) -> bool {
        matches!(self, Effect::Read { .. } | Effect::Write(_))
    }

    /// All places that it reads or writes.
    pub fn locations(self) -> Locations {
        match self {
            Effect::Move { from, to, .. } => from | to,
            Effect::Read { to: locations, .. }
            | Effect::Address(locations)
            | Effect::Write(locations)
            | Effect::Branch(locations)
            | Effect::Time(locations) => locations,
            Effect::Repeat(_) => Locations::NONE,
        }
    }
}

/// Effects of an instruction on data, in the order in which they come about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dataflow {
    pub effects: Vec<Effect>,
    /// The flags that decide whether the instruction does anything. An observer is told where it
    /// does not ([`crate::Observer::skipped`]).
    pub condition: Locations,
}

impl Dataflow {
    /// Each of `to` is made of all of `from`, whatever bytes of them.
    pub fn depends_on_all(&mut self, from: Locations, to: Locations) {
        self.moves(from, to, Propagation::Mixed);
    }

    pub fn moves(&mut self, from: Locations, to: Locations, shape: Propagation) {
        if !to.is_empty() {
            self.effects.push(Effect::Move { from, to, shape });
        }
    }

    /// `to` becomes a constant, or what is public.
    pub fn clears(&mut self, to: Locations) {
        self.moves(Locations::NONE, to, Propagation::Bytes);
    }

    pub fn address(&mut self, from: Locations) {
        self.effects.push(Effect::Address(from));
    }

    pub fn reads(&mut self, to: Locations, shape: Propagation) {
        self.effects.push(Effect::Read { to, shape });
    }

    pub fn writes(&mut self, from: Locations) {
        self.effects.push(Effect::Write(from));
    }

    pub fn branches(&mut self, on: Locations) {
        self.effects.push(Effect::Branch(on));
    }

    pub fn takes_time(&mut self, on: Locations) {
        self.effects.push(Effect::Time(on));
    }
}

/// Tells of the instruction at an address, and of those that can only be told together with it;
/// nothing where there is none. Addresses have the register bank in their highest byte
/// ([`bank_of`]).
pub(crate) type Describe = Box<dyn Fn(u32) -> Vec<(u32, Dataflow)> + Send>;

/// The address of an instruction, and the register bank that it is executed in.
pub(crate) fn bank_of(key: u32) -> (u32, u8) {
    (key & 0xff_ffff, (key >> 24) as u8)
}

/// Addresses at which what lies at others appears once more.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    pub range: Range<u32>,
    /// First address of the memory behind the alias.
    pub of: u32,
    /// Binary logarithm of the number of addresses for each byte (bit-banding).
    pub shift: u8,
}

/// Data flow of a core and its program in their current state.
pub(crate) struct CoreDataflow {
    pub describe: Describe,
    /// The places of some bits of a register, by its index in
    /// [`crate::machine::Core::all_registers`], in a register bank.
    pub locations: fn(usize, u32, u8) -> Locations,
    /// Locations hold a byte each.
    pub locations_are_bytes: bool,
    /// Instructions lie at multiples of as many bytes, as a power of two.
    pub alignment: u8,
    /// Number of register banks. With more than one, no instruction lies above 0xffffff.
    pub banks: u8,
    /// Selected register bank.
    pub bank: u8,
    /// Registers of the core that have addresses, a byte each.
    pub mapped: Vec<(u32, Locations)>,
    /// Writes of an interrupt's entry, where the core reports them.
    pub interrupt: Dataflow,
    /// Locations that an interrupt's entry stacks without a report, a word each, from the stack
    /// pointer up, and that the return restores.
    pub stacked: Vec<Locations>,
    /// Locations that it saves and restores besides.
    pub saved: Locations,
    pub aliases: Vec<Alias>,
    /// Offset from bus addresses of peripherals to their ELF addresses.
    pub data_space: u32,
}

impl CoreDataflow {
    /// A core without any peculiarity.
    pub fn new(describe: Describe, locations: fn(usize, u32, u8) -> Locations) -> CoreDataflow {
        CoreDataflow {
            describe,
            locations,
            locations_are_bytes: false,
            alignment: 1,
            banks: 1,
            bank: 0,
            mapped: Vec::new(),
            interrupt: Dataflow::default(),
            stacked: Vec::new(),
            saved: Locations::NONE,
            aliases: Vec::new(),
            data_space: 0,
        }
    }
}
