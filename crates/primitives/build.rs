//! Compiles the portable C of `device/crypto` for the host.

use std::path::Path;

fn main() {
    let crypto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device/crypto");
    let mut sources: Vec<_> = std::fs::read_dir(&crypto)
        .expect("device/crypto is beside crates")
        .map(|entry| entry.expect("device/crypto can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        // Their functions of ml_kem_pieces.h, lms_sign.h and hss.h are src/ml_kem.rs's and
        // src/lms.rs's here.
        .filter(|path| {
            ["ml_kem_bench.c", "lms_sign_bench.c", "hss_bench.c"].iter().all(|name| !path.ends_with(name))
        })
        .collect();
    // Its inline functions.
    let inline = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ml_dsa.c");
    println!("cargo::rerun-if-changed={}", inline.display());
    sources.push(inline);
    sources.sort();
    println!("cargo::rerun-if-changed={}", crypto.display());
    cc::Build::new()
        .files(sources)
        .include(&crypto)
        // More tables hold fewer ones.
        .define("WS_COMB_TABLES", "4")
        .std("c99")
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("wattseal_primitives");
}
