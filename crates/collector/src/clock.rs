//! The time. In the simulation of a cluster (`cluster::simulation`) it is that of the worker that
//! does something.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::ops::Add;
use std::time::{Duration, Instant};

/// A moment by the clock that goes on while the machine is suspended (`CLOCK_BOOTTIME`), since its
/// start. `Instant` stands still meanwhile, and others take what nobody seems to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BootTime(Duration);

impl BootTime {
    #[must_use]
    pub fn now() -> BootTime {
        #[cfg(test)]
        if let Some((now, _)) = simulated::NOW.get() {
            let (instant, boot_time) = *simulated::BEGAN;
            return boot_time + now.saturating_duration_since(instant);
        }
        BootTime::by(ClockId::Boottime)
    }

    fn by(clock: ClockId) -> BootTime {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
        BootTime(Duration::new(tv_sec.unsigned_abs(), tv_nsec.unsigned_abs() as u32))
    }

    pub(crate) fn as_us(self) -> u64 {
        self.0.as_micros() as u64
    }
}

impl Add<Duration> for BootTime {
    type Output = BootTime;

    fn add(self, time: Duration) -> BootTime {
        BootTime(self.0 + time)
    }
}

/// As `Instant::now`.
pub(crate) fn now() -> Instant {
    #[cfg(test)]
    if let Some((now, _)) = simulated::NOW.get() {
        return now;
    }
    Instant::now()
}

/// Unix time in ms.
pub(crate) fn unix_ms() -> i64 {
    #[cfg(test)]
    if let Some((_, unix_ms)) = simulated::NOW.get() {
        return unix_ms;
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// Of this thread alone.
#[cfg(test)]
pub(crate) mod simulated {
    use super::{BootTime, ClockId};
    use std::cell::Cell;
    use std::sync::LazyLock;
    use std::time::Instant;

    /// One moment by both clocks.
    pub(super) static BEGAN: LazyLock<(Instant, BootTime)> =
        LazyLock::new(|| (Instant::now(), BootTime::by(ClockId::Boottime)));

    thread_local! {
        pub(super) static NOW: Cell<Option<(Instant, i64)>> = const { Cell::new(None) };
    }

    /// It is this time, and in ms since 1970.
    pub(crate) fn set(now: Instant, unix_ms: i64) {
        LazyLock::force(&BEGAN);
        NOW.set(Some((now, unix_ms)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::Fence;
    use crate::partition::Partition;
    use std::process::Command;

    const IN_NAMESPACE: &str = "WATTSEAL_TEST_SUSPENDED_S";
    const SUSPENDED_S: u64 = 100_000;

    /// In a time namespace the machine was suspended for longer than it was. A fence of a minute
    /// that was given before that is over.
    #[test]
    fn fence_ends_while_the_machine_is_suspended() {
        if std::env::var_os(IN_NAMESPACE).is_some() {
            // Before the machine was suspended both clocks said the same.
            let before = BootTime::by(ClockId::Monotonic);
            let fence = Fence::new(Partition::FIRST, 1, before + Duration::from_secs(60));
            assert!(!fence.holds(), "it held for {SUSPENDED_S} s in which others could take the partition");
            return;
        }
        let suspended = |command: &std::ffi::OsStr| {
            let mut unshare = Command::new("unshare");
            unshare.args(["--time", "--boottime", &SUSPENDED_S.to_string()]).arg(command);
            unshare
        };
        let may = suspended("true".as_ref()).output();
        if !may.as_ref().is_ok_and(|ran| ran.status.success()) {
            println!("skipped: a time namespace cannot be made here: {may:?}");
            return;
        }
        let own = std::env::current_exe().expect("a test");
        let mut again = suspended(own.as_os_str());
        again.args(["--exact", "clock::tests::fence_ends_while_the_machine_is_suspended"]);
        let ran = again.env(IN_NAMESPACE, "1").output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    }
}
