//! The state of meters and partitions, as others see it.

use crate::gateway::Route;
use crate::network::GlobalMeterId;
use serde::Serialize;
use wire::meter::{Counters, Suite};

/// The session's state of a meter since the service's start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeterStatus {
    /// The meter, as it was provisioned.
    #[serde(flatten)]
    pub meter: GlobalMeterId,
    /// Epoch of its keys, 1 for the first ones.
    pub epoch: u32,
    /// The suite that it was last told to use.
    pub suite: Suite,
    /// Seconds between measurements.
    pub interval_s: u16,
    /// Says if it was heard within three intervals.
    pub online: bool,
    /// When something authentic and new came last: Unix time in milliseconds.
    pub heard_ms: Option<i64>,
    /// The route of that packet.
    #[serde(skip)]
    pub route: Option<Route>,
    /// The signal strength of that packet, in dBm.
    pub rssi_dbm: Option<i8>,
    /// Reports that were stored.
    pub reports: u64,
    /// Reports that came again.
    pub repeats: u64,
    /// Packets in its name that were refused.
    pub refused: u64,
    /// Measurements that it lost for want of room since its start; 255 is 255 or more.
    pub lost: u8,
    /// Commands that are not answered.
    pub waiting_commands: usize,
}

/// The counts and the state of the sessions since the service's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Packets that gateways heard.
    pub packets: u64,
    /// Packets that were dropped, for want of room in a session's queue.
    pub dropped_packets: u64,
    /// Messages that were dropped, for want of room in the verifiers' queue.
    pub dropped_messages: u64,
    /// Reports that were stored and acknowledged.
    pub reports: u64,
    /// Reports that came again and were acknowledged again.
    pub repeats: u64,
    /// Answers to commands.
    pub answers: u64,
    pub sent_packets: u64,
    /// Refused packets, by reason.
    pub refused: Counters,
    pub meters: usize,
    /// Meters that were heard within three intervals.
    pub online: usize,
    /// Commands that are not answered.
    pub waiting_commands: usize,
    /// Bytes of messages that are not whole yet.
    pub unfinished_bytes: usize,
    /// Packets that wait for a session.
    pub queued_packets: usize,
    /// Messages that are being opened, or wait for it.
    pub opening: usize,
    /// Transactions of the store.
    pub commits: u64,
    /// The duration of the commits, in seconds.
    pub commits_s: f64,
    /// Transactions that failed.
    pub failed_commits: u64,
    /// Says if the clock is behind the stored readings.
    pub clock_behind: bool,
}

impl Snapshot {
    /// Together with what another session counted.
    pub(crate) fn and(self, other: Snapshot) -> Snapshot {
        let mut refused = self.refused;
        refused += other.refused;
        Snapshot {
            packets: self.packets + other.packets,
            dropped_packets: self.dropped_packets + other.dropped_packets,
            dropped_messages: self.dropped_messages + other.dropped_messages,
            reports: self.reports + other.reports,
            repeats: self.repeats + other.repeats,
            answers: self.answers + other.answers,
            sent_packets: self.sent_packets + other.sent_packets,
            refused,
            meters: self.meters + other.meters,
            online: self.online + other.online,
            waiting_commands: self.waiting_commands + other.waiting_commands,
            unfinished_bytes: self.unfinished_bytes + other.unfinished_bytes,
            queued_packets: self.queued_packets + other.queued_packets,
            opening: self.opening + other.opening,
            // Of the one store, as it was when the later of both was asked.
            commits: self.commits.max(other.commits),
            commits_s: self.commits_s.max(other.commits_s),
            failed_commits: self.failed_commits.max(other.failed_commits),
            clock_behind: self.clock_behind || other.clock_behind,
        }
    }
}
