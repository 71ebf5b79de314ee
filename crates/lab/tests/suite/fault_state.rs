//! State files of campaigns of faults: those that are damaged, and those of other campaigns.

use crate::bare::program;
use crate::decisions::Silent;
use lab::LabError;
use lab::fault::{self, Injected, Marker, Model, Outcome, Request, Window};
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use testkit::random::{self, Random, seed};

/// A check of a sum, which is below 64; `spare` makes another program of it.
fn elf(spare: u8) -> PathBuf {
    let text = format!(
        ".syntax unified
.word 0x20001000, start + 1
.thumb_func
function start
movs r0, #0
movs r1, #8
1: adds r0, r0, r1
subs r1, #1
bne 1b
bl check
1: b 1b
end start
.thumb_func
function check
movs r2, #{spare}
lsrs r0, #6
bne 1f
bl reject
1: bl accept
end check
.thumb_func
function accept
1: b 1b
end accept
.thumb_func
function reject
1: b 1b
end reject"
    );
    program("stm32f407", &text)
}

/// The campaign whose state is tried.
fn request(elf: PathBuf, state: &Path) -> Request {
    Request {
        setup: Setup::new(elf, "stm32f407"),
        window: Window::Between { from: "start".into(), to: "reject".into() },
        models: vec![Model::Skip(1), Model::Register],
        good: vec![Marker::Reach("reject".into())],
        bad: vec![Marker::Reach("accept".into())],
        exit: None,
        occurrences: None,
        sample: Some(300),
        seed: 1,
        max_cycles: 100_000,
        hang_cycles: Some(10_000),
        prunes: true,
        state: Some(state.into()),
    }
}

fn run(request: &Request) -> Result<Injected, LabError> {
    let workspace = Workspace::find().expect("the project's folder");
    fault::run(&workspace, request, &Silent, &|_| {})
}

/// All that a report has of a campaign.
fn told(injected: &Injected) -> String {
    let rows = serde_json::to_string(&injected.rows).expect("JSON");
    format!("{:?} {:?} {rows}", injected.counts, injected.to_protect)
}

/// A campaign that is through, with its state.
fn finished(folder: &Path) -> (Request, String, Vec<u8>) {
    let path = folder.join("state");
    let request = request(elf(37), &path);
    let whole = run(&request).expect("a campaign");
    assert!(whole.counts.of(Outcome::Bypassed) > 1, "{:?}", whole.counts);
    (request, told(&whole), std::fs::read(path).expect("its state"))
}

/// The error of a state that is refused, which stays as it is.
fn refused(request: &Request, state: &[u8]) -> String {
    let path = request.state.as_deref().expect("a state");
    std::fs::write(path, state).expect("written");
    let said = run(request).expect_err("a state that is refused").to_string();
    assert_eq!(std::fs::read(path).expect("it is there"), state, "{said}");
    assert!(said.contains(&path.display().to_string()), "{said}");
    said
}

/// Another text: bits, bytes, lines and ends are not as they were.
fn mutated(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let at = random.below(bytes.len() as u32) as usize;
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let line = random.below(lines.len() as u32) as usize;
    match random.below(8) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = [b'\n', b'0', b'9', b' ', 0xff][random.below(5) as usize],
        2 => drop(bytes.remove(at)),
        3 => bytes.insert(at, b"019 ,]"[random.below(6) as usize]),
        4 => bytes.truncate(at),
        // A digit of a number: the JSON stays one.
        5 => {
            let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
            let at = digits[random.below(digits.len() as u32) as usize];
            bytes[at] = b'0' + random.below(10) as u8;
        }
        6 => drop(lines.remove(line)),
        _ => lines.insert(random.below(lines.len() as u32) as usize, lines[line]),
    }
    if lines.concat() == whole { bytes } else { lines.concat() }
}

#[test]
fn damaged_state_is_refused_or_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (request, wanted, whole) = finished(folder.path());
    let path = request.state.as_deref().expect("a state");
    let mut random = Random::new(seed());
    let mut outcomes = [0_usize; 2];
    for _ in 0..random::instructions(40, 5_000) {
        let state = mutated(&whole, &mut random);
        std::fs::write(path, &state).expect("written");
        match run(&request) {
            Ok(injected) => {
                assert_eq!(told(&injected), wanted, "{}", String::from_utf8_lossy(&state));
                outcomes[0] += 1;
            }
            Err(error) => {
                let said = error.to_string();
                let advises = said.contains("give --state another file") || said.contains("delete the line");
                assert!(advises && said.contains(&path.display().to_string()), "{said}");
                assert_eq!(std::fs::read(path).expect("it is there"), state, "{said}");
                outcomes[1] += 1;
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}

/// The lines of a state with another one, whose check is right.
fn forged(whole: &[u8], replaced: usize, change: impl Fn(&str) -> String) -> Vec<u8> {
    let text = std::str::from_utf8(whole).expect("text");
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let json = change(lines[replaced].rsplit_once(' ').expect("a check").0);
    let check = format!("{:x}", Sha256::digest([&lines[0], json.as_str()].concat()));
    lines[replaced] = format!("{json} {}\n", &check[..16]);
    lines.concat().into_bytes()
}

#[test]
fn block_that_is_not_the_plans_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (request, wanted, whole) = finished(folder.path());
    let block = |json: &str, number: &str| {
        let (before, rest) = json.split_once("\"block\":").expect("a block");
        format!("{before}\"block\":{number}{}", rest.trim_start_matches(|digit: char| digit.is_ascii_digit()))
    };
    let counts = |json: &str, count: &str| {
        let (bypasses, tallies) = json.split_at(json.find("\"tallies\"").expect("tallies"));
        let (pc, rest) = tallies.split_once(",[").expect("counts");
        let (_, rest) = rest.split_once(',').expect("more counts");
        format!("{bypasses}{pc},[{count},{rest}")
    };
    // As it was, the line is taken.
    std::fs::write(request.state.as_deref().expect("a state"), forged(&whole, 2, str::to_owned))
        .expect("written");
    assert_eq!(told(&run(&request).expect("a state")), wanted);
    let max = u64::MAX.to_string();
    for state in [
        forged(&whole, 2, |json| block(json, "1000")),
        forged(&whole, 2, |json| block(json, &max)),
        forged(&whole, 2, |json| counts(json, "1000")),
        forged(&whole, 2, |json| counts(json, &max)),
        forged(&whole, 2, |json| json.replace("tallies", "tally")),
    ] {
        let said = refused(&request, &state);
        assert!(said.contains("line 3 is damaged; delete the line"), "{said}");
    }
}

#[test]
fn state_of_another_campaign_is_refused_by_its_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    let (request, _, whole) = finished(folder.path());
    let skips = vec![Model::Skip(1)];
    let narrow = Window::Between { from: "check".into(), to: "reject".into() };
    let other_setup = Setup::new(elf(38), "stm32f407");
    for (name, other) in [
        ("firmware", Request { setup: other_setup, ..request.clone() }),
        ("models", Request { models: skips, ..request.clone() }),
        ("window", Request { window: narrow, ..request.clone() }),
        ("seed", Request { seed: 2, ..request.clone() }),
        ("sample", Request { sample: Some(290), ..request.clone() }),
        ("occurrences", Request { occurrences: Some(1), ..request.clone() }),
        ("hang", Request { hang_cycles: Some(20_000), ..request.clone() }),
    ] {
        let said = refused(&other, &whole);
        assert!(said.contains("the state of another campaign: "), "{name}: {said}");
        let wanted = format!("{name} is ");
        assert!(name == "window" || said.contains(&wanted) || said.contains("faults is "), "{name}: {said}");
    }
    // Its lines, below this campaign's own first one.
    let other = Request { seed: 2, ..request.clone() };
    std::fs::remove_file(request.state.as_deref().expect("a state")).expect("removed");
    run(&other).expect("a campaign");
    let own = std::fs::read(request.state.as_deref().expect("a state")).expect("its state");
    let [first, second] = [&whole, &own].map(|state| {
        let at = state.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
        (state[..at].to_vec(), state[at..].to_vec())
    });
    let said = refused(&request, &[first.0, second.1].concat());
    assert!(said.contains("line 2 is damaged"), "{said}");
}

#[test]
fn file_that_is_no_state_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let (request, _, _) = finished(folder.path());
    for text in ["one line without an end", "two\nlines\n", "{}x\n", "\u{0}\u{1}", "[1]\n"] {
        let said = refused(&request, text.as_bytes());
        assert!(said.contains("no state of a campaign; give --state another file"), "{text}: {said}");
    }
}
