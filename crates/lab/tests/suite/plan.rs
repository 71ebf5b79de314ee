//! The data that a plan is made of: schemes that can be built, clocks that the parts allow.

use lab::operations::Catalogue;
use lab::reference::random_case;
use lab::schemes;
use lab::workspace::Workspace;
use rand::SeedableRng;
use rand::rngs::StdRng;

#[test]
fn every_scheme_s_operations_exist() {
    let workspace = Workspace::find().expect("a clone of the project");
    let catalogue = Catalogue::read(&workspace).expect("device/ops.toml");
    let known = catalogue.names();
    let schemes = schemes::read(&workspace).expect("schemes.toml");
    assert!(schemes.len() >= 8);
    for scheme in &schemes {
        for op in &scheme.ops {
            assert!(known.contains(&op.as_str()), "{}: there is no operation {op}", scheme.name);
        }
    }
    let mut names: Vec<&str> = schemes.iter().map(|scheme| scheme.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), schemes.len(), "two schemes have one name");
}

/// Signatures as in Mane (2014), table 4.3: 40 and 64 bytes; what the packets of ecies.h and
/// ecies_ecdsa.h add.
#[test]
fn schemes_add_what_their_headers_say() {
    let workspace = Workspace::find().expect("a clone of the project");
    let schemes = schemes::read(&workspace).expect("schemes.toml");
    let define = |header: &str, name: &str| -> u32 {
        let text =
            std::fs::read_to_string(workspace.root().expect("a folder").join("device/crypto").join(header))
                .expect("a header");
        let line = text.lines().find(|line| line.starts_with(&format!("#define {name} "))).expect("its line");
        line.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    for (name, bytes) in [
        ("ecdsa-secp160r1", 40),
        ("ecdsa-p256", 64),
        ("ml-dsa-44", define("ml_dsa.h", "WS_ML_DSA_44_SIGNATURE")),
        ("ml-dsa-65", define("ml_dsa.h", "WS_ML_DSA_65_SIGNATURE")),
        ("ecies", define("ecies.h", "WS_ECIES_OVERHEAD")),
        ("ecies-compressed", define("ecies.h", "WS_ECIES_COMPRESSED_OVERHEAD")),
        ("ecies-ecdsa", define("ecies_ecdsa.h", "WS_ECIES_ECDSA_OVERHEAD")),
        ("ecies-ecdsa-compressed", define("ecies_ecdsa.h", "WS_ECIES_ECDSA_COMPRESSED_OVERHEAD")),
        ("winternitz", 4 + 32 + 67 * 32 + define("winternitz.h", "WS_WINTERNITZ_PUBLIC_KEY")),
        (
            "lamport",
            32 + define("lamport.h", "WS_LAMPORT_PIECES") * 32 + define("lamport.h", "WS_LAMPORT_PUBLIC_KEY"),
        ),
    ] {
        let scheme = schemes.iter().find(|scheme| scheme.name == name).expect("a scheme");
        assert_eq!(scheme.bytes, bytes, "{name}");
    }
}

/// A telegram is the scheme's message and what it adds.
#[test]
fn telegrams_are_as_long_as_their_schemes_say() {
    let workspace = Workspace::find().expect("a clone of the project");
    let catalogue = Catalogue::read(&workspace).expect("device/ops.toml");
    let target = workspace.target("stm32f407").expect("a target");
    let built = catalogue.built_as(&target, "fast").expect("its operations");
    let schemes = schemes::read(&workspace).expect("schemes.toml");
    let mut telegrams = 0;
    for scheme in schemes.iter().filter(|scheme| scheme.message_bytes.is_some()) {
        let operation = built.iter().find(|one| one.name == scheme.ops[0]).expect("an operation");
        let case = random_case(operation, operation.bytes.into(), &mut StdRng::seed_from_u64(1));
        let frame = case.expect("a case").outputs.remove(0).1;
        let said = u32::from(scheme.message_bytes.unwrap_or_default()) + scheme.bytes;
        assert_eq!(frame.len(), said as usize, "{}", scheme.name);
        telegrams += 1;
    }
    assert_eq!(telegrams, 3);
}

#[test]
fn every_target_allows_the_clocks_of_its_plan() {
    let workspace = Workspace::find().expect("a clone of the project");
    for name in workspace.target_names().expect("targets/") {
        let target = workspace.target(&name).expect("a target file");
        let clocks = &target.planning.clocks_mhz;
        assert!(clocks.windows(2).all(|pair| pair[0] < pair[1]), "{name}: the clocks rise");
        for mhz in clocks {
            let point = target.operating_point(Some((mhz * 1e6) as u64), Some(target.supply.max_v));
            assert!(point.is_ok(), "{name}: {mhz} MHz: {}", point.unwrap_err());
        }
        if let Some(sleep) = &target.planning.sleep
            && target
                .supply
                .sleep("sleep")
                .or(target.supply.sleep("LPM0"))
                .or(target.supply.sleep("idle"))
                .is_some()
        {
            assert!(target.supply.sleep(sleep).is_some(), "{name}: there is no sleep mode {sleep}");
        }
    }
}
