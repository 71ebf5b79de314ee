//! Nested vectored interrupt controller (DDI 0403E, B1.5 and B3.4).
//!
//! It has enabled, pending and active exceptions, and their order.

use super::registers::State;

/// Exception numbers.
pub(super) const NMI: u16 = 2;
pub(super) const HARD_FAULT: u16 = 3;
pub(super) const MEM_MANAGE: u16 = 4;
pub(super) const BUS_FAULT: u16 = 5;
pub(super) const USAGE_FAULT: u16 = 6;
pub(super) const SVCALL: u16 = 11;
pub(super) const PENDSV: u16 = 14;
pub(super) const SYSTICK: u16 = 15;

/// The nested vectored interrupt controller with the system exceptions' share.
#[derive(Clone, Debug)]
pub(super) struct Nvic {
    /// By interrupt number.
    pub enabled: u128,
    /// By interrupt number.
    pub pending: u128,
    /// By interrupt number.
    pub priority: [u8; INTERRUPTS],
    /// Pending system exceptions, by exception number.
    pub system_pending: u16,
    /// Priorities of the system exceptions, by exception number.
    pub system_priority: [u8; 16],
    /// The exceptions being handled, the latest last.
    pub active: Vec<u16>,
    /// AIRCR.PRIGROUP.
    pub group: u8,
    /// The bits of a priority that the part has.
    pub implemented: u8,
    /// The interrupts that the part has, a bit each. Registers of others read as zero and ignore
    /// writes.
    present: u128,
}

/// The most interrupts of a part.
const INTERRUPTS: usize = 128;

/// Pending interrupts by number, and pending system exceptions.
pub(super) type Pending = (u128, u16);

impl Nvic {
    /// A controller of this number of interrupts, with this number of priority bits.
    pub fn new(interrupts: u8, priority_bits: u8) -> Nvic {
        Nvic {
            enabled: 0,
            pending: 0,
            priority: [0; INTERRUPTS],
            system_pending: 0,
            system_priority: [0; 16],
            active: Vec::new(),
            group: 0,
            implemented: !0xffu8.checked_shr(priority_bits.into()).unwrap_or(0),
            present: u128::MAX >> (INTERRUPTS - usize::from(interrupts)),
        }
    }

    /// ICTR.INTLINESNUM: the interrupts in groups of 32, less one.
    pub fn groups(&self) -> u32 {
        (u128::BITS - self.present.leading_zeros()).saturating_sub(1) / 32
    }

    /// The word of a register with a bit for each interrupt, `offset` bytes from the first one.
    pub fn word(set: u128, offset: usize) -> u32 {
        set.checked_shr(8 * offset as u32).unwrap_or(0) as u32
    }

    /// The interrupts of such a word, those that the part has.
    pub fn lines(&self, word: u32, offset: usize) -> u128 {
        u128::from(word).checked_shl(8 * offset as u32).unwrap_or(0) & self.present
    }

    /// Returns the pending interrupts and system exceptions.
    pub fn all_pending(&self) -> Pending {
        (self.pending, self.system_pending)
    }

    /// The interrupt of this number is pending from now on, where the part has it (STIR).
    pub fn pend(&mut self, interrupt: u32) {
        self.pending |= 1u128.checked_shl(interrupt).unwrap_or(0) & self.present;
    }

    /// The priorities of `size` interrupts from `first` on, as NVIC_IPR has them.
    pub fn priorities(&self, first: usize, size: u8) -> u32 {
        let at = |index: usize| u32::from(self.priority.get(first + index).copied().unwrap_or(0));
        (0..usize::from(size)).fold(0, |word, index| word | at(index) << (8 * index))
    }

    /// A write to them.
    pub fn set_priorities(&mut self, first: usize, size: u8, value: u32) {
        for index in (0..usize::from(size)).filter(|index| first + index < INTERRUPTS) {
            if self.present >> (first + index) & 1 == 1 {
                self.priority[first + index] = (value >> (8 * index)) as u8 & self.implemented;
            }
        }
    }

    /// The priority of an exception: lower goes first.
    fn priority_of(&self, exception: u16) -> i16 {
        match exception {
            1 => -3,
            2 => -2,
            3 => -1,
            4..=15 => i16::from(self.system_priority[usize::from(exception)]),
            _ => i16::from(self.priority[usize::from(exception - 16) & 127]),
        }
    }

    /// The part of a priority that decides about preemption.
    fn group_priority(&self, priority: i16) -> i16 {
        if priority < 0 { priority } else { priority & !((2i16 << self.group) - 1) }
    }

    /// The priority that the core executes at; `masks` false leaves PRIMASK out, as WFI does.
    pub fn execution_priority(&self, state: &State, masks: bool) -> i16 {
        let active = self.active.iter().map(|&exception| self.group_priority(self.priority_of(exception)));
        let mut priority = active.min().unwrap_or(256);
        if state.basepri != 0 {
            priority = priority.min(self.group_priority(i16::from(state.basepri)));
        }
        if state.primask && masks {
            priority = priority.min(0);
        }
        if state.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    /// The pending exception that goes first, whatever the core executes.
    pub fn first_pending(&self) -> Option<u16> {
        let mut best: Option<(i16, u16)> = None;
        let mut consider = |priority: i16, exception: u16| {
            if best.is_none_or(|best| (priority, exception) < best) {
                best = Some((priority, exception));
            }
        };
        let mut system = self.system_pending;
        while system != 0 {
            let exception = system.trailing_zeros() as u16;
            system &= system - 1;
            consider(self.priority_of(exception), exception);
        }
        let mut interrupts = self.pending & self.enabled;
        while interrupts != 0 {
            let interrupt = interrupts.trailing_zeros() as u16;
            interrupts &= interrupts - 1;
            consider(self.priority_of(16 + interrupt), 16 + interrupt);
        }
        best.map(|(_, exception)| exception)
    }

    /// The exception that the core must take now, or that ends WFI when `masks` is false.
    pub fn preempts(&self, state: &State, masks: bool) -> Option<u16> {
        let exception = self.first_pending()?;
        let priority = self.group_priority(self.priority_of(exception));
        (priority < self.execution_priority(state, masks)).then_some(exception)
    }

    /// Returns true if an instruction's own exception can be taken at once.
    pub fn takes(&self, exception: u16, state: &State) -> bool {
        self.group_priority(self.priority_of(exception)) < self.execution_priority(state, true)
    }

    /// Interrupt lines are levels: a line that is high makes its interrupt pending unless it is
    /// being handled.
    pub fn sample(&mut self, lines: u128) {
        if lines & !self.pending == 0 {
            return;
        }
        let active = self.active.iter().filter(|&&exception| exception >= 16);
        let active = active.fold(0u128, |mask, &exception| mask | 1 << (exception - 16));
        self.pending |= lines & !active;
    }

    /// An exception is being handled from now on.
    pub fn activate(&mut self, exception: u16) {
        if exception >= 16 {
            self.pending &= !(1 << (exception - 16));
        } else {
            self.system_pending &= !(1 << exception);
        }
        self.active.push(exception);
    }

    /// An exception's handler has returned; false if it was not active.
    pub fn deactivate(&mut self, exception: u16) -> bool {
        let found = self.active.iter().rposition(|&active| active == exception);
        found.map(|index| self.active.remove(index)).is_some()
    }
}
