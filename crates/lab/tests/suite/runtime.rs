//! Routines of the compiler's runtime that a port has its own of: their results, and the registers
//! that libgcc counts on.

use firmware::Firmware;
use lab::workspace::Workspace;
use mcu::{Stop, Until, new_machine};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Those that libgcc's floating point and division keep values in across a call of `__mulsi3`
/// (longlong.h, `umul_ppmm` of RISC-V: its assembly names a0 to a3 as changed).
const KEPT: [&str; 8] = ["sp", "t0", "t1", "t2", "s0", "s1", "a4", "a5"];

#[test]
fn mulsi3_of_the_ch32v003_multiplies_and_keeps_a4_and_a5() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target("ch32v003").expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let source = workspace.source(&target, &point).expect("a toolchain");
    let name = "ml-kem-512-keygen-pieces";
    let build = firmware::build(&source, "portable", &[name]).expect("it builds");
    let firmware = Firmware::read(&build.image(name), target.part.core).expect("an ELF file");
    let mut machine = new_machine(&target.part, point.clock_hz).expect("a machine");
    machine.load(firmware.image()).expect("it fits");
    machine.reset();
    let routine = firmware.symbol("__mulsi3").expect("it multiplies").address;
    let back = firmware.symbol("main").expect("a program").address;
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let edges = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    let pairs = edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b)));
    let random: Vec<(u32, u32)> = (0..200).map(|_| rng.random()).collect();
    for (a, b) in pairs.chain(random) {
        let before: Vec<(&str, u32)> = KEPT.iter().map(|name| (*name, rng.random())).collect();
        for (name, value) in before.iter().copied().chain([("a0", a), ("a1", b), ("ra", back)]) {
            assert!(machine.set_register(name, value), "{name}");
        }
        machine.set_pc(routine);
        let stop = machine.run(&Until { cycles: Some(100_000), addresses: vec![back] });
        assert_eq!(stop, Ok(Stop::Address(back)));
        let registers = machine.registers();
        let found = |name: &str| registers.iter().find(|(known, _)| known == name).expect("a register").1;
        assert_eq!(found("a0"), a.wrapping_mul(b), "{a:#x} times {b:#x}");
        for (name, value) in before {
            assert_eq!(found(name), value, "{name} after {a:#x} times {b:#x}");
        }
    }
}
