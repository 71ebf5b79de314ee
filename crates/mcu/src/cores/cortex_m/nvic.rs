//! Which exceptions are enabled, pending, active, and which comes next (DDI 0403E, B1.5 and B3.4).

use super::registers::State;

/// Exception numbers.
pub(super) const NMI: u16 = 2;
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
    pub priority: [u8; 128],
    /// Pending system exceptions, by exception number.
    pub system_pending: u16,
    /// Priorities of the system exceptions, by exception number.
    pub system_priority: [u8; 16],
    /// The exceptions being handled, the latest last.
    pub active: Vec<u16>,
    /// AIRCR.PRIGROUP.
    pub group: u8,
    /// The bits of a priority that exist: two on ARMv6-M, four on ST's ARMv7-M parts.
    pub implemented: u8,
}

impl Nvic {
    pub fn new(v7: bool) -> Nvic {
        Nvic {
            enabled: 0,
            pending: 0,
            priority: [0; 128],
            system_pending: 0,
            system_priority: [0; 16],
            active: Vec::new(),
            group: 0,
            implemented: if v7 { 0xf0 } else { 0xc0 },
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

    /// Whether SVC cannot be taken at once.
    pub fn svc_blocked(&self, state: &State) -> bool {
        let priority = self.group_priority(self.priority_of(SVCALL));
        priority >= self.execution_priority(state, true)
    }

    /// Interrupt lines are levels: a line that is high makes its interrupt pending unless it is being handled.
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
