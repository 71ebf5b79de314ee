//! Makes the folder of the built dashboard where there is none, so that the collector builds
//! without the tools of the web.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

fn main() -> std::io::Result<()> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    if !built.exists() {
        std::fs::create_dir_all(&built)?;
        // A folder younger than this run would be a change to cargo, which would build the
        // collector, and all that use it, once more.
        File::open(&built)?.set_modified(SystemTime::UNIX_EPOCH)?;
    }
    println!("cargo::rerun-if-changed={}", built.display());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
