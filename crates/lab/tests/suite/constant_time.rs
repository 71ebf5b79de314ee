//! Planted leaks are found and their places named; and no operation's time or path depends on a
//! secret, on any target. A long operation is checked in its fast variant and on one target of a
//! kind.

use crate::samples;
use firmware::{Firmware, build_app};
use lab::LabError;
use lab::ct::{self, Accepted, ConstantTimeRow, Difference, Request, Subject, Verdict};
use lab::operations::{Catalogue, Key, Operation};
use lab::progress::Progress;
use lab::reference::Case;
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

struct Silence;

impl Progress for Silence {
    fn report(&self, _done: usize, _total: usize, _what: &str) {}
}

fn workspace() -> Workspace {
    Workspace::find().expect("the tests run inside the project")
}

fn request(target: &str, operations: &[&str], variants: &[&str], runs: u32) -> Request {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Request {
        targets: vec![target.to_owned()],
        operations: owned(operations),
        variants: owned(variants),
        runs: Some(runs),
        seed: testkit::random::seed(),
        max_cycles: 1_000_000_000,
        public: false,
        strict: false,
    }
}

/// `device/leaks`, built for a target.
fn leaks_elf(name: &str) -> PathBuf {
    let workspace = workspace();
    let target = workspace.target(name).expect("it is one of the targets");
    let point = target.operating_point(None, None).expect("the default is allowed");
    let source = workspace.source(&target, &point).expect("a toolchain");
    build_app(&source, "portable", "leaks").expect("it builds")
}

/// The checks of `device/leaks` on a target, by function.
fn leaks(name: &str, functions: &[&str]) -> Vec<ConstantTimeRow> {
    let workspace = workspace();
    let target = workspace.target(name).expect("it is one of the targets");
    let elf = leaks_elf(name);
    let firmware = Firmware::read(&elf, target.part.core).expect("an ELF file");
    let clock_hz = target.operating_point(None, None).expect("the default is allowed").clock_hz;
    let request = request(name, &[], &[], 64);
    let case = |run: u32| {
        let mut key = vec![0; 16];
        StdRng::seed_from_u64(request.seed + u64::from(run)).fill_bytes(&mut key);
        Ok(Case { inputs: vec![("key", key)], ..Case::default() })
    };
    functions
        .iter()
        .map(|function| {
            let operation = Operation {
                name: (*function).into(),
                set: "leaks".into(),
                measure: (*function).into(),
                bytes: 0,
                any_length: false,
                key: Key::Raw,
                fixed: Vec::new(),
                secret: BTreeMap::new(),
                public: false,
                rejects: false,
                by_value: false,
            };
            let subject = Subject {
                target: &target,
                clock_hz,
                firmware: &firmware,
                operation: &operation,
                variant: "portable",
                checks_stack: false,
            };
            ct::check(&subject, &request, &Accepted::default(), &case).expect("it runs")
        })
        .collect()
}

/// The line of `device/leaks/main.c` with a comment.
fn line_of(comment: &str) -> usize {
    let text = std::fs::read_to_string(workspace().root().expect("a folder").join("device/leaks/main.c"))
        .expect("it is there");
    let comment = format!("/* {comment} */");
    text.lines().position(|line| line.contains(&comment)).expect("a comment in capitals") + 1
}

fn assert_leak(row: &ConstantTimeRow, differs: Difference, comment: &str) {
    assert_eq!((row.verdict, row.differs), (Verdict::Variable, Some(differs)), "{row:?}");
    let place = row.place.as_deref().expect("the place of a leak");
    let line = format!("device/leaks/main.c:{}", line_of(comment));
    assert!(place.starts_with(&row.op) && place.ends_with(&line), "{place} is not {} at {line}", row.op);
    assert!(row.pc.is_some() && row.run.is_some_and(|run| run > 0), "{row:?}");
    assert_depends(row, differs, comment);
}

/// Following the key finds this and nothing else.
fn assert_depends(row: &ConstantTimeRow, kind: Difference, comment: &str) {
    let line = format!("device/leaks/main.c:{}", line_of(comment));
    assert!(!row.leaks.is_empty(), "{row:?}");
    for found in &row.leaks {
        let ct::firmware::LeakRow { place, secrets, .. } = &found.leak;
        assert_eq!((found.leak.kind, secrets.as_str(), &found.accepted), (kind, "key", &None), "{found:?}");
        assert!(place.starts_with(&row.op) && place.ends_with(&line), "{place} is not {} at {line}", row.op);
    }
}

const EVERYWHERE: [&str; 5] =
    ["leaks_nothing", "leaks_by_branch", "leaks_by_reading", "leaks_by_writing", "leaks_rarely"];

fn assert_leaks_of_every_target(rows: &[ConstantTimeRow]) {
    assert_eq!(rows[0].verdict, Verdict::Constant, "{:?}", rows[0]);
    assert_leak(&rows[1], Difference::Branch, "BRANCH");
    assert_leak(&rows[2], Difference::Address, "READ");
    assert!(rows[2].what.as_deref().is_some_and(|what| what.contains("leaks_table+0x")), "{:?}", rows[2]);
    assert_leak(&rows[3], Difference::Address, "WRITE");
    assert_eq!(rows[0].leaks, [], "{:?}", rows[0]);
    // A dependence that no random key shows.
    assert_eq!((rows[4].verdict, rows[4].differs), (Verdict::Dependent, None), "{:?}", rows[4]);
    assert_depends(&rows[4], Difference::Branch, "RARE");
}

/// Following of a function of `device/leaks` through two calls, without a secret yet.
fn following(elf: &Path, target: &str, function: &str) -> ct::firmware::Request {
    ct::firmware::Request {
        setup: Setup::new(elf.into(), target),
        function: function.into(),
        secrets: Vec::new(),
        secret_registers: Vec::new(),
        secret_arguments: Vec::new(),
        public: Vec::new(),
        declassified: Vec::new(),
        calls: 2,
        max_cycles: 10_000_000,
    }
}

/// The leaks that taint tracking finds in a function of `device/leaks`: what depends on the key,
/// and on which line.
fn followed(elf: &Path, target: &str, function: &str) -> Vec<(Difference, usize)> {
    let secrets = vec!["ws_bench_key".into()];
    let request = ct::firmware::Request { secrets, ..following(elf, target, function) };
    let checked = ct::firmware::run(&workspace(), &request).expect("it runs");
    assert_eq!(checked.calls, 2, "{target} {function}: {}", checked.ending);
    let line = |place: &str| place.rsplit_once(':').and_then(|(_, line)| line.parse().ok()).expect("a line");
    checked
        .leaks
        .iter()
        .map(|leak| {
            assert!(leak.place.starts_with(function), "{leak:?}");
            assert_eq!((leak.secrets.as_str(), leak.times), ("ws_bench_key", 2), "{leak:?}");
            (leak.kind, line(&leak.place))
        })
        .collect()
}

#[test]
fn planted_leaks_are_found_by_following_the_key() {
    for target in ["atmega328p", "msp430f5438a", "stm32f051", "stm32f100", "stm32f407", "stm32f767"] {
        let elf = leaks_elf(target);
        let all = |function| followed(&elf, target, function);
        assert_eq!(all("leaks_nothing"), [], "{target}");
        assert_eq!(all("leaks_by_branch"), [(Difference::Branch, line_of("BRANCH"))], "{target}");
        assert_eq!(all("leaks_by_reading"), [(Difference::Address, line_of("READ"))], "{target}");
        assert_eq!(all("leaks_by_writing"), [(Difference::Address, line_of("WRITE"))], "{target}");
        if target == "stm32f100" {
            let time = |comment| [(Difference::Time, line_of(comment))];
            assert_eq!(all("leaks_by_multiplying"), time("MULTIPLICATION"), "{target}");
            assert_eq!(all("leaks_by_dividing"), time("DIVISION"), "{target}");
        }
    }
}

/// Kinds and secrets of the leaks in a function of `device/leaks`; all secrets were read.
fn found(request: &ct::firmware::Request) -> Vec<(Difference, String)> {
    let checked = ct::firmware::run(&workspace(), request).expect("it runs");
    let Setup { target, .. } = &request.setup;
    assert_eq!((checked.calls, checked.reads.unread()), (2, Vec::new()), "{target} {}", request.function);
    let mut found: Vec<_> = checked.leaks.into_iter().map(|leak| (leak.kind, leak.secrets)).collect();
    // A compiler may make several instructions of a branch.
    found.dedup();
    found
}

/// By the calling conventions of GCC and Clang, and by `device/ct/ws_ct.h`.
#[test]
fn arguments_and_marks_are_followed_by_each_convention() {
    for target in ["atmega328p", "atmega2560", "msp430f5438a", "stm32f407", "ch32v003"] {
        let elf = leaks_elf(target);
        let of = |function, arguments: &[&str]| {
            let secret_arguments = arguments.iter().map(|&argument| argument.into()).collect();
            found(&ct::firmware::Request { secret_arguments, ..following(&elf, target, function) })
        };
        let branch = |secret: &str| [(Difference::Branch, secret.to_owned())];
        assert_eq!(of("leaks_by_branch", &["0:16"]), branch("argument 0:16"), "{target}");
        assert_eq!(of("leaks_by_value", &["1"]), branch("argument 1"), "{target}");
        assert_eq!(of("leaks_by_value", &["0"]), [], "{target}");
        assert_eq!(of("leaks_as_marked", &[]), branch("ws_ct_secret"), "{target}");
    }
}

/// The R8C, whose compiler need not be there: what an assembler made of calls with R1 and R2.
#[test]
fn arguments_and_marks_are_followed_on_r8c() {
    const START: u32 = 0xe000;
    let code = [
        0xeb, 0x40, 0x00, 0x06, // ldc #0x600,isp
        0x75, 0xc1, 0x00, 0x04, // mov.w #0x400,r1
        0x75, 0xc2, 0x08, 0x00, // mov.w #8,r2
        0xfd, 0x2c, 0xe0, 0x00, // jsr ws_ct_secret
        0xfd, 0x1a, 0xe0, 0x00, // again: jsr value
        0xfd, 0x21, 0xe0, 0x00, // jsr marked
        0xfe, 0xf7, // jmp again
        0x7e, 0xb2, 0x00, // value: btst 0,r2
        0x6a, 0x02, 0x04, 0xf3, // jz, nop, rts
        0x73, 0xf3, 0x02, 0x04, // marked: mov.w 0x402,r3
        0x7e, 0xb3, 0x00, // btst 0,r3
        0x6a, 0x02, 0x04, 0xf3, // jz, nop, rts
        0x04, 0xf3, // ws_ct_secret: nop, rts
    ];
    let mut image = vec![0xff; 0x2000];
    image[..code.len()].copy_from_slice(&code);
    // The reset vector.
    image[0x1ffc..0x1fff].copy_from_slice(&START.to_le_bytes()[..3]);
    let folder = tempfile::tempdir().expect("a folder");
    let (elf, map) = (folder.path().join("marks.bin"), folder.path().join("marks.map"));
    let text = "Linker script and memory map\n\n .text 0x0000e000 0x2e marks.o\n 0x0000e000 start\n \
                0x0000e01a value\n 0x0000e021 marked\n 0x0000e02c ws_ct_secret\n";
    std::fs::write(&elf, image).expect("written");
    std::fs::write(&map, text).expect("written");
    let of = |function, argument: Option<&str>| {
        let mut request = following(&elf, "r8c", function);
        request.setup.loading = lab::user_firmware::Loading { base: Some(START), map: Some(map.clone()) };
        // Only one of the functions reads what is marked.
        request.public.extend(argument.map(|_| "0x400:8".to_owned()));
        request.secret_arguments.extend(argument.map(str::to_owned));
        found(&request)
    };
    let branch = |secret: &str| [(Difference::Branch, secret.to_owned())];
    assert_eq!(of("value", Some("1")), branch("argument 1"));
    assert_eq!(of("value", Some("0")), []);
    assert_eq!(of("marked", None), branch("ws_ct_secret"));
}

#[test]
fn registers_are_secret_and_public_at_a_place() {
    for (target, first, second) in [("atmega328p", "r24", "r22"), ("stm32f407", "r0", "r1")] {
        let elf = leaks_elf(target);
        let of = |register: &str, declassified: &[String]| {
            let (secret_registers, declassified) = (vec![register.into()], declassified.to_vec());
            let request = following(&elf, target, "leaks_by_value");
            found(&ct::firmware::Request { secret_registers, declassified, ..request })
        };
        let branch = [(Difference::Branch, second.to_owned())];
        assert_eq!(of(first, &[]), [], "{target}");
        assert_eq!(of(second, &[]), branch, "{target}");
        let core = workspace().target(target).expect("a target").part.core;
        let firmware = Firmware::read(&elf, core).expect("an ELF file");
        let entry = firmware.symbol("leaks_by_value").expect("it is there").address;
        assert_eq!(of(second, &[format!("{second}@{:#x}", entry + 2)]), [], "{target}");
        assert_eq!(of(second, &[format!("{second}@ws_bench_ready")]), branch, "{target}");
    }
}

#[test]
fn planted_leaks_are_found_on_avr() {
    assert_leaks_of_every_target(&leaks("atmega328p", &EVERYWHERE));
}

#[test]
fn planted_leaks_are_found_on_msp430() {
    assert_leaks_of_every_target(&leaks("msp430f5438a", &EVERYWHERE));
}

#[test]
fn planted_leaks_are_found_on_cortex_m() {
    for target in ["stm32f051", "stm32f407", "stm32f767"] {
        assert_leaks_of_every_target(&leaks(target, &EVERYWHERE));
    }
}

#[test]
fn operand_dependent_instruction_times_are_found() {
    assert_leaks_of_every_target(&leaks("stm32f100", &EVERYWHERE));
    let rows = leaks("stm32f100", &["leaks_by_multiplying", "leaks_by_dividing"]);
    assert_leak(&rows[0], Difference::Time, "MULTIPLICATION");
    assert_leak(&rows[1], Difference::Time, "DIVISION");
    let rows = leaks("stm32f407", &["leaks_by_multiplying", "leaks_by_dividing"]);
    assert_eq!(rows[0].verdict, Verdict::Constant, "UMULL of the M4 takes one cycle: {:?}", rows[0]);
    assert_leak(&rows[1], Difference::Time, "DIVISION");
}

#[test]
fn a_table_of_aes_is_named_and_counts_where_it_is_asked_for() {
    let mut request = request("stm32f407", &["aes128-encrypt"], &["portable"], 8);
    let rows = ct::run(&workspace(), &request, &Silence).expect("it runs");
    assert_eq!((rows[0].verdict, rows[0].tables.as_str()), (Verdict::Constant, "ws_secret_table_aes_sbox"));
    request.strict = true;
    let rows = ct::run(&workspace(), &request, &Silence).expect("it runs");
    assert_eq!((rows[0].verdict, rows[0].differs), (Verdict::Variable, Some(Difference::Address)));
    assert!(
        rows[0].what.as_deref().is_some_and(|what| what.contains("ws_secret_table_aes_sbox+0x")),
        "{:?}",
        rows[0]
    );
}

#[test]
fn aes_table_is_a_secret_address_on_request() {
    let mut request = request("atmega328p", &["aes128-encrypt"], &["fast"], 1);
    let rows = ct::run(&workspace(), &request, &Silence).expect("it runs");
    assert_eq!((rows[0].verdict, rows[0].leaks.len()), (Verdict::Constant, 0), "{rows:?}");
    request.strict = true;
    let rows = ct::run(&workspace(), &request, &Silence).expect("it runs");
    assert_eq!(rows[0].verdict, Verdict::Dependent, "one run differs from no other");
    let lines = rows[0].leaks.iter().all(|found| {
        let leak = &found.leak;
        leak.kind == Difference::Address
            && leak.secrets.contains("key")
            && leak.place.contains("device/ports/avr/kernels/avr/aes_fast.S:")
    });
    assert!(lines, "{:#?}", rows[0]);
}

#[test]
fn accepted_dependence_has_its_reason() {
    let request = request("stm32f051", &["aes128-gcm-open"], &["fast"], 2);
    let rows = ct::run(&workspace(), &request, &Silence).expect("it runs");
    assert_eq!(rows[0].verdict, Verdict::Constant, "{rows:?}");
    let [found] = rows[0].leaks.as_slice() else { panic!("{rows:?}") };
    assert_eq!((found.leak.kind, found.leak.secrets.as_str()), (Difference::Branch, "key nonce message tag"));
    assert!(found.leak.place.contains("device/crypto/gcm.c:"), "{found:?}");
    assert!(found.accepted.as_deref().is_some_and(|reason| reason.contains("tag")), "{found:?}");
}

/// The decisions of a file.
fn accepted(text: &str) -> Result<Accepted, LabError> {
    let workspace = workspace();
    let catalogue = Catalogue::read(&workspace).expect("it is there");
    Accepted::parse("decisions.toml".into(), text, &workspace, &catalogue)
}

#[test]
fn a_decision_about_what_there_is_not_is_refused() {
    let decision = |op: &str, line: &str| {
        format!(
            "[[accepted]]\nops = ['{op}']\nkind = 'branch'\nsecrets = ['key']\nfile = 'device/crypto/gcm.c'\n\
             lines = ['{line}']\nreason = 'public'\n"
        )
    };
    let refused = |text: &str| accepted(text).expect_err("it is refused").to_string();
    assert!(accepted(&decision("aes*", "#include \"gcm.h\"")).is_ok());
    let gone = refused(&decision("aes*", "goto valid;"));
    assert!(gone.contains("decisions.toml") && gone.contains("no line with 'goto valid;'"), "{gone}");
    assert!(refused(&decision("aes*", "return")).contains("lines with 'return'"));
    assert!(refused(&decision("rot13", "#include \"gcm.h\"")).contains("rot13"));
    assert!(
        refused("[[accepted]]\nops = []\nkind = 'time'\nsecrets = []\nreason = ''\n")
            .contains("file and lines")
    );
}

#[test]
fn a_decision_that_nothing_needs_any_more_is_refused() {
    let text = "[[accepted]]\nops = ['sha256']\ntargets = ['atmega328p']\nvariants = ['fast']\nkind = 'branch'\n\
                secrets = ['message']\nfunction = 'ws_sha256'\nreason = 'once it was public'\n";
    let (workspace, accepted) = (workspace(), accepted(text).expect("all that it names is there"));
    let catalogue = Catalogue::read(&workspace).expect("it is there");
    let rows =
        ct::run(&workspace, &request("atmega328p", &["sha256"], &["fast"], 1), &Silence).expect("it runs");
    let needed = |rows: &[ConstantTimeRow]| accepted.all_needed(&workspace, &catalogue, rows);
    needed(&[]).expect("nobody knows before all rows are there that it is about");
    let refused = needed(&rows).expect_err("it is refused").to_string();
    assert!(refused.contains("ws_sha256 (sha256) matches nothing any more"), "{refused}");
}

/// Operations that are quick on every processor.
const QUICK: [&str; 11] = [
    "aes*",
    "ascon-*",
    "chacha20-*",
    "sha*",
    "hmac*",
    "*-field-*",
    "digest-check",
    "x963-kdf",
    "single-step-kdf",
    "hkdf-*",
    "drbg-*",
];
/// Those that are not, but for signing with SLH-DSA, which takes minutes, and for X25519 and
/// Ed25519: `./wattseal ct` with their names.
const LONG: [&str; 11] = [
    "*-keygen",
    "ecdsa-*-sign",
    "lamport-sign",
    "winternitz-*sign",
    "lms-*-sign",
    "p*-ecdh",
    "secp160r1-ecdh",
    "ecies-*",
    "ecdh-*",
    "ml-kem-*",
    "ml-dsa-*",
];

fn assert_constant(request: &Request) {
    let rows = ct::run(&workspace(), request, &Silence).expect("all operations run");
    assert!(!rows.is_empty());
    for row in rows {
        assert!(matches!(row.verdict, Verdict::Constant | Verdict::Public), "{row:#?}");
    }
}

/// The kernels, and the C of another variant each time, of one target of a core: `wattseal ct`
/// checks them all.
fn quick(core: &[&str]) {
    let seed = samples::seed();
    quick_of(samples::one_of(core, seed), seed);
}

fn quick_of(target: &str, seed: u64) {
    assert_constant(&request(target, &QUICK, &["fast", samples::c_variant(target, seed)], 8));
}

/// All that they have, in all variants.
fn whole(target: &str) {
    assert_constant(&request(target, &[], &[], 8));
}

/// The targets of [`LONG`], by core.
const LONG_TARGETS: [&str; 6] =
    ["atmega328p", "msp430f5438a", "stm32f051", "stm32f100", "stm32f407", "stm32f767"];

/// The operations of [`LONG`] on each of its targets.
fn long_operations() -> BTreeMap<&'static str, Vec<String>> {
    let workspace = workspace();
    let catalogue = Catalogue::read(&workspace).expect("it is there");
    let is_long = |name: &str| LONG.iter().any(|pattern| fast_glob::glob_match(pattern, name));
    let of = |name: &'static str| {
        let target = workspace.target(name).expect("it is one of the targets");
        let mut operations = catalogue.built_as(&target, "fast").expect("the target's sets");
        operations.retain(|operation| !operation.public && is_long(&operation.name));
        (name, operations.into_iter().map(|operation| operation.name).collect())
    };
    LONG_TARGETS.into_iter().map(of).collect()
}

/// A third of [`LONG`] on each target, half of ML-DSA, and each operation on one of those that have
/// it. Those that the same targets have follow each other.
fn long_sample(seed: u64) -> BTreeMap<&'static str, Vec<String>> {
    let every = long_operations();
    let catalogue = Catalogue::read(&workspace()).expect("it is there");
    let mut sample = BTreeMap::<&str, Vec<String>>::new();
    let mut places = BTreeMap::<Vec<&str>, usize>::new();
    for name in catalogue.names() {
        let has_it = |target: &&str| every[target].iter().any(|operation| operation == name);
        let owners: Vec<&str> = LONG_TARGETS.into_iter().filter(has_it).collect();
        let place = places.entry(owners.clone()).or_insert(seed as usize % 6);
        // Of ML-DSA's there are only two that are not public.
        let turns = owners.len().min(if name.starts_with("ml-dsa") { 2 } else { 3 });
        let is_its = |at: usize| (at + *place).is_multiple_of(turns);
        let taken = owners.iter().enumerate().filter(|(at, _)| is_its(*at));
        taken.for_each(|(_, target)| sample.entry(target).or_default().push(name.to_owned()));
        *place += 1;
    }
    sample
}

#[test]
fn sample_of_long_operations_misses_none_and_no_curve() {
    let every = long_operations();
    let mut taken = BTreeMap::<&str, Vec<String>>::new();
    for seed in 0..6 {
        let sample = long_sample(seed);
        for (target, operations) in &every {
            let of_target = sample.get(target).cloned().unwrap_or_default();
            assert!(of_target.len() * 2 < operations.len(), "{seed} {target}: {of_target:?}");
            for operation in operations {
                assert!(sample.values().flatten().any(|taken| taken == operation), "{seed}: {operation}");
            }
            for kind in ["p256", "p384", "secp160r1", "ml-kem-512", "ml-kem-768", "ml-dsa-44", "ml-dsa-65"] {
                let has_some = |names: &[String]| names.iter().any(|name| name.contains(kind));
                assert!(!has_some(operations) || has_some(&of_target), "{seed} {target}: {kind}");
            }
            taken.entry(target).or_default().extend(of_target);
        }
    }
    for (target, operations) in every {
        assert!(operations.iter().all(|operation| taken[target].contains(operation)), "{target}");
    }
}

/// One run each, whose secrets are followed: `wattseal ct` compares more of them.
fn long(target: &str) {
    let sample = long_sample(samples::seed());
    let operations: Vec<&str> = sample[target].iter().map(String::as_str).collect();
    assert_constant(&request(target, &operations, &["fast"], 1));
}

/// On an AVR with room for it, whose compiler makes skips of what others do not.
fn ml_kem(target: &str) {
    assert_constant(&request(target, &["ml-kem-*"], &["small", "fast"], 2));
}

/// The key agreement as a whole: its parts are checked in all variants. One of the two on a core
/// of 8 or 16 bits, the other one on one of 32.
#[test]
fn hybrid() {
    let seed = samples::seed();
    for (place, targets) in HYBRID_TARGETS.chunks(2).enumerate() {
        let operations = [samples::one_of(&HYBRID, seed + place as u64)];
        assert_constant(&request(samples::one_of(targets, seed / 2), &operations, &["fast"], 1));
    }
}

const HYBRID_TARGETS: [&str; 4] = ["atmega2560", "msp430f5438a", "stm32f051", "stm32f407"];
const HYBRID: [&str; 2] = ["p256-ml-kem-512-*", "x25519-ml-kem-512-*"];

/// Each compiler makes it of the same C, of which clang for the MSP430 made branches once: one of
/// the two curves' operations on each target.
#[test]
fn curve25519() {
    let seed = samples::seed();
    for (place, target) in CURVE25519_TARGETS.into_iter().enumerate() {
        assert_constant(&request(target, &[samples::one_of(&CURVE25519, seed + place as u64)], &["fast"], 1));
    }
}

const CURVE25519_TARGETS: [&str; 3] = ["msp430f5438a", "stm32f051", "stm32f407"];
const CURVE25519: [&str; 2] = ["x25519-*", "ed25519-*"];

macro_rules! targets {
    ($names:ident: $($name:ident)*) => { mod $names { $(
        #[test]
        fn $name() {
            super::$names(stringify!($name));
        }
    )* } };
}

macro_rules! cores {
    ($($core:ident: $($target:ident)*;)*) => {
        mod quick { $(
            #[test]
            fn $core() {
                super::quick(&[$(stringify!($target)),*]);
            }
        )* }

        /// The targets of all cores, of which the full tier takes one each.
        #[test]
        #[ignore = "minutes: the other targets of each core"]
        fn quick_of_all_targets() {
            let seed = samples::seed();
            [$($(stringify!($target)),*),*].into_iter().for_each(|target| quick_of(target, seed));
        }
    };
}

cores! {
    avr: atmega328p atmega128l;
    msp430: msp430f5438a msp430fr5994;
    cortex_m0: stm32f051 samd21 rp2040;
    cortex_m3: stm32f100;
    cortex_m4: stm32f407 nrf52840;
    cortex_m7: stm32f767;
    riscv: ch32v003;
}
targets! { whole: r8c i8051 mc68hc08 }
targets! { ml_kem: atmega2560 }
targets! { long: atmega328p msp430f5438a stm32f051 stm32f100 stm32f407 stm32f767 }

/// All operations that the samples above are drawn from.
#[test]
#[ignore = "minutes: all long operations"]
fn long_of_all_targets() {
    LONG_TARGETS.into_iter().for_each(|target| assert_constant(&request(target, &LONG, &["fast"], 1)));
    HYBRID_TARGETS.into_iter().for_each(|target| assert_constant(&request(target, &HYBRID, &["fast"], 1)));
    for target in CURVE25519_TARGETS {
        assert_constant(&request(target, &CURVE25519, &["fast"], 1));
    }
}
