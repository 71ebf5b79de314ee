//! Faults in decisions of `device/crypto`.

use firmware::{Firmware, build_app};
use lab::fault::{self, Injected, Marker, Model, Outcome, Request, Window};
use lab::progress::Progress;
use lab::user_firmware::Setup;
use lab::workspace::Workspace;

/// RFC 6979, A.2.5: the public key, and the signature of "sample".
const KEY: &str = "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6\
                   7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299";
const SIGNATURE: &str = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716\
                         f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";

/// Progress that is not shown.
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: usize, _: usize, _: &str) {}
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).expect("hex");
    digits.chunks(2).map(byte).collect()
}

/// Skips from a function on to the end of a verification that refuses a signature of "s".
fn injected(from: &str, to: &str, signature: &[u8]) -> Injected {
    let workspace = Workspace::find().expect("the project's folder");
    let target = workspace.target("stm32f407").expect("a target");
    let point = target.operating_point(None, None).expect("its clock");
    let source = workspace.source(&target, &point).expect("a toolchain");
    let elf = build_app(&source, "fast", "decide").expect("it builds");
    let program = Firmware::read(&elf, target.part.core).expect("an ELF file");
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("input");
    std::fs::write(&input, [&[0, b's', 0, 0][..], &bytes(KEY), signature].concat()).expect("a file");
    let at = program.symbol("ws_decide").expect("the program has it").address;
    let setup = Setup { beside: vec![(input, at)], ..Setup::new(elf, "stm32f407") };
    run(&workspace, setup, Window::Between { from: from.into(), to: to.into() }, 4_000_000)
}

/// Skips at the first and the last time of each instruction of a window.
fn run(workspace: &Workspace, setup: Setup, window: Window, hang_cycles: u64) -> Injected {
    let request = Request {
        setup,
        window,
        models: vec![Model::Skip(1)],
        good: vec![Marker::Reach("ws_rejected".into())],
        bad: vec![Marker::Reach("ws_accepted".into())],
        exit: None,
        occurrences: Some(1),
        sample: None,
        seed: 1,
        max_cycles: 100_000_000,
        hang_cycles: Some(hang_cycles),
        prunes: true,
        state: None,
    };
    fault::run(workspace, &request, &Silent, &|_| {}).expect("a campaign")
}

/// All but the branches of the program itself, in a function of it.
fn bypassed(injected: &Injected, own: &str) -> u64 {
    let own = injected.rows.iter().filter(|row| row.place.starts_with(own));
    injected.counts.of(Outcome::Bypassed) - own.map(|row| row.bypassed).sum::<u64>()
}

#[test]
fn skip_accepts_no_wrong_signature() {
    let injected = injected("has_r", "ws_rejected", &bytes(SIGNATURE));
    assert!(injected.counts.total() > 200, "{:?}", injected.counts);
    assert_eq!(bypassed(&injected, "main "), 0, "{:?}", injected.rows);
}

#[test]
fn skip_accepts_no_signature_of_zeros() {
    let injected = injected("read_signature", "ws_rejected", &[0; 64]);
    assert!(injected.counts.total() > 100, "{:?}", injected.counts);
    assert_eq!(bypassed(&injected, "main "), 0, "{:?}", injected.rows);
}

/// A command whose tag is another one's: docs/how-to/faults.md has the skips that open it.
#[test]
fn forged_command_is_opened_by_few_skips() {
    let workspace = Workspace::find().expect("the project's folder");
    let part = workspace.target("stm32f407").expect("a target");
    let point = part.operating_point(None, None).expect("its clock");
    let source = workspace.source(&part, &point).expect("a toolchain");
    let elf = build_app(&source, "fast", "forged").expect("it builds");
    for function in ["ws_open_gcm", "ws_open_ascon"] {
        let setup = Setup::new(elf.clone(), "stm32f407");
        let injected = run(&workspace, setup, Window::Function(function.into()), 1_000_000);
        assert!(injected.counts.total() > 1_000, "{:?}", injected.counts);
        assert!(bypassed(&injected, "carry_out ") <= 10, "{function}: {:?}", injected.rows);
    }
}
