//! Sizes of the secure meter's builds, as docs/reference/meter.md has them under "Suites".

use firmware::{Firmware, build_meter};
use lab::workspace::Workspace;
use output::grouped;
use std::ops::Range;

/// Flash for programs: the linker scripts' region `flash`.
const ATMEGA328P: Range<u32> = 0..0x8000;
const MSP430F5438A: Range<u32> = 0x5c00..0xff80;
const STM32F407: Range<u32> = 0x0800_0000..0x0810_0000;

/// A build that fits: its board, its suites, the flash for programs, and the row of the page before
/// its figures.
type Build = (&'static str, &'static [&'static str], Range<u32>, &'static str);

const BUILDS: [Build; 6] = [
    (
        "emontx",
        &["none", "aes128-gcm", "aes256-gcm", "ecies", "ecies-ecdsa"],
        ATMEGA328P,
        "| ATmega328P | 32,768 | all but `ascon-aead128` and `aes256-gcm-rekeyed`",
    ),
    (
        "emontx",
        &["none", "aes128-gcm", "aes256-gcm", "ecies", "ascon-aead128"],
        ATMEGA328P,
        "| | | all but `ecies-ecdsa` and `aes256-gcm-rekeyed`",
    ),
    (
        "emontx",
        &["none", "aes128-gcm", "aes256-gcm", "ascon-aead128"],
        ATMEGA328P,
        "| | | none with curves or `aes256-gcm-rekeyed`",
    ),
    (
        "msp430f5438a-cc2500",
        &["none", "aes128-gcm", "aes256-gcm", "ecies", "ecies-ecdsa", "ascon-aead128"],
        MSP430F5438A,
        "| MSP430F5438A | 41,856 below the interrupt vectors | all but `aes256-gcm-rekeyed`",
    ),
    (
        "msp430f5438a-cc2500",
        &["none", "aes128-gcm", "aes256-gcm", "aes256-gcm-rekeyed"],
        MSP430F5438A,
        "| | | those without a curve and without Ascon, and `aes256-gcm-rekeyed`",
    ),
    ("stm32f407-cc2500", &[], STM32F407, "| STM32F407 | 1,048,576 | all"),
];

/// Builds the meter of a board with these suites; returns its bytes in that flash.
fn bytes_in(board: &str, suites: &[&str], flash: &Range<u32>) -> Result<i64, String> {
    let workspace = Workspace::find().expect("the project's folder");
    let board = workspace.board(board).expect("a board");
    let target = workspace.target(&board.target).expect("a target");
    let source = workspace.board_source(&board, &target, None).expect("a clock of the part");
    let variant = &board.meter.as_ref().expect("a meter").variant;
    let suites: Vec<String> = suites.iter().map(|&suite| suite.into()).collect();
    let path = build_meter(&source, variant, &suites).map_err(|error| error.to_string())?;
    let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
    let segments = firmware.image().segments.iter().filter(|segment| flash.contains(&segment.address));
    Ok(segments.map(|segment| segment.bytes.len() as i64).sum())
}

fn page() -> String {
    let workspace = Workspace::find().expect("the project's folder");
    std::fs::read_to_string(workspace.root().expect("a folder").join("docs/reference/meter.md"))
        .expect("the page")
}

#[test]
fn sizes_of_builds_are_as_the_page_says() {
    let page = page();
    for (board, suites, flash, begin) in BUILDS {
        let bytes = bytes_in(board, suites, &flash).expect("it fits");
        let left = i64::from(flash.end - flash.start) - bytes;
        let row = format!("{begin} | {} | {} |", grouped(bytes), grouped(left));
        assert!(page.contains(&row), "the page has to have: {row}");
    }
}

/// All suites but one have no room on the ATmega328P.
#[test]
fn build_without_room_is_as_the_page_says() {
    let suites = ["none", "aes128-gcm", "aes256-gcm", "ecies", "ecies-ecdsa", "ascon-aead128"];
    let error = bytes_in("emontx", &suites, &ATMEGA328P).expect_err("it does not fit");
    let over = error.split("overflowed by ").nth(1).and_then(|rest| rest.split(' ').next());
    let over: i64 = over.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{error}"));
    let bytes = grouped(i64::from(ATMEGA328P.end) + over);
    let row = format!("| | | all but `aes256-gcm-rekeyed` | {bytes} | {} too many |", grouped(over));
    assert!(page().contains(&row), "the page has to have: {row}");
}
