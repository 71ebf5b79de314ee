//! The loop: everybody lives up to the next step, then what they sent is put on the air and what they hear handed out.
//!
//! A step is as long as nothing that is sent within it can be heard within it ([`Medium::step_ns`]), so that all stations live
//! through it at once, on as many processors as there are. Where all stations know when they do something next, a step begins
//! there.

use super::air::{Air, Hearing, Inbox, Medium};
use super::attacker::{Act, Attacker};
use super::endpoint::Endpoint;
use super::household::Household;
use super::ledger::Ledger;
use crate::node::SECOND_NS;
use crate::simulation::Progress;
use lab::LabError;
use rayon::prelude::*;
use wire::meter::{MessageKind, Packet};

/// A street whose time has not begun.
pub struct Street {
    /// The meters.
    pub households: Vec<Household>,
    /// The collector.
    pub endpoint: Endpoint,
    /// The collector's radio address.
    pub endpoint_address: u8,
    /// Somebody who attacks.
    pub attacker: Option<Attacker>,
    /// The air.
    pub air: Air,
    /// What is looked at.
    pub ledger: Ledger,
    /// How stations live apart.
    pub medium: Medium,
    /// Some station does things at times that it does not know beforehand: steps follow each other without a pause.
    pub stepwise: bool,
    /// How long it lasts.
    pub end_ns: u64,
    /// For how long reports may still come afterwards.
    pub settle_ns: u64,
    now_ns: u64,
    inboxes: Vec<Inbox>,
    ears: Vec<Hearing>,
    bytes: Vec<super::station::AirByte>,
}

/// What a street is made of.
pub struct Parts {
    /// The meters.
    pub households: Vec<Household>,
    /// The collector, and its radio address.
    pub endpoint: (Endpoint, u8),
    /// Somebody who attacks.
    pub attacker: Option<Attacker>,
    /// The air's properties.
    pub medium: Medium,
    /// What is looked at.
    pub ledger: Ledger,
    /// As [`Street::stepwise`].
    pub stepwise: bool,
    /// How long it lasts, and for how long reports may still come afterwards.
    pub times_ns: (u64, u64),
}

impl Street {
    /// A street whose time has not begun.
    #[must_use]
    pub fn new(parts: Parts) -> Street {
        let participants = parts.households.len() + 2;
        let (endpoint, endpoint_address) = parts.endpoint;
        let (end_ns, settle_ns) = parts.times_ns;
        Street {
            households: parts.households,
            endpoint,
            endpoint_address,
            attacker: parts.attacker,
            air: Air::new(parts.medium),
            ledger: parts.ledger,
            medium: parts.medium,
            stepwise: parts.stepwise,
            end_ns,
            settle_ns,
            now_ns: 0,
            inboxes: vec![Inbox::default(); participants],
            ears: vec![Hearing::Nothing; participants],
            bytes: Vec::new(),
        }
    }

    /// The collector's index on the air; the attacker's is the next one.
    fn collector(&self) -> usize {
        self.households.len()
    }

    /// Up to when it has lived.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Lets time pass to the end, and then on a quiet air until all reports that were kept have come.
    ///
    /// # Errors
    /// What does not hold ([`Ledger`]), and what a model cannot execute.
    pub fn run(&mut self, progress: &dyn Progress) -> Result<(), LabError> {
        self.live_until(self.end_ns, progress)?;
        self.air.calm();
        self.endpoint.calm();
        if let Some(attacker) = &mut self.attacker {
            attacker.stop();
        }
        for household in &mut self.households {
            household.calm();
        }
        let last_ns = self.end_ns + self.settle_ns;
        while let Some(owed) = self.ledger.owed(self.end_ns) {
            if self.now_ns >= last_ns {
                return Err(self.ledger.never_came(owed, self.now_ns));
            }
            self.live_until(self.now_ns + SECOND_NS, progress)?;
        }
        Ok(())
    }

    fn live_until(&mut self, end_ns: u64, progress: &dyn Progress) -> Result<(), LabError> {
        let total_s = self.end_ns as f64 / SECOND_NS as f64;
        while self.now_ns < end_ns {
            // On a thread of the pool: handing each step to it from outside costs a tenth of all time.
            rayon::scope(|_| self.live_a_second(end_ns))?;
            self.ledger.passed(self.now_ns)?;
            progress.report((self.now_ns as f64 / SECOND_NS as f64).min(total_s), total_s);
        }
        Ok(())
    }

    /// Steps until a second has passed, or more where nobody does anything.
    fn live_a_second(&mut self, end_ns: u64) -> Result<(), LabError> {
        let begun_ns = self.now_ns;
        while self.now_ns < end_ns && self.now_ns < begun_ns + SECOND_NS {
            let next_ns = if self.stepwise { self.now_ns } else { self.next_ns() };
            let to_ns = (next_ns.max(self.now_ns) + self.medium.step_ns()).min(end_ns);
            self.step(to_ns)?;
        }
        Ok(())
    }

    fn next_ns(&self) -> u64 {
        let meters = self.households.iter().map(Household::next_ns).min().unwrap_or(u64::MAX);
        let attacker = self.attacker.as_ref().map_or(u64::MAX, Attacker::next_ns);
        meters.min(attacker).min(self.endpoint.next_ns()).min(self.air.next_ns())
    }

    fn step(&mut self, to_ns: u64) -> Result<(), LabError> {
        if self.stepwise {
            // A share for each thread: all take about as long.
            let share = self.households.len().div_ceil(rayon::current_num_threads());
            let households = self.households.par_iter_mut().with_min_len(share);
            households.try_for_each(|household| household.live(to_ns))?;
        } else {
            // Events are so short that handing them to other threads would take longer.
            for household in self.households.iter_mut().filter(|household| household.is_due(to_ns)) {
                household.live(to_ns)?;
            }
        }
        self.now_ns = to_ns;
        let collector = self.collector();
        self.endpoint.advance(to_ns)?;
        for (from_ns, bytes) in self.endpoint.take_sent() {
            self.air.send_all(collector, from_ns, &bytes);
        }
        if let Some(attacker) = &mut self.attacker {
            while let Some(act) = attacker.act(to_ns) {
                match act {
                    Act::Packet(_, bytes) => self.air.send_all(collector + 1, to_ns, &bytes),
                    Act::Noise(for_ns) => self.air.jam(to_ns, to_ns + for_ns),
                }
            }
        }
        for (meter, household) in self.households.iter_mut().enumerate() {
            for (at_ns, happening) in household.happened.drain(..) {
                self.ledger.happened(meter, at_ns, happening)?;
            }
            if !household.on_air.is_empty() {
                self.bytes.append(&mut household.on_air);
                self.air.send(meter, &self.bytes);
                self.bytes.clear();
            }
            self.ears[meter] = household.hearing();
        }
        self.ears[collector] = Hearing::Packets(self.endpoint_address);
        for delivery in self.endpoint.take_deliveries() {
            self.ledger.delivered(&delivery)?;
        }
        self.air.settle(to_ns, &self.ears, &mut self.inboxes);
        self.hand_out(to_ns)
    }

    fn hand_out(&mut self, now_ns: u64) -> Result<(), LabError> {
        for packet in self.air.overheard() {
            if packet.from <= self.collector() {
                self.ledger.sent(&packet)?;
            }
            if let Some(attacker) = self.attacker.as_mut().filter(|_| packet.from <= self.households.len()) {
                let report =
                    Packet::parse(&packet.packet).is_ok_and(|packet| packet.kind == MessageKind::Report);
                attacker.hear(&packet, report, now_ns);
            }
        }
        for (household, inbox) in self.households.iter_mut().zip(&mut self.inboxes) {
            household.hear(inbox);
        }
        let collector = self.collector();
        for arrival in self.inboxes[collector].packets.drain(..) {
            self.endpoint.hear(arrival);
        }
        Ok(())
    }
}
