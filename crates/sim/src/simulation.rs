//! The loop: everybody lives up to the next step's end, then what they sent goes on its channels,
//! and what arrives is handed out.
//!
//! A step is as long as the channels' latency allows: nothing that is sent within it arrives within
//! it ([`ChannelModel::step_ns`](crate::radio::ChannelModel::step_ns)). All sites live through it
//! at once, on all processors. The result does not depend on their number.

use crate::attacker::{Act, Attacker};
use crate::radio::{Arrival, Emission, Participant, RadioChannel, ReceiveMode, SentPacket, Traffic};
use crate::site::{Site, SiteEvent};
use crate::station::{BaseEvent, BaseStation};
use crate::time::{SECOND_NS, seconds};
use lab::LabError;
use rayon::prelude::*;
use wire::meter::{MessageKind, Packet};

/// When steps begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// All know when they do something next: a step begins there.
    Skipping,
    /// Some do things at times that they do not know beforehand: steps follow each other without a
    /// pause.
    Stepwise,
    /// One site and its station take turns on a channel without latency: a step ends where the
    /// site's supply or processor wants it, and after `longest_ns` at the latest. The station does
    /// so far ahead what it will not do otherwise because of what it hears meanwhile.
    Alone {
        /// In nanoseconds.
        longest_ns: u64,
        /// In nanoseconds.
        ahead_ns: u64,
    },
}

/// Told of the progress of a simulation.
pub trait Progress {
    /// `done_s` of `total_s` have been simulated.
    fn report(&self, done_s: f64, total_s: f64);
}

/// Nobody is told.
pub struct Quiet;

impl Progress for Quiet {
    fn report(&self, _: f64, _: f64) {}
}

/// Looks on: counts, accounts for energy, and ends the run where something does not hold.
pub trait Recorder: Send {
    /// When it wants a step to end.
    fn next_ns(&self) -> u64 {
        u64::MAX
    }

    /// Something has happened at a site.
    ///
    /// # Errors
    /// A violated invariant.
    fn site_event(&mut self, site: usize, at_ns: u64, event: SiteEvent) -> Result<(), LabError>;

    /// The station has come to something.
    ///
    /// # Errors
    /// A violated invariant.
    fn base_event(&mut self, now_ns: u64, event: BaseEvent) -> Result<(), LabError>;

    /// A packet was sent, by a site or the station.
    ///
    /// # Errors
    /// A violated invariant.
    fn sent(&mut self, _: &SentPacket) -> Result<(), LabError> {
        Ok(())
    }

    /// Something is on the air from one time to another.
    fn on_air(&mut self, _: u64, _: u64) {}

    /// A step has ended.
    ///
    /// # Errors
    /// A violated invariant.
    fn passed(&mut self, _: u64, _: &[Site]) -> Result<(), LabError> {
        Ok(())
    }
}

/// Sites, their station, and what is between them.
pub struct Simulation<B, R> {
    /// The sites; a site's index is its index on all channels.
    pub sites: Vec<Site>,
    /// The station.
    pub station: B,
    /// Observer of the simulation.
    pub recorder: R,
    /// The channels.
    pub channels: Vec<RadioChannel>,
    /// Somebody who attacks.
    pub attacker: Option<Attacker>,
    schedule: Schedule,
    now_ns: u64,
    begun: bool,
    modes: Vec<Vec<ReceiveMode>>,
    inboxes: Vec<Vec<Arrival>>,
}

impl<B: BaseStation, R: Recorder> Simulation<B, R> {
    /// A simulation whose time is `now_ns`.
    #[must_use]
    pub fn new(
        (sites, station, recorder): (Vec<Site>, B, R),
        channels: Vec<RadioChannel>,
        schedule: Schedule,
        now_ns: u64,
    ) -> Simulation<B, R> {
        let participants = sites.len() + 2;
        Simulation {
            modes: vec![vec![ReceiveMode::Off; participants]; channels.len()],
            inboxes: vec![Vec::new(); participants],
            sites,
            station,
            recorder,
            channels,
            attacker: None,
            schedule,
            now_ns,
            begun: false,
        }
    }

    /// Up to when all have lived.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Returns the traffic on all channels.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let mut all = Traffic::default();
        for channel in &self.channels {
            all += channel.traffic();
        }
        all
    }

    /// The station's index on the channels; the attacker's is the next one.
    fn station(&self) -> Participant {
        self.sites.len()
    }

    /// From now on nothing is impaired, nobody attacks, no power is lost, and the station does not
    /// fail.
    pub fn stop_faults(&mut self) {
        self.channels.iter_mut().for_each(RadioChannel::stop_impairments);
        self.station.stop_faults();
        if let Some(attacker) = &mut self.attacker {
            attacker.stop();
        }
        self.sites.iter_mut().for_each(Site::stop_faults);
    }

    /// Lets time pass to `end_ns`.
    ///
    /// # Errors
    /// An instruction or access that a model cannot execute; a violated invariant.
    pub fn run_until(&mut self, end_ns: u64) -> Result<(), LabError> {
        self.run_telling(end_ns, end_ns, &Quiet)
    }

    /// As [`Simulation::run_until`], and tells of each second. total_ns: what counts as the whole.
    ///
    /// # Errors
    /// As [`Simulation::run_until`].
    pub fn run_telling(
        &mut self,
        end_ns: u64,
        total_ns: u64,
        progress: &dyn Progress,
    ) -> Result<(), LabError> {
        self.begin()?;
        while self.now_ns < end_ns {
            match self.schedule {
                // On a thread of the pool: handing each step to it from outside costs a tenth of
                // all time.
                Schedule::Stepwise => rayon::scope(|_| self.run_a_second(end_ns))?,
                Schedule::Skipping | Schedule::Alone { .. } => self.run_a_second(end_ns)?,
            }
            progress.report(seconds(self.now_ns.min(total_ns)), seconds(total_ns));
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), LabError> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        for index in 0..self.sites.len() {
            self.sites[index].begin()?;
        }
        self.tell_events()?;
        self.recorder.passed(self.now_ns, &self.sites)
    }

    /// Steps until a second has passed, or more where nobody does anything.
    fn run_a_second(&mut self, end_ns: u64) -> Result<(), LabError> {
        let begun_ns = self.now_ns;
        while self.now_ns < end_ns && self.now_ns < begun_ns + SECOND_NS {
            self.step(end_ns)?;
        }
        Ok(())
    }

    /// When somebody does something next.
    fn next_ns(&self) -> u64 {
        let sites = self.sites.iter().map(Site::next_ns).min().unwrap_or(u64::MAX);
        let attacker = self.attacker.as_ref().map_or(u64::MAX, Attacker::next_ns);
        let channels = self.channels.iter().map(RadioChannel::next_ns).min().unwrap_or(u64::MAX);
        sites.min(attacker).min(channels).min(self.station.next_ns())
    }

    /// The end of the step that begins now, and up to when the station acts in it.
    fn plan(&self, end_ns: u64) -> (u64, u64) {
        let end_ns = end_ns.min(self.recorder.next_ns().max(self.now_ns + 1));
        let step_ns =
            self.channels.iter().map(|channel| channel.model().step_ns()).min().unwrap_or(SECOND_NS);
        match self.schedule {
            Schedule::Skipping => {
                let to_ns = (self.next_ns().max(self.now_ns).saturating_add(step_ns)).min(end_ns);
                (to_ns, to_ns)
            }
            Schedule::Stepwise => {
                let to_ns = (self.now_ns + step_ns).min(end_ns);
                (to_ns, to_ns)
            }
            Schedule::Alone { longest_ns, ahead_ns } => {
                let station_ns = self.now_ns + 1 + ahead_ns;
                (end_ns.min(self.now_ns.saturating_add(longest_ns)), station_ns)
            }
        }
    }

    fn step(&mut self, end_ns: u64) -> Result<(), LabError> {
        let (mut to_ns, station_ns) = self.plan(end_ns);
        self.station.advance(self.now_ns, station_ns)?;
        self.send_from_station();
        if let Schedule::Alone { ahead_ns, .. } = self.schedule {
            // What was done and sent just now comes before the site lives on, and what the station
            // does next comes in time.
            self.tell_base_events()?;
            self.settle(self.now_ns)?;
            if ahead_ns == 0 {
                to_ns = to_ns.min(self.station.next_ns().max(self.now_ns + 1));
            }
        }
        let reached_ns = self.live(to_ns)?;
        self.now_ns = if let Schedule::Alone { .. } = self.schedule { reached_ns } else { to_ns };
        self.attack();
        self.tell_events()?;
        self.tell_base_events()?;
        self.send_from_sites();
        self.settle(self.now_ns)?;
        self.tell_base_events()?;
        self.recorder.passed(self.now_ns, &self.sites)
    }

    fn live(&mut self, to_ns: u64) -> Result<u64, LabError> {
        match self.schedule {
            Schedule::Stepwise => {
                // A share for each thread: all take about as long.
                let share = self.sites.len().div_ceil(rayon::current_num_threads());
                let sites = self.sites.par_iter_mut().with_min_len(share);
                sites.try_for_each(|site| site.live(to_ns).map(drop))?;
                Ok(to_ns)
            }
            Schedule::Skipping => {
                // Events are so short that handing them to other threads would take longer.
                for site in self.sites.iter_mut().filter(|site| site.next_ns() < to_ns) {
                    site.live(to_ns)?;
                }
                Ok(to_ns)
            }
            Schedule::Alone { .. } => {
                let mut reached_ns = to_ns;
                for site in &mut self.sites {
                    reached_ns = site.live(to_ns)?;
                }
                Ok(reached_ns)
            }
        }
    }

    fn send_from_station(&mut self) {
        let station = self.station();
        for outgoing in self.station.take_outgoing() {
            let channel = &mut self.channels[outgoing.channel];
            let air_ns =
                channel.send_packet(station, outgoing.start_ns, &outgoing.packet, outgoing.tail_bytes);
            self.recorder.on_air(outgoing.start_ns, outgoing.start_ns + air_ns);
        }
    }

    fn attack(&mut self) {
        let (attacker_index, now_ns) = (self.station() + 1, self.now_ns);
        let Some(attacker) = &mut self.attacker else { return };
        while let Some(act) = attacker.act(now_ns) {
            match act {
                Act::Packet { channel, packet, .. } => {
                    self.channels[channel].send_packet(attacker_index, now_ns, &packet, 0);
                }
                Act::Noise(for_ns) => {
                    self.channels.iter_mut().for_each(|channel| channel.jam(now_ns, now_ns + for_ns));
                }
            }
        }
    }

    fn send_from_sites(&mut self) {
        for (index, site) in self.sites.iter_mut().enumerate() {
            for emission in site.emissions.drain(..) {
                let (start_ns, end_ns) = match &emission {
                    Emission::Byte(at) => (at.start_ns, at.end_ns),
                    Emission::Packet { start_ns, end_ns, .. } => (*start_ns, *end_ns),
                };
                self.recorder.on_air(start_ns, end_ns);
                self.channels[site.channel].send(index, emission);
            }
        }
    }

    fn tell_events(&mut self) -> Result<(), LabError> {
        for (index, site) in self.sites.iter_mut().enumerate() {
            for (at_ns, event) in site.events.drain(..) {
                self.recorder.site_event(index, at_ns, event)?;
            }
        }
        Ok(())
    }

    fn tell_base_events(&mut self) -> Result<(), LabError> {
        for event in self.station.take_events() {
            self.recorder.base_event(self.now_ns, event)?;
        }
        Ok(())
    }

    /// Hands out what arrives now.
    fn settle(&mut self, now_ns: u64) -> Result<(), LabError> {
        let station = self.station();
        for index in 0..self.channels.len() {
            let modes = &mut self.modes[index];
            for (mode, site) in modes.iter_mut().zip(&self.sites) {
                *mode = if site.channel == index { site.receive_mode() } else { ReceiveMode::Off };
            }
            modes[station] = self.station.receive_mode(index);
            self.channels[index].settle(now_ns, &self.modes[index], &mut self.inboxes);
            for packet in self.channels[index].take_sent_packets() {
                if packet.from <= station {
                    self.recorder.sent(&packet)?;
                }
                if let Some(attacker) = self.attacker.as_mut().filter(|_| packet.from <= station) {
                    let report =
                        Packet::parse(&packet.packet).is_ok_and(|packet| packet.kind == MessageKind::Report);
                    attacker.hear(index, &packet, report, now_ns);
                }
            }
            for arrival in self.inboxes[station].drain(..) {
                self.station.receive(index, arrival)?;
            }
        }
        for (site, inbox) in self.sites.iter_mut().zip(&mut self.inboxes) {
            if !inbox.is_empty() {
                site.receive(inbox);
            }
        }
        Ok(())
    }
}
