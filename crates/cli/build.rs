//! Says what `--version` says: a release's commit, too.

fn main() {
    println!("cargo::rerun-if-env-changed=WATTSEAL_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = std::env::var("WATTSEAL_COMMIT").map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=WATTSEAL_VERSION={}{commit}", env!("CARGO_PKG_VERSION"));
}
