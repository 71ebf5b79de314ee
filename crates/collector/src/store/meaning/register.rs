//! A meter's register, as its reports say it in the order of their numbers: what was used since the
//! one before, and what all of them come to.

use wire::meter::{Alert, Cause, Content, Report};

/// The state of a register after a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Register {
    /// Its value; `None` if it is unknown.
    pub(crate) dwh: Option<u32>,
    /// Measurements that the meter lost since its start.
    pub(crate) lost: u8,
}

/// The growth of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Growth {
    /// Since the report before; 0 where nobody knows how far it was then.
    pub(crate) used_dwh: i64,
    /// The same; where nobody knows how far it was, all that it says: the meter counted that since
    /// its start.
    pub(crate) counted_dwh: i64,
}

impl Register {
    /// Goes on to a report. Returns whether the meter started since the one before.
    pub(crate) fn hear(&mut self, n: u32, lost: u8, started: bool) -> bool {
        // Losses are counted since the start: fewer than before show one that nobody heard of.
        // Before number 1 nothing was.
        let restarted = started || lost < self.lost || n == 1;
        if restarted {
            self.dwh = Some(0);
        }
        self.lost = lost;
        restarted
    }

    /// The register is read.
    pub(crate) fn read(&mut self, now_dwh: u32) -> Growth {
        let before_dwh = self.dwh.replace(now_dwh);
        let used_dwh = used(before_dwh, now_dwh);
        let counted_dwh = if before_dwh.is_none() { i64::from(now_dwh) } else { used_dwh };
        Growth { used_dwh, counted_dwh }
    }

    /// Goes on to a report, and reads the register where the report is a measurement.
    pub(crate) fn take(&mut self, report: &Report) -> Option<Growth> {
        let started = matches!(&report.content, Content::Alert(alert) if is_start(alert));
        self.hear(report.n, report.lost, started);
        match report.content {
            Content::Measurement(measurement) => Some(self.read(measurement.energy_dwh)),
            Content::Alert(_) | Content::Other(..) => None,
        }
    }
}

/// Energy between two states of a register. Where the state before is not known nothing is counted.
/// A register that went back either went around at 2^32, or began anew at 0 and nobody heard of it:
/// it went around where it did so from its last 2^28 to its first, which at the 32,767 W that a
/// meter can say are 34 days.
fn used(before_dwh: Option<u32>, now_dwh: u32) -> i64 {
    const NEAR: u32 = 1 << 28;
    match before_dwh {
        None => 0,
        Some(before_dwh) if now_dwh >= before_dwh => i64::from(now_dwh - before_dwh),
        Some(before_dwh) if before_dwh > u32::MAX - NEAR && now_dwh < NEAR => {
            i64::from(now_dwh.wrapping_sub(before_dwh))
        }
        Some(_) => i64::from(now_dwh),
    }
}

/// Says if an alert reports the first start of a meter, which each has.
pub(in crate::store) fn is_first_start(alert: &Alert) -> bool {
    alert.cause == Cause::PowerOn && alert.starts == 1 && alert.detail == [0; 3]
}

/// Says if an alert reports a start of the meter.
pub(in crate::store) fn is_start(alert: &Alert) -> bool {
    match alert.cause {
        Cause::PowerOn
        | Cause::ExternalReset
        | Cause::BrownOut
        | Cause::Watchdog
        | Cause::Commanded
        | Cause::Unknown => true,
        Cause::NoiseSource | Cause::Journal | Cause::Other(_) => false,
    }
}
