//! Compiles the portable C of `device/crypto`, the node of `device/node`, the meter of
//! `device/meter` and the register of `device/oms` for the host, all but their `main.c`. Their
//! drivers are in `src/node` and `src/meter`.

use std::path::{Path, PathBuf};

/// Sources of `device/crypto` whose functions `src/crypto/ml_kem.rs` and `src/crypto/lms.rs` have.
const BENCHES: [&str; 3] = ["ml_kem_bench.c", "lms_sign_bench.c", "hss_bench.c"];
/// Sources of `device/boot` that select the image which runs, and take new ones.
const BOOT: [&str; 5] = ["confirm.c", "image.c", "journal.c", "select.c", "transfer.c"];
/// Sources of `device/meter` that are not built: `src/crypto/entropy.rs` passes on what the second
/// one does.
const NOT_HOSTED: [&str; 2] = ["main.c", "seeds.c"];
/// Source of `device/oms` that is built: the rest has the meter's drivers.
const OMS: &str = "register.c";
/// Sources of `device/node`.
const NODE: [&str; 5] = ["node.c", "message.c", "counter.c", "lms_signer.c", "hss_signer.c"];
/// Drivers of which node and meter have their own: those of the node get another name.
const NODE_DRIVERS: [&str; 7] = [
    "ws_clock_seconds",
    "ws_clock_sleep",
    "ws_clock_ticks",
    "ws_radio_listen",
    "ws_radio_send",
    "ws_radio_sleep",
    "ws_radio_start",
];

fn main() {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device");
    for folder in ["crypto", "node", "meter", "oms", "boot", "drivers"] {
        println!("cargo::rerun-if-changed={}", device.join(folder).display());
    }
    for file in ["src/crypto/ml_dsa.c", "src/meter/sizes.c", "src/meter/boot/layout.h"] {
        println!("cargo::rerun-if-changed={file}");
    }
    build_crypto(&device);
    build_node(&device);
    build_meter(&device);
}

/// The C files of a folder but for some, by name.
fn sources(folder: &Path, but: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .filter(|path| !but.iter().any(|name| path.ends_with(name)))
        .collect();
    files.sort();
    files
}

/// The compiler of all the C. It optimises a release as it does the tests, because GCC 12 warns at
/// -O3 of values and lengths that are in order. Warnings stop the tests' build alone: a release may
/// meet a compiler that no test has seen.
fn compiler() -> cc::Build {
    let is_tests = std::env::var("PROFILE").as_deref() == Ok("debug");
    let mut build = cc::Build::new();
    build.std("c99").opt_level(2).warnings(true).extra_warnings(true).warnings_into_errors(is_tests);
    build
}

fn build_crypto(device: &Path) {
    let crypto = device.join("crypto");
    compiler()
        .files(sources(&crypto, &BENCHES))
        // Its inline functions.
        .file("src/crypto/ml_dsa.c")
        .include(&crypto)
        // More tables hold fewer ones.
        .define("WS_COMB_TABLES", "4")
        .compile("wattseal_crypto");
}

fn build_node(device: &Path) {
    let mut build = compiler();
    for driver in NODE_DRIVERS {
        build.define(driver, driver.replacen("ws_", "ws_node_", 1).as_str());
    }
    build.files(NODE.map(|name| device.join("node").join(name))).compile("wattseal_node");
}

fn build_meter(device: &Path) {
    compiler()
        .files(sources(&device.join("meter"), &NOT_HOSTED))
        .file(device.join("oms").join(OMS))
        .files(BOOT.map(|name| device.join("boot").join(name)))
        .file("src/meter/sizes.c")
        .include("src/meter/boot")
        .include(device.join("crypto"))
        .define("WS_SLOT", "0")
        .compile("wattseal_meter");
}
