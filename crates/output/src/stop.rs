//! When what goes on for long ends: after a time, or because somebody wants it to, by Ctrl-C or a
//! signal that asks for the same.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Request to end.
#[derive(Clone, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on SIGINT, SIGTERM and SIGHUP do not end the process, but say that it is to end.
    ///
    /// # Errors
    /// If the system does not let it.
    pub fn on_signals() -> io::Result<Stop> {
        let stop = Stop(Arc::default());
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, stop.0.clone())?;
        }
        Ok(stop)
    }

    /// Returns true if the end has been requested.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reads the value of `--for`, in seconds.
///
/// # Errors
/// A sentence with the notation and the range.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "write seconds as 60 or 1.5".to_owned())?;
    if !(0.1..=1e7).contains(&seconds) {
        return Err("allowed is 0.1 to 10,000,000".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_time_is_refused() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "1m", "0", "-1", "1e8", "nan", "inf"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_signal_is_a_wish_to_end() {
        let stop = Stop::on_signals().expect("signals");
        assert!(!stop.is_wanted());
        signal_hook::low_level::raise(SIGTERM).expect("a signal");
        assert!(stop.is_wanted());
    }
}
