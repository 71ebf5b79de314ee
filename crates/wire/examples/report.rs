//! A meter's report, sealed by the meter for its collector and signed, in the packets that are on
//! the air, and opened again.

use rand::SeedableRng;
use rand::rngs::StdRng;
use std::error::Error;
use wire::meter::{
    Channel, Content, Identity, Measurement, MessageKind, MeterKeys, Packet, Reassembly, Report, Suite,
    packets,
};

/// Radio address of the collector.
const COLLECTOR: u8 = 0x41;
const METER: u16 = 7;
const SUITE: Suite = Suite::EciesEcdsa;

/// Seals, sends, opens.
pub fn main() -> Result<(), Box<dyn Error>> {
    // Of a seed, so that the example says the same each time; keys are made with the system's
    // random numbers.
    let mut rng = StdRng::seed_from_u64(1);
    let keys = MeterKeys::generate(&mut rng);
    let (meter, collector) = (Identity::generate(&mut rng), Identity::generate(&mut rng));
    let content = Content::Measurement(Measurement { time_s: 820_540_800, energy_dwh: 12_345, power_w: 230 });
    let report = Report { n: 1, time_set: true, lost: 0, content };

    let of_meter = Channel { meter: METER, keys: &keys, own: &meter, peer: collector.public() };
    let sealed = of_meter.seal(MessageKind::Report, SUITE, report.n, &report.to_bytes(), &mut rng);
    let sent = packets(COLLECTOR, MessageKind::Report, SUITE, METER, report.n, &sealed);
    println!("{} bytes sealed, {} packets", sealed.len(), sent.len());

    let of_collector = Channel { meter: METER, keys: &keys, own: &collector, peer: meter.public() };
    let mut reassembly = Reassembly::default();
    for packet in &sent {
        if let Some(message) = reassembly.take(&Packet::parse(packet)?) {
            let opened = of_collector.open(message.kind, message.suite, &message.bytes)?;
            println!("{:?}", Report::from_bytes(&opened.plaintext));
            assert_eq!(Report::from_bytes(&opened.plaintext), report);
            return Ok(());
        }
    }
    Err("not all pieces came".into())
}
