//! Makes the folder of the built dashboard where there is none, so that the collector builds without the tools of the web.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    std::fs::create_dir_all(&built)?;
    println!("cargo::rerun-if-changed={}", built.display());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
