//! Compiles the shims in `shim/` and links the simulators' libraries.

fn main() {
    simavr();
    unicorn();
}

/// Debian: libsimavr-dev. A shim in C knows the layout of its large structures.
fn simavr() {
    println!("cargo:rerun-if-changed=shim/simavr.c");
    cc::Build::new().file("shim/simavr.c").include("/usr/include/simavr").opt_level(2).compile("shim_simavr");
    println!("cargo:rustc-link-lib=dylib=simavr");
}

/// Debian: libunicorn-dev.
fn unicorn() {
    println!("cargo:rustc-link-lib=dylib=unicorn");
}
