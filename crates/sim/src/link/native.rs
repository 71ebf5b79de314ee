//! The collector's own code on the machine that runs this program: the time from a measurement's
//! packets to the report that is accepted.

use lab::LabError;
use lab::delivery::{NativeTimes, SEED};
use rand::{SeedableRng, rngs::StdRng};
use std::time::Instant;
use wire::meter::{
    Address, Channel, Collector, Content, EC_LIBRARY, Identity, Measurement, MessageKind, MeterState, Policy,
    Provision, ReassemblyOutcome, Report, Setup, Suite, UplinkOutcome, packets,
};

/// Measurements of each suite.
const RUNS: u32 = 500;
/// Measurements before them, which fill caches and set the processor's clock.
const WARM_UP: u32 = 50;
/// 2026-01-01 00:00:00 UTC, in milliseconds since 2000-01-01.
const NOW_MS: u64 = 820_540_800_000;
const METER: u16 = 1;
const COLLECTOR_ADDRESS: u8 = 0x41;

/// Opens measurements of a suite one after the other.
///
/// # Errors
/// A measurement that the collector does not accept.
pub(super) fn open(suite: Suite) -> Result<NativeTimes, LabError> {
    let mut rng = StdRng::seed_from_u64(SEED);
    let identity = Identity::generate(&mut rng);
    let public = *identity.public();
    let setup = Setup { address: 0x42, collector_address: COLLECTOR_ADDRESS, suite, ..Setup::usual(METER) };
    let provision = Provision::generate(setup, &public, &mut rng);
    let record = provision.record();
    let address = Address::provisioned(provision.setup());
    let mut collector = Collector::new(identity, Policy { set_time: false, ..Policy::default() });
    let failed = |problem: String| LabError::Protocol { what: "meter and collector".into(), problem };
    let state = MeterState::new(&record);
    collector.add(record.clone(), state).map_err(|error| failed(error.to_string()))?;
    let channel = Channel { meter: METER, keys: &record.keys, own: provision.identity(), peer: &public };
    let mut times_s = Vec::new();
    for n in 1..=WARM_UP + RUNS {
        let content =
            Content::Measurement(Measurement { time_s: (NOW_MS / 1000) as u32, energy_dwh: n, power_w: -1 });
        let report = Report { n, time_set: true, lost: 0, content };
        let sealed = channel.seal(MessageKind::Report, suite, n, &report.to_bytes(), &mut rng);
        let packets = packets(COLLECTOR_ADDRESS, MessageKind::Report, suite, address.name, n, &sealed);
        let begin = Instant::now();
        let mut accepted = None;
        for packet in &packets {
            if let ReassemblyOutcome::Sealed(message) = collector.reassemble(packet) {
                accepted = Some(collector.accept(message.open(), NOW_MS));
            }
        }
        let time_s = begin.elapsed().as_secs_f64();
        let Some(UplinkOutcome::Report(_)) = accepted else {
            return Err(failed(format!(
                "the collector did not accept measurement {n} with {}",
                suite.name()
            )));
        };
        collector.confirm_report(METER, n).map_err(|error| failed(format!("{error:?}")))?;
        if n > WARM_UP {
            times_s.push(time_s);
        }
    }
    Ok(NativeTimes { times_s, machine: machine() })
}

/// Processor, cryptography and build.
fn machine() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = known.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(": ").nth(1)).unwrap_or("a processor without a name");
    let build = if cfg!(debug_assertions) { " Not optimised: a build for development." } else { "" };
    format!(
        "Measured natively on this machine ({model}, {}), {RUNS} measurements a suite, with P-256 of \
         {EC_LIBRARY}.{build}",
        std::env::consts::ARCH
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not by how much: that is the machine's.
    #[test]
    fn opening_with_a_signature_takes_longest() {
        let median_s = |suite| {
            let mut times = open(suite).expect("all accepted").times_s;
            assert_eq!(times.len(), RUNS as usize);
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        let (none, ecies, signed) =
            (median_s(Suite::None), median_s(Suite::Ecies), median_s(Suite::EciesEcdsa));
        assert!(0.0 < none && none < ecies && ecies < signed, "{none} {ecies} {signed}");
    }
}
