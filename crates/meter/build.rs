//! Compiles the meter of `device/meter` for the host, all but its `main.c`; its drivers are in `src/`, and so is what `seeds.c` does:
//! the primitives' crate has those two functions already, and passes them on.

use std::path::Path;

fn main() {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device");
    println!("cargo::rerun-if-changed=src/sizes.c");
    for folder in ["meter", "drivers", "crypto"] {
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
    sources.sort();
    cc::Build::new()
        .files(sources)
        .file("src/sizes.c")
        .opt_level(2)
        .std("c99")
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("wattseal_meter");
}
