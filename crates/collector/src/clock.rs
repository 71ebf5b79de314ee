//! The time. In the simulation of a cluster (`cluster::simulation`) it is that of the worker that does something.

use std::time::Instant;

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
    use std::cell::Cell;
    use std::time::Instant;

    thread_local! {
        pub(super) static NOW: Cell<Option<(Instant, i64)>> = const { Cell::new(None) };
    }

    /// It is this time, and in ms since 1970.
    pub(crate) fn set(now: Instant, unix_ms: i64) {
        NOW.set(Some((now, unix_ms)));
    }
}
