//! Sources of arranged kernels, which no program is built of.

use std::path::Path;
use std::process::Command;

#[test]
fn sources_of_arranged_kernels_assemble() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/kernels");
    let mut names: Vec<String> = std::fs::read_dir(&kernels)
        .expect("a folder")
        .map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.ends_with(".S"))
        .collect();
    names.sort();
    let known = ["ascon_permutation_rv32ec.S", "p256_products.S", "x25519_products.S"];
    assert_eq!(names, known, "each has its compiler here");
    for name in known {
        let (compiler, flags) = match name {
            "ascon_permutation_rv32ec.S" => ("riscv64-unknown-elf-gcc", ["-march=rv32ec", "-mabi=ilp32e"]),
            _ => ("arm-none-eabi-gcc", ["-mcpu=cortex-m4", "-mthumb"]),
        };
        let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("o");
        let mut command = Command::new(compiler);
        command.args(flags).arg("-c").arg(kernels.join(name)).arg("-o").arg(object);
        assert!(command.status().expect("the toolchain is installed").success(), "{name}");
    }
}
