//! Life of the meters: a simulation that keeps pace with the clock on the wall, on a thread of its
//! own.

use super::record::{MeterLog, Record};
use super::{FirmwareMeters, Planned};
use crate::chaos::ClusterError;
use collector::gateway::udp::{DATAGRAM_BYTES_MAX, datagram, parse};
use lab::LabError;
use lab::board::ChipModel;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sim::chance::{Chance, Purpose};
use sim::link::TURNAROUND_NS;
use sim::load::{Load, LoadProfile};
use sim::network::setup::{base_radio, channel};
use sim::node::Node;
use sim::node::host::HostMeter;
use sim::radio::RadioChannel;
use sim::real_time::RealTimePacer;
use sim::simulation::{Schedule, Simulation};
use sim::site::{Site, Supply};
use sim::station::gateway::{GatewayStation, Uplink};
use sim::supply::{Mains, PowerCuts};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wire::meter::MeterId;

/// From an antenna to another one: nothing on a radio channel of this size, but it lets all live a
/// step apart.
const LATENCY_NS: u64 = 500_000;
/// They are switched on one after the other.
const APART_NS: u64 = 150_000_000;
/// Packets that wait for a gateway's radio at most; more are lost.
const WAITING_MAX: usize = 64;
/// Signal strength of a packet, as a gateway states it.
const STRENGTH_DBM: i8 = -60;
/// For so long nothing is done but waiting.
const TICK: Duration = Duration::from_millis(2);
/// Speed of the loads against the meters' clocks, so that a watcher sees changes; it begins in the
/// evening.
const SPEED: u64 = 60;
const BEGINS_H: f64 = 17.0;

/// Observations of the meters so far.
#[derive(Clone, Debug, Default)]
pub struct FirmwareNoticed {
    /// Reports that were acknowledged; those that were sent again, each time; measurements lost for
    /// want of room.
    pub acknowledged: u64,
    pub resent: u64,
    pub lost: u64,
    /// By how much this machine was too slow for the models.
    pub behind: Duration,
    /// Meters with reports of which nothing is known yet.
    pub waiting: Vec<MeterId>,
    /// Why they do not live any more.
    pub failed: Option<String>,
}

/// A gateway's socket, as one that speaks by UDP has it.
pub struct UdpUplink(UdpSocket);

impl UdpUplink {
    fn to(gateway: SocketAddr) -> Result<UdpUplink, ClusterError> {
        let made = UdpSocket::bind("127.0.0.1:0").and_then(|socket| {
            socket.connect(gateway)?;
            socket.set_nonblocking(true)?;
            Ok(UdpUplink(socket))
        });
        made.map_err(|error| ClusterError::Socket { error })
    }
}

impl Uplink for UdpUplink {
    fn hear(&mut self, packet: Vec<u8>) {
        // Where nobody listens it is lost, as by radio.
        if let Some(datagram) = datagram(&packet, Some(STRENGTH_DBM)) {
            let _ = self.0.send(&datagram);
        }
    }

    fn next(&mut self) -> Option<Vec<Vec<u8>>> {
        let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
        for _ in 0..WAITING_MAX {
            match self.0.recv(&mut buffer) {
                Ok(length) => {
                    if let Some((packet, _)) = parse(&buffer[..length]) {
                        return Some(vec![packet.to_vec()]);
                    }
                }
                // That nobody was there is said here, too, and what came is behind it.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
                Err(_) => return None,
            }
        }
        None
    }
}

/// Meters that live.
pub struct LiveMeters {
    simulation: Simulation<GatewayStation<UdpUplink>, Record>,
    /// One thread: the servers want the others.
    pool: ThreadPool,
    noticed: Arc<Mutex<FirmwareNoticed>>,
}

impl FirmwareMeters {
    /// Waits for their firmware, and puts them beside gateways: those with one kind of radio beside
    /// one.
    ///
    /// # Errors
    /// [`ClusterError`]: firmware that cannot be built, a target without a model.
    pub fn start(self, gateways: &[SocketAddr]) -> Result<LiveMeters, ClusterError> {
        let FirmwareMeters { workspace, planned, building, collector, seed } = self;
        let built = building.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let (mut radios, mut models): (Vec<(ChipModel, bool)>, _) = (Vec::new(), Vec::new());
        let (mut sites, mut logs, collector) = (Vec::new(), Vec::new(), Arc::new(collector));
        for (index, (Planned { provision, board, radio }, firmware)) in
            planned.into_iter().zip(built).enumerate()
        {
            // A radio channel of their own for those on models: the others are there at no cost,
            // and would keep it busy.
            let own = (radio, board.is_some());
            let at = match radios.iter().position(|known| *known == own) {
                Some(at) => at,
                None => {
                    radios.push(own);
                    models.push(channel(&workspace, radio, LATENCY_NS)?);
                    models.len() - 1
                }
            };
            let noise = Chance::new(seed, Purpose::Meter, index as u64, 0).bits();
            let node: Box<dyn Node> = match &firmware {
                Some(firmware) => Box::new(firmware.meter(&provision, noise)?),
                None => Box::new(HostMeter::new(&provision, models[at].byte_ns, noise)),
            };
            let mains = Mains::new(PowerCuts::NONE, (seed, index as u64), index as u64 * APART_NS);
            let profile = LoadProfile::new(seed, index as u64, BEGINS_H);
            let mut site = Site::new(node, Supply::Mains(mains), Load::FastProfile(Box::new(profile), SPEED));
            site.channel = at;
            sites.push(site);
            logs.push(MeterLog::new(provision.record(), board, Arc::clone(&collector)));
        }
        let mut uplinks = Vec::new();
        for (model, gateway) in models.iter().zip(gateways.iter().cycle()) {
            uplinks.push((UdpUplink::to(*gateway)?, base_radio(model, TURNAROUND_NS, WAITING_MAX)));
        }
        let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "models".to_owned()).build();
        let pool =
            pool.map_err(|error| ClusterError::Socket { error: std::io::Error::other(error.to_string()) })?;
        let parts = (sites, GatewayStation::new(uplinks), Record(logs));
        let channels = models.into_iter().map(RadioChannel::new).collect();
        let simulation = Simulation::new(parts, channels, Schedule::Stepwise, 0);
        Ok(LiveMeters { simulation, pool, noticed: Arc::default() })
    }
}

impl LiveMeters {
    /// Returns their observations while they live.
    #[must_use]
    pub fn noticed(&self) -> Arc<Mutex<FirmwareNoticed>> {
        Arc::clone(&self.noticed)
    }

    /// Lives beside the clock on the wall. last: ends as soon as nothing waits. over: ends at once.
    /// Returns what each had on the air.
    #[must_use]
    pub fn run(mut self, last: &AtomicBool, over: &AtomicBool) -> Vec<MeterLog> {
        let mut pacer = RealTimePacer::new(self.simulation.now_ns());
        while !over.load(Ordering::Relaxed) {
            if let Err(error) = self.step(&mut pacer) {
                self.tell(&pacer, Some(error.to_string()));
                break;
            }
            let settled = self.tell(&pacer, None);
            if settled && last.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(TICK);
        }
        self.simulation.recorder.0
    }

    fn step(&mut self, pacer: &mut RealTimePacer) -> Result<(), LabError> {
        let LiveMeters { simulation, pool, .. } = self;
        let until_ns = pacer.until_ns(simulation.now_ns());
        pool.install(|| simulation.run_until(until_ns))
    }

    /// Returns whether nothing waits.
    fn tell(&self, pacer: &RealTimePacer, failed: Option<String>) -> bool {
        let meters = &self.simulation.recorder.0;
        let sum = |of: fn(&MeterLog) -> u64| meters.iter().map(of).sum();
        let waiting = meters.iter().filter(|meter| meter.outstanding() > 0).map(MeterLog::id).collect();
        let noticed = FirmwareNoticed {
            acknowledged: sum(|meter| u64::from(meter.status.acknowledged)),
            resent: sum(|meter| u64::from(meter.status.resent)),
            lost: sum(|meter| u64::from(meter.status.lost)),
            behind: pacer.behind(),
            waiting,
            failed,
        };
        let settled = noticed.waiting.is_empty();
        *self.noticed.lock().unwrap_or_else(PoisonError::into_inner) = noticed;
        settled
    }
}
