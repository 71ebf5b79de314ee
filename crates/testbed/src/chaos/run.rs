//! A run: everything started, meters that send, harm where it is asked for, and in the end the
//! comparison.

use crate::chaos::ClusterError;
use crate::chaos::check::{Checked, check};
use crate::chaos::firmware::live::{FirmwareNoticed, LiveMeters};
use crate::chaos::firmware::{FirmwareCounts, FirmwareMeters};
use crate::chaos::holders::Holders;
use crate::chaos::http::ask;
use crate::chaos::logs;
use crate::chaos::machines::Machines;
use crate::chaos::meters::{Meter, Meters, Noticed};
use crate::chaos::orders;
use crate::chaos::parts::{Harm, Kind, PartId};
use crate::chaos::report::{ClusterResult, Harmed};
use crate::chaos::schedule::{Chaos, Done, State};
use collector::registry::Registry;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};
use wire::meter::MeterId;

const TICK: Duration = Duration::from_millis(20);
const SHOW_EVERY: Duration = Duration::from_millis(500);
/// Time within which open reports must be acknowledged at the end, after all parts are up again.
const CALM_WITHIN: Duration = Duration::from_secs(120);
/// Those with their firmware have so long by their own clocks, which go slower where this machine
/// is too slow for the models; and this by the clock on the wall.
const CALM_WITHIN_ON_MODELS: Duration = Duration::from_secs(1200);
/// The roles have to be ready within this.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// Parameters of a run.
#[derive(Clone, Debug)]
pub struct ClusterRequest {
    /// For how long; without it until it is told to stop.
    pub lasts: Option<Duration>,
    /// Number of harms after which the run ends.
    pub kills: Option<usize>,
    /// True if harm is done.
    pub chaos: bool,
    /// Seed of harms and loads.
    pub seed: u64,
    /// Meters of the client that the cluster is checked with.
    pub meters: MeterId,
    /// Meters beside them that run the meter's firmware.
    pub firmware: FirmwareCounts,
    /// The program of the roles.
    pub collector: PathBuf,
}

/// State at the moment.
pub struct ClusterStatus<'a> {
    pub dashboard_url: &'a str,
    pub token: &'a str,
    pub elapsed: Duration,
    pub noticed: &'a Noticed,
    /// Observations of the meters with firmware, where there are any.
    pub firmware: Option<&'a FirmwareNoticed>,
    pub primary: PartId,
    pub states: &'a [(PartId, State, Instant)],
    pub harms: usize,
}

/// Observer of a run.
pub trait ClusterObserver {
    /// Something goes on before there are figures.
    fn preparing(&mut self, what: &str);
    /// Something was done to a part, or came of it.
    fn event(&mut self, at: Duration, what: &str);
    /// The figures so far.
    fn show(&mut self, now: &ClusterStatus<'_>);
}

/// Runs it until its time is over, or `stop` says so. Returns what came of it, or nothing where it
/// was stopped before it had begun.
///
/// # Errors
/// [`ClusterError`]: what cannot be started, or answers nothing any more. That a reading was lost
/// is none: the result says so.
pub fn run(
    request: &ClusterRequest,
    stop: &dyn Fn() -> bool,
    observer: &mut dyn ClusterObserver,
) -> Result<Option<ClusterResult>, ClusterError> {
    observer.preparing("starting three NATS servers, and PostgreSQL with its standby");
    let mut machines = Machines::start(&request.collector)?;
    let keys = machines.folder().join("keys");
    let registry = Registry::open(&keys)?;
    let meters = Meters::new(request.meters, &registry, machines.folder(), request.seed)?;
    let firmware = FirmwareMeters::new(request.firmware, &registry, machines.folder(), request.seed)?;
    if stop() {
        return Ok(None);
    }
    observer.event(Duration::ZERO, &kinds(request.meters, firmware.as_ref()));
    observer.preparing("starting the roles");
    let token = machines.begin(&keys)?;
    // From here on the database has them.
    std::fs::remove_dir_all(&keys).map_err(|error| ClusterError::File { path: keys, error })?;
    if !ready(&machines, stop)? {
        return Ok(None);
    }
    let apis = machines.listening(Kind::Api);
    let dashboard_url = format!("http://{}/", apis[0]);
    let gateways = machines.listening(Kind::Gateway);
    let firmware = match firmware {
        Some(firmware) => {
            observer.preparing("building the meters' firmware for their boards");
            match firmware.start(&gateways) {
                // Ctrl-C ends the compiler, too.
                Err(_) if stop() => return Ok(None),
                started => Some(started?),
            }
        }
        None => None,
    };
    let cluster = Cluster { machines, request, dashboard_url, token: &token, apis, begun: Instant::now() };
    cluster.live((meters, firmware), stop, observer).map(Some)
}

/// Names the kinds of meters.
fn kinds(client: MeterId, firmware: Option<&FirmwareMeters>) -> String {
    let mut text = format!("{client} meters that keep what they sent and heard");
    for (board, count) in firmware.map(FirmwareMeters::kinds).unwrap_or_default() {
        text += &match board {
            Some(board) => {
                format!("; {count} with their firmware on the model of {} ({})", board.target, board.name)
            }
            None => format!("; {count} with their firmware built for this machine"),
        };
    }
    text
}

/// Waits until all roles do their work.
fn ready(machines: &Machines, stop: &dyn Fn() -> bool) -> Result<bool, ClusterError> {
    let begun = Instant::now();
    for (part, health) in machines.health() {
        loop {
            if stop() {
                return Ok(false);
            }
            let answered = ask(health, ("GET", "/health/ready"), None, "", Duration::from_secs(2));
            let why = match answered {
                Ok(answered) if answered.status == 200 => break,
                Ok(answered) => answered.body,
                Err(error) => error.to_string(),
            };
            if begun.elapsed() > READY_WITHIN {
                let log = testkit::servers::process::tail(&machines.log(part));
                return Err(ClusterError::NotReady { part, why, log });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    Ok(true)
}

struct Cluster<'r> {
    machines: Machines,
    request: &'r ClusterRequest,
    dashboard_url: String,
    token: &'r str,
    apis: Vec<SocketAddr>,
    begun: Instant,
}

/// View of the threads beside.
#[derive(Clone, Copy)]
struct Seen<'a> {
    noticed: &'a Mutex<Noticed>,
    firmware: Option<&'a Mutex<FirmwareNoticed>>,
    /// Returns true once the meters with their firmware live no more.
    is_over: &'a dyn Fn() -> bool,
}

/// Signals to the threads beside.
#[derive(Default)]
struct Ends {
    /// Nothing new is begun.
    last: AtomicBool,
    over: AtomicBool,
}

/// Since when nothing is harmed any more.
struct Calm {
    since: Instant,
    /// By how much the models were behind the clock by then.
    behind: Duration,
}

/// Returns true if all that was open had its time since all parts were up. client: some of it is
/// the client's. missed: the time by which the models fell behind the clock.
fn is_long_calm(elapsed: Duration, client: bool, missed: Duration) -> bool {
    let own = elapsed.saturating_sub(missed);
    elapsed > CALM_WITHIN && (client || own > CALM_WITHIN || elapsed > CALM_WITHIN_ON_MODELS)
}

impl Cluster<'_> {
    fn live(
        mut self,
        (meters, firmware): (Meters, Option<LiveMeters>),
        stop: &dyn Fn() -> bool,
        observer: &mut dyn ClusterObserver,
    ) -> Result<ClusterResult, ClusterError> {
        let ends = Ends::default();
        let gateways = self.machines.listening(Kind::Gateway);
        let (client, noticed) = (self.machines.client()?, meters.noticed());
        let firmware_noticed = firmware.as_ref().map(LiveMeters::noticed);
        let (apis, token, seed) = (self.apis.clone(), self.token, self.request.seed);
        let names: Vec<_> = meters.meters.iter().map(|meter| (meter.id, meter.suite())).collect();
        let forged = names.iter().map(|(name, _)| *name).collect();
        std::thread::scope(|scope| {
            // Whatever ends this, ends them.
            let _over = OnDrop(&ends);
            let (ends, gateways) = (&ends, &gateways);
            let sending = scope.spawn(move || meters.run(gateways, &ends.last, &ends.over));
            let living = firmware.map(|meters| scope.spawn(move || meters.run(&ends.last, &ends.over)));
            let ordering = scope.spawn(move || orders::give((&apis, token), &names, seed, &ends.last));
            let watching = scope.spawn(move || Holders::watch(client, &ends.over));
            let mut chaos = Chaos::new(self.request.seed, Instant::now(), forged);
            let is_over = || living.as_ref().is_none_or(ScopedJoinHandle::is_finished);
            let seen = Seen { noticed: &noticed, firmware: firmware_noticed.as_deref(), is_over: &is_over };
            let ended = self.until_the_end(&mut chaos, seen, ends, stop, observer);
            ends.last.store(true, Ordering::Relaxed);
            ends.over.store(true, Ordering::Relaxed);
            let meters = joined(sending.join());
            let firmware = living.map(|living| joined(living.join())).unwrap_or_default();
            let given = joined(ordering.join());
            let holders = joined(watching.join());
            let lasted = self.begun.elapsed();
            let result = ended.and_then(|ended| {
                observer.preparing("comparing what was acknowledged with the database");
                let checked = check(&self.machines, &meters.meters, &firmware, &given)?;
                let firmware = firmware_noticed.as_deref().map(|noticed| locked(noticed).clone());
                let noticed = (locked(&noticed).clone(), firmware.unwrap_or_default());
                Ok(self.result(checked, &meters.meters, &chaos.done, noticed, holders, (ended, lasted)))
            });
            if result.as_ref().is_ok_and(ClusterResult::is_good) {
                return result;
            }
            // What went wrong is told, whatever becomes of these.
            let kept = logs::keep(&self.machines, &locked(&noticed).waiting);
            observer.event(
                lasted,
                &match &kept {
                    Ok(kept) => format!("the logs of all parts are kept in {}", kept.display()),
                    Err(error) => format!("the logs are not kept: {error}"),
                },
            );
            result.map(|result| ClusterResult { logs: kept.ok(), ..result })
        })
    }

    /// Returns what must not be: roles that ended by themselves, reports that nobody acknowledged.
    fn until_the_end(
        &mut self,
        chaos: &mut Chaos,
        seen: Seen<'_>,
        ends: &Ends,
        stop: &dyn Fn() -> bool,
        observer: &mut dyn ClusterObserver,
    ) -> Result<Vec<String>, ClusterError> {
        let (mut wrong, mut shown) = (Vec::new(), Duration::ZERO);
        let mut calm: Option<Calm> = None;
        loop {
            let elapsed = self.begun.elapsed();
            let is_over = stop()
                || self.request.lasts.is_some_and(|lasts| elapsed >= lasts)
                || self.request.kills.is_some_and(|kills| chaos.done.len() >= kills);
            if let Some(done) = chaos.step(&mut self.machines, self.request.chaos && !is_over)? {
                observer.event(elapsed, &format!("{} {}", done.part, done.harm.name()));
            }
            for (part, log) in self.machines.restart_ended()? {
                let line = log.lines().last().unwrap_or_default().to_owned();
                wrong.push(format!("{part} ended by itself: {line}"));
                observer.event(elapsed, &format!("{part} ended by itself: {line}"));
            }
            let now = locked(seen.noticed).clone();
            let firmware = seen.firmware.map(|noticed| locked(noticed).clone());
            if elapsed >= shown {
                shown = elapsed + SHOW_EVERY;
                observer.show(&ClusterStatus {
                    dashboard_url: &self.dashboard_url,
                    token: self.token,
                    elapsed,
                    noticed: &now,
                    firmware: firmware.as_ref(),
                    primary: self.machines.primary(),
                    states: &chaos.states,
                    harms: chaos.done.len(),
                });
            }
            if is_over && chaos.is_calm() {
                ends.last.store(true, Ordering::Relaxed);
                let behind = firmware.as_ref().map(|firmware| firmware.behind).unwrap_or_default();
                let calm = calm.get_or_insert_with(|| {
                    observer.event(elapsed, "nothing is harmed any more, and all is up");
                    Calm { since: Instant::now(), behind }
                });
                // Its own view may be a moment old.
                let is_quiet = now.waiting.is_empty() && (seen.is_over)();
                if is_quiet && now.acknowledged > 0 && calm.since.elapsed() > SHOW_EVERY {
                    return Ok(wrong);
                }
                let missed = behind.saturating_sub(calm.behind);
                if is_long_calm(calm.since.elapsed(), !now.waiting.is_empty(), missed) {
                    let of_client = now.waiting.iter().map(|waiting| waiting.meter);
                    let of_firmware = firmware.into_iter().flat_map(|firmware| firmware.waiting);
                    let meters: Vec<String> =
                        of_client.chain(of_firmware).map(|meter| meter.to_string()).collect();
                    wrong.push(format!(
                        "{} meters have reports that are not acknowledged {} s after all was up again: {}",
                        meters.len(),
                        calm.since.elapsed().as_secs(),
                        meters.join(", ")
                    ));
                    return Ok(wrong);
                }
            }
            std::thread::sleep(TICK);
        }
    }

    fn result(
        &self,
        checked: Checked,
        meters: &[Meter],
        done: &[Done],
        (noticed, firmware): (Noticed, FirmwareNoticed),
        holders: Holders,
        (mut wrong, lasted): (Vec<String>, Duration),
    ) -> ClusterResult {
        wrong.extend(firmware.failed.map(|why| format!("the meters with their firmware ended: {why}")));
        wrong.extend(checked.wrong.iter().cloned());
        wrong.extend(holders.wrong);
        let now = Instant::now();
        let longest = |done: &Done| {
            let until = done.until.unwrap_or(now);
            let meets =
                noticed.waits.iter().filter(|wait| wait.from < until && wait.from + wait.lasted > done.from);
            meets.map(|wait| wait.lasted).max().unwrap_or_default()
        };
        let mut harmed: Vec<Harmed> = Vec::new();
        for one in done {
            let what = (one.part.kind, one.harm);
            let waited_s = longest(one).as_secs_f64();
            match harmed.iter_mut().find(|harmed| (harmed.part, harmed.harm) == what) {
                Some(known) => known.add(waited_s),
                None => harmed.push(Harmed::new(what, waited_s)),
            }
        }
        harmed.sort_by_key(|harmed| (harmed.part, harmed.harm));
        ClusterResult {
            seed: self.request.seed,
            seconds: lasted.as_secs_f64(),
            meters: meters.len(),
            harms: done.len(),
            killed: done.iter().filter(|done| done.harm == Harm::Kill).count(),
            behind_s: firmware.behind.as_secs_f64(),
            resent: noticed.resent,
            longest_s: noticed.longest.as_secs_f64(),
            hostile_messages: self.machines.hostile_messages(),
            partitions_looked: holders.looked,
            partitions_changed: holders.changes,
            checked,
            harmed,
            wrong,
            logs: None,
        }
    }
}

fn locked<T>(noticed: &Mutex<T>) -> MutexGuard<'_, T> {
    noticed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A panic goes on.
fn joined<T>(done: std::thread::Result<T>) -> T {
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Guard for the case in which the threads beside would be waited for for ever: a panic, or an
/// error.
struct OnDrop<'e>(&'e Ends);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.last.store(true, Ordering::Relaxed);
        self.0.over.store(true, Ordering::Relaxed);
    }
}

/// The collector's program, which is built into the same folder.
///
/// # Errors
/// The program does not exist.
pub fn collector_program() -> Result<PathBuf, ClusterError> {
    let own =
        std::env::current_exe().map_err(|error| ClusterError::File { path: "this program".into(), error })?;
    let program = own.with_file_name(output::commands::WORKER.binary);
    match program.exists() {
        true => Ok(program),
        false => Err(ClusterError::NoCollector(program)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that is too slow for the models gives their meters the time that they missed, and
    /// no more than twenty minutes.
    #[test]
    fn meters_on_models_have_their_time_by_their_own_clocks() {
        let s = Duration::from_secs;
        for (elapsed_s, client, missed_s, is_long) in [
            (119, true, 0, false),
            (121, true, 100, true),
            (121, false, 0, true),
            (121, false, 100, false),
            (230, false, 100, true),
            (1201, false, 1200, true),
        ] {
            assert_eq!(is_long_calm(s(elapsed_s), client, s(missed_s)), is_long, "{elapsed_s} s");
        }
    }
}
