//! Compiles the meter of `device/meter` for the host, all but its `main.c`, and of the bootloader
//! what decides which image runs and takes new ones; its drivers are in `src/`, and so is what
//! `seeds.c` does: the primitives' crate has those two functions already, and passes them on.

use std::path::Path;

/// Of `device/boot`.
const BOOT: [&str; 5] = ["confirm.c", "image.c", "journal.c", "select.c", "transfer.c"];

fn main() {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device");
    println!("cargo::rerun-if-changed=src/sizes.c");
    println!("cargo::rerun-if-changed=src/boot/layout.h");
    for folder in ["meter", "boot", "drivers", "crypto"] {
        println!("cargo::rerun-if-changed={}", device.join(folder).display());
    }
    let mut sources: Vec<_> = std::fs::read_dir(device.join("meter"))
        .expect("device/meter is there")
        .map(|entry| entry.expect("device/meter can be listed").path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "c")
                && !path.ends_with("main.c")
                && !path.ends_with("seeds.c")
        })
        .collect();
    sources.extend(BOOT.map(|name| device.join("boot").join(name)));
    sources.sort();
    cc::Build::new()
        .files(sources)
        .file("src/sizes.c")
        .include("src/boot")
        .include(device.join("crypto"))
        .define("WS_SLOT", "0")
        .opt_level(2)
        .std("c99")
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("wattseal_meter");
}
