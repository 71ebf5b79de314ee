//! Tests that the Rust crate embedded-test puts into a program (0.7, version 1 of its protocol).
//!
//! The section `.embedded_test` is not loaded. A symbol in it has a JSON object for a name, which
//! describes a test. What it stands at is a function's address, then address and length of the
//! name of the test's module.

use crate::FirmwareError;
use object::read::elf::ElfFile32;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};
use serde::Deserialize;
use std::path::Path;

const SECTION: &str = ".embedded_test";
const VERSION_SYMBOL: &str = "EMBEDDED_TEST_VERSION";
const VERSION: u32 = 1;

/// A test of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedTest {
    /// Its module and its function.
    pub name: String,
    /// Address of the function that runs it, and then ends the program.
    pub address: u32,
    pub ignored: bool,
    pub should_panic: bool,
    /// Its own limit of time, in seconds.
    pub timeout_s: Option<u32>,
}

#[derive(Deserialize)]
struct Description {
    name: String,
    ignored: bool,
    should_panic: bool,
    timeout: Option<u32>,
}

/// Returns the tests of an ELF file, by name; none of a program without any.
///
/// # Errors
/// [`FirmwareError::File`] where it cannot be read, [`FirmwareError::BadFile`] for another version
/// of the protocol, or a damaged section.
pub fn embedded_tests(path: &Path) -> Result<Vec<EmbeddedTest>, FirmwareError> {
    let bytes = std::fs::read(path).map_err(|error| FirmwareError::File { path: path.into(), error })?;
    let bad = |problem: String| FirmwareError::BadFile { path: path.into(), problem };
    // Other files have no sections, and no tests.
    let Ok(file) = ElfFile32::<LittleEndian>::parse(bytes.as_slice()) else { return Ok(Vec::new()) };
    let Some(section) = file.section_by_name(SECTION) else { return Ok(Vec::new()) };
    let data = section.data().map_err(|error| bad(format!("{SECTION}: {error}")))?;
    let word = |address: u64| -> Option<u32> {
        let at = usize::try_from(address.checked_sub(section.address())?).ok()?;
        Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
    };
    let mut tests = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.section_index() == Some(section.index())) {
        let Ok(name) = symbol.name() else { continue };
        if name == VERSION_SYMBOL && word(symbol.address()) != Some(VERSION) {
            return Err(bad(
                "tests of another version of embedded-test's protocol than 1; build with embedded-test 0.7"
                    .into(),
            ));
        }
        if !name.starts_with('{') {
            continue;
        }
        let description: Description = serde_json::from_str(name)
            .map_err(|error| bad(format!("{SECTION}: the symbol {name}: {error}")))?;
        let fields: Option<Vec<u32>> = (0..3).map(|index| word(symbol.address() + 4 * index)).collect();
        let cut = || bad(format!("{SECTION}: the test {} is cut short", description.name));
        let [address, module, length] = fields.ok_or_else(cut)?[..] else { return Err(cut()) };
        let module = text_at(&file, module, length).map(|module| format!("{module}::")).unwrap_or_default();
        tests.push(EmbeddedTest {
            name: format!("{module}{}", description.name),
            address,
            ignored: description.ignored,
            should_panic: description.should_panic,
            timeout_s: description.timeout,
        });
    }
    tests.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(tests)
}

/// A text of the program, without the crate's name.
fn text_at(file: &ElfFile32<'_, LittleEndian>, address: u32, length: u32) -> Option<String> {
    let (address, length) = (u64::from(address), u64::from(length));
    let bytes = file.sections().find_map(|section| section.data_range(address, length).ok().flatten())?;
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    Some(text.split_once("::").map_or(text.clone(), |(_, module)| module.to_owned()))
}
