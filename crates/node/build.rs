//! Compiles the node of `device/node` for the host, all but its `main.c`; its drivers are in
//! `src/`.

use std::path::Path;

fn main() {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device");
    for folder in ["node", "drivers"] {
        println!("cargo::rerun-if-changed={}", device.join(folder).display());
    }
    cc::Build::new()
        .files(
            ["node", "message", "counter", "lms_signer", "hss_signer"]
                .map(|name| device.join("node").join(name).with_extension("c")),
        )
        .std("c99")
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("wattseal_node");
}
