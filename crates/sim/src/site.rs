//! A node where it is: its supply, and what it measures.

use crate::load::Load;
use crate::node::{Call, Node, SignerCounts, Written};
use crate::radio::{Arrival, Emission, ReceiveMode};
use crate::supply::harvest::Harvest;
use crate::supply::{Mains, Power, Voltages};
use crate::time::{nanoseconds, seconds};
use device::meter::Status;
use lab::LabError;

/// Event at a site.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteEvent {
    /// Its power came.
    PowerUp,
    /// It was cut, while its memory was written or not.
    PowerCut {
        /// Data that was being written.
        while_writing: Option<Written>,
    },
    /// It had no power for so long, in seconds.
    Off(f64),
    /// An observed function has returned.
    Call(Call),
    /// A meter says something new of itself.
    Meter(Status),
    /// The harvested node was awake and counts this.
    Signer(SignerCounts),
}

/// Power supply of a site.
pub enum Supply {
    /// The mains.
    Mains(Mains),
    /// Sun and storage.
    Harvest(Box<Harvest>),
}

/// The site.
pub struct Site {
    /// The node.
    pub node: Box<dyn Node>,
    /// The channel that its radio is on: an index.
    pub channel: usize,
    load: Load,
    supply: Supply,
    load_ns: u64,
    power_w: f64,
    now_ns: u64,
    status: Status,
    /// Emissions since the last step.
    pub(crate) emissions: Vec<Emission>,
    /// Events, each with its time.
    pub(crate) events: Vec<(u64, SiteEvent)>,
    /// The fewest bytes of stack that were never touched, at any loss of power.
    untouched: Option<u32>,
}

impl Site {
    /// A site whose node has no power yet.
    #[must_use]
    pub fn new(node: Box<dyn Node>, supply: Supply, load: Load) -> Site {
        Site {
            node,
            channel: 0,
            load,
            supply,
            load_ns: 0,
            power_w: 0.0,
            now_ns: 0,
            status: Status::default(),
            emissions: Vec::new(),
            events: Vec::new(),
            untouched: None,
        }
    }

    /// A site whose node has had power before the simulation begins, at `now_ns`, and keeps it.
    #[must_use]
    pub fn running(node: Box<dyn Node>, load: Load, now_ns: u64) -> Site {
        Site { now_ns, load_ns: now_ns, ..Site::new(node, Supply::Mains(Mains::steady()), load) }
    }

    /// Returns the present receive mode.
    #[must_use]
    pub fn receive_mode(&self) -> ReceiveMode {
        if self.has_power() { self.node.receive_mode() } else { ReceiveMode::Off }
    }

    /// Returns true if its node has power.
    #[must_use]
    pub fn has_power(&self) -> bool {
        match &self.supply {
            Supply::Mains(mains) => !matches!(mains.power, Power::Off { .. }),
            Supply::Harvest(harvest) => harvest.is_powered(),
        }
    }

    /// The harvested supply, where it has one.
    #[must_use]
    pub fn harvest(&self) -> Option<&Harvest> {
        match &self.supply {
            Supply::Mains(_) => None,
            Supply::Harvest(harvest) => Some(harvest),
        }
    }

    /// Returns the power that it measures now, in watts.
    #[must_use]
    pub fn power_w(&self) -> f64 {
        self.power_w
    }

    /// The fewest bytes of stack that its node has left untouched, over all of its starts.
    #[must_use]
    pub fn stack_untouched(&self) -> Option<u32> {
        self.untouched.into_iter().chain(self.node.stack_untouched()).min()
    }

    /// From now on its power stays.
    pub fn stop_faults(&mut self) {
        if let Supply::Mains(mains) = &mut self.supply {
            mains.stop_faults();
            self.node.arm(None);
        }
    }

    /// It measures this from now on, in watts.
    pub fn set_load(&mut self, power_w: f64) {
        self.load = Load::constant(power_w);
        self.load_ns = u64::MAX;
        self.power_w = power_w;
        self.node.set_load(power_w);
    }

    /// When something comes about next.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        match &self.supply {
            Supply::Mains(Mains { power: Power::Off { until_ns }, .. }) => *until_ns,
            Supply::Mains(mains) => self.cut_ns(mains).min(self.load_ns).min(self.node.next_ns()),
            Supply::Harvest(_) => self.now_ns,
        }
    }

    fn cut_ns(&self, mains: &Mains) -> u64 {
        match mains.power {
            Power::On { cut_ns } => cut_ns.max(self.now_ns),
            Power::Off { .. } | Power::Armed => u64::MAX,
        }
    }

    /// Hands over what comes to it, while it has power.
    pub(crate) fn receive(&mut self, inbox: &mut Vec<Arrival>) {
        let powered = self.has_power();
        for arrival in inbox.drain(..).filter(|_| powered) {
            self.node.receive(arrival);
        }
    }

    /// The simulation begins: a node whose supply is up starts.
    pub(crate) fn begin(&mut self) -> Result<(), LabError> {
        match &mut self.supply {
            Supply::Harvest(harvest) if harvest.circuit.rail_is_on() => self.start_harvested(),
            Supply::Harvest(_) | Supply::Mains(_) => Ok(()),
        }
    }

    /// Lives up to `until_ns`, or ends earlier where its supply must be looked at. Returns how far
    /// it came.
    ///
    /// # Errors
    /// An instruction or access that its model cannot execute.
    pub fn live(&mut self, until_ns: u64) -> Result<u64, LabError> {
        match self.supply {
            Supply::Mains(_) => self.live_on_mains(until_ns),
            Supply::Harvest(_) => self.live_on_harvest(until_ns),
        }
    }

    fn live_on_mains(&mut self, until_ns: u64) -> Result<u64, LabError> {
        let mut reached_ns = until_ns;
        while self.now_ns < until_ns {
            let Supply::Mains(mains) = &self.supply else { break };
            match mains.power {
                Power::Off { until_ns: up_ns } if up_ns >= until_ns => self.now_ns = until_ns,
                Power::Off { until_ns: up_ns } => self.start_on_mains(up_ns.max(self.now_ns))?,
                Power::On { .. } | Power::Armed => {
                    let cut_ns = self.cut_ns(mains);
                    let to_ns = until_ns.min(self.load_ns).min(cut_ns);
                    reached_ns = self.node.advance(to_ns)?.now_ns.max(until_ns);
                    self.now_ns = to_ns;
                    if to_ns >= cut_ns && to_ns < until_ns {
                        self.fail();
                    } else if to_ns >= self.load_ns {
                        self.change_load();
                    }
                }
            }
        }
        self.look();
        if let Supply::Mains(Mains { power: Power::Armed, .. }) = self.supply
            && let Some(written) = self.node.writes()
        {
            self.cut(Some(written));
        }
        self.node.take_emissions(&mut self.emissions);
        Ok(reached_ns)
    }

    fn look(&mut self) {
        if self.has_power() {
            let at_ns = self.now_ns;
            self.events.extend(self.node.take_calls().into_iter().map(|call| (at_ns, SiteEvent::Call(call))));
            let status = self.node.meter_status();
            if status != self.status {
                self.status = status;
                self.events.push((at_ns, SiteEvent::Meter(status)));
            }
        }
    }

    fn change_load(&mut self) {
        (self.power_w, self.load_ns) = self.load.at(self.now_ns);
        self.node.set_load(self.power_w);
    }

    fn start_on_mains(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.now_ns = now_ns;
        self.events.push((now_ns, SiteEvent::PowerUp));
        self.change_load();
        self.node.power_up(now_ns, Voltages { rail_v: 0.0, stored_v: 0.0 })?;
        self.status = Status::default();
        if let Supply::Mains(mains) = &mut self.supply {
            mains.turn_on(now_ns);
        }
        Ok(())
    }

    /// It is time for a cut: now, or when something is written.
    fn fail(&mut self) {
        let Supply::Mains(mains) = &mut self.supply else { return };
        if mains.cuts_now() {
            self.look();
            self.cut(None);
        } else {
            let hits = mains.hits();
            self.node.writes();
            self.node.arm(Some(hits));
        }
    }

    fn cut(&mut self, while_writing: Option<Written>) {
        let Supply::Mains(mains) = &mut self.supply else { return };
        let torn = mains.torn();
        mains.turn_off(self.now_ns);
        self.untouched = self.stack_untouched();
        self.node.cut_power(torn);
        self.events.push((self.now_ns, SiteEvent::PowerCut { while_writing }));
    }

    /// The power is cut now and comes back at once. A byte that is being written becomes `torn`.
    ///
    /// # Errors
    /// An instruction or access that the node's model cannot execute.
    pub fn restart(&mut self, torn: u8) -> Result<(), LabError> {
        self.look();
        self.node.cut_power(torn);
        self.events.push((self.now_ns, SiteEvent::PowerCut { while_writing: None }));
        self.start_on_mains(self.now_ns)
    }

    fn start_harvested(&mut self) -> Result<(), LabError> {
        let Supply::Harvest(harvest) = &mut self.supply else { return Ok(()) };
        self.node.power_up(self.now_ns, harvest.voltages())?;
        harvest.turn_on();
        self.events.push((self.now_ns, SiteEvent::PowerUp));
        Ok(())
    }

    /// One step of the circuit: within it the node sees the voltages of its beginning.
    fn live_on_harvest(&mut self, until_ns: u64) -> Result<u64, LabError> {
        let Supply::Harvest(harvest) = &mut self.supply else { return Ok(until_ns) };
        if !harvest.is_powered() {
            let to_ns = until_ns.min(self.now_ns + nanoseconds(harvest.step.asleep_s));
            self.events.push((self.now_ns, SiteEvent::Off(seconds(to_ns - self.now_ns))));
            harvest.pass(self.now_ns, to_ns, &[]);
            let comes = harvest.circuit.rail_is_on();
            self.now_ns = to_ns;
            if comes {
                self.start_harvested()?;
            }
            return Ok(to_ns);
        }
        let to_ns = until_ns.min(self.now_ns + nanoseconds(harvest.longest_step_s()).max(1));
        self.node.set_voltages(harvest.voltages());
        let advance = self.node.advance(to_ns)?;
        let now_ns = advance.now_ns.max(self.now_ns + 1);
        harvest.pass(self.now_ns, now_ns, &advance.draws);
        harvest.asleep = advance.asleep;
        self.now_ns = now_ns;
        self.node.take_emissions(&mut self.emissions);
        if !advance.asleep {
            self.events.push((now_ns, SiteEvent::Signer(self.node.signer_counts()?)));
        }
        if advance.power_lost || !harvest.circuit.rail_is_on() {
            harvest.turn_off();
            self.node.cut_power(0);
            self.events.push((now_ns, SiteEvent::PowerCut { while_writing: None }));
        }
        Ok(now_ns)
    }
}
