//! For the oracles: compiles the shims in `oracles/shim` and links the simulators' libraries.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "oracles")]
    {
        simavr();
        unicorn();
    }
}

/// Debian: libsimavr-dev. A shim in C knows the layout of its large structures.
#[cfg(feature = "oracles")]
fn simavr() {
    println!("cargo:rerun-if-changed=oracles/shim/simavr.c");
    cc::Build::new()
        .file("oracles/shim/simavr.c")
        .include("/usr/include/simavr")
        .opt_level(2)
        .compile("shim_simavr");
    println!("cargo:rustc-link-lib=dylib=simavr");
}

/// Debian: libunicorn-dev.
#[cfg(feature = "oracles")]
fn unicorn() {
    println!("cargo:rustc-link-lib=dylib=unicorn");
}
