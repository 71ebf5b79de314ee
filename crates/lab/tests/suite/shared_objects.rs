//! Objects that builds share by `WATTSEAL_OBJECTS`.

use crate::board_files::project_copy;
use lab::workspace::Workspace;
use std::fs;
use std::path::Path;
use std::process::Command;

/// SHA-1 for a target in a variant, built in `out`.
fn build(root: &Path, out: &str, (target, variant): (&str, &str), objects: Option<&Path>) -> Vec<u8> {
    let mut make = Command::new("make");
    make.args(["-s", "OP=sha1"]).arg(format!("OUT={out}"));
    make.arg(format!("TARGET={target}")).arg(format!("VARIANT={variant}"));
    match objects {
        Some(objects) => make.env("WATTSEAL_OBJECTS", objects),
        None => make.env_remove("WATTSEAL_OBJECTS"),
    };
    let output = make.current_dir(root.join("device")).output().expect("make");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read(root.join("device").join(out).join(target).join(variant).join("sha1.elf")).expect("it is built")
}

#[test]
fn objects_shared_by_sources_and_flags_give_equal_programs() {
    let root = project_copy(&Workspace::find().expect("the project's folder"), "shared");
    let objects = root.join("objects");
    let count = || fs::read_dir(&objects).expect("a folder").count();
    let builds = [("stm32f407", "fast"), ("stm32f401", "fast"), ("stm32f407", "small")];
    let own = builds.map(|wanted| build(&root, "build/own", wanted, None));
    let shared = |wanted| build(&root, "build/shared", wanted, Some(&objects));
    assert!(shared(builds[0]) == own[0]);
    let of_one = count();
    assert!(shared(builds[1]) == own[1]);
    // Of the other part are start-up, which has its clock, and the bench, which has its memory.
    let added = count() - of_one;
    assert!(added > 0 && added < of_one, "{added} beside {of_one}");
    // With other flags the same C is another object.
    assert!(shared(builds[2]) == own[2]);

    let path = root.join("device/crypto/sha1.h");
    let header = fs::read_to_string(&path).expect("a header");
    fs::write(&path, header + "typedef int ws_changed;\n").expect("written");
    let before = count();
    assert!(shared(builds[0]) == own[0]);
    assert_eq!(count(), before + of_one, "all is compiled again");
}
