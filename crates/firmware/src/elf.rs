//! Linked firmware: what is loaded where, and what the addresses are called. ELF files; sdcc's hex
//! files with their map; images without names.

mod bare;

pub use bare::Loading;

use crate::sdld;
use crate::symbols::{Footprint, Function, Mark, Symbol};
use crate::{FirmwareError, names, suggestion};
use mcu::{CoreName, Image, Segment};
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{
    LittleEndian, Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionFlags, SymbolKind, elf,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A firmware image with its names.
pub struct Firmware {
    path: PathBuf,
    image: Image,
    core: CoreName,
    symbols: BTreeMap<String, Symbol>,
    /// Sorted by address, one for each.
    functions: Vec<Function>,
    /// Sorted by address.
    marks: Vec<Mark>,
    footprint: Footprint,
    pieces: Vec<(String, u32)>,
    /// Ranges of its instructions.
    code: Vec<Range<u32>>,
    /// The part that it is built for, where it says so.
    device: Option<String>,
    /// It is for that part alone, as a UF2 file is.
    is_device_certain: bool,
    /// It says how much RAM its variables take.
    has_sections: bool,
    /// The file's format, as a noun.
    format: &'static str,
    /// One look-up at a time: the reader fills its caches as it goes.
    lines: Option<Mutex<addr2line::Loader>>,
}

impl Firmware {
    /// As [`Firmware::read_with`] of a file that says all itself.
    ///
    /// # Errors
    /// As [`Firmware::read_with`].
    pub fn read(path: &Path, core: CoreName) -> Result<Firmware, FirmwareError> {
        Firmware::read_with(path, core, &Loading::default())
    }

    /// Reads an ELF file and checks that it is for `core`; an Intel hex file (`.ihx`, `.hex`) with
    /// the map of sdcc's linker beside it, for the processors that sdcc builds for; or Intel HEX,
    /// S-records, UF2 or a raw binary, which have no names.
    ///
    /// # Errors
    /// [`FirmwareError::File`] where it cannot be read, [`FirmwareError::OtherKind`] where it is no
    /// executable firmware for that processor, [`FirmwareError::BadFile`] where it is damaged.
    pub fn read_with(path: &Path, core: CoreName, loading: &Loading) -> Result<Firmware, FirmwareError> {
        let mut firmware = Firmware::read_format(path, core, loading)?;
        if let Some(map) = &loading.map {
            firmware.take_map(map)?;
        }
        Ok(firmware)
    }

    fn read_format(path: &Path, core: CoreName, loading: &Loading) -> Result<Firmware, FirmwareError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let has_map = path.with_extension("map").is_file();
        let is_sdcc_s = extension == Some("ihx") || extension == Some("hex") && has_map;
        if let Some(spaces) = sdld_spaces(core).filter(|_| is_sdcc_s) {
            return Firmware::read_hex(path, core, spaces);
        }
        let bytes = std::fs::read(path).map_err(|error| FirmwareError::File { path: path.into(), error })?;
        let bad = |problem: String| FirmwareError::BadFile { path: path.into(), problem };
        let other = |problem: String| FirmwareError::OtherKind { path: path.into(), problem };
        if let Some(bare) = bare::read(&bytes, loading.base).map_err(bad)? {
            return Ok(Firmware::of_bare(path, core, bare));
        }
        if let Some(kind) = other_kind(&bytes) {
            return Err(other(kind.into()));
        }
        let file = ElfFile32::<LittleEndian>::parse(bytes.as_slice())
            .map_err(|error| bad(format!("an ELF file that is damaged ({error}); link it again")))?;
        let header = file.elf_header();
        let machine = header.e_machine(LittleEndian);
        if machine != elf_machine(core) {
            return Err(other(format!(
                "built for {}, but the target's processor is {}; choose another --target or build for this one",
                machine_name(machine),
                machine_name(elf_machine(core)),
            )));
        }
        if header.e_type(LittleEndian) != elf::ET_EXEC {
            return Err(other("not linked: give the executable, not an object file or a library".into()));
        }
        let segments = load_segments(&file, &bytes)
            .ok_or_else(|| bad("a load segment lies outside the file; the file is cut short".into()))?;
        if segments.is_empty() {
            return Err(bad("nothing to load in it".into()));
        }
        let thumb = machine == elf::EM_ARM;
        let (symbols, functions) = names_of(&file, thumb);
        let footprint = footprint(&file, &symbols);
        let pieces = pieces(&file);
        let lines = addr2line::Loader::new(path).ok().map(Mutex::new);
        let (mut functions, marks) = functions;
        name_start_up(&symbols, &mut functions);
        Ok(Firmware {
            path: path.into(),
            image: Image { segments },
            core,
            symbols,
            functions,
            marks,
            footprint,
            pieces,
            code: code(&file),
            device: device(&file),
            is_device_certain: false,
            has_sections: file.sections().next().is_some(),
            format: "an ELF file",
            lines,
        })
    }

    fn read_hex(path: &Path, core: CoreName, spaces: sdld::Spaces) -> Result<Firmware, FirmwareError> {
        let text = |path: &Path| {
            std::fs::read_to_string(path).map_err(|error| FirmwareError::File { path: path.into(), error })
        };
        let hex = text(path)?;
        let map_path = path.with_extension("map");
        if !map_path.is_file() {
            let problem = format!(
                "{} is not beside it; link with sdcc (or sdld -m), which writes the map, and keep both files together",
                map_path.display()
            );
            return Err(FirmwareError::BadFile { path: path.into(), problem });
        }
        let map = text(&map_path)?;
        let program = sdld::read(&hex, &map, spaces)
            .map_err(|problem| FirmwareError::BadFile { path: path.into(), problem })?;
        let in_image = |address: u32| {
            program.image.segments.iter().any(|segment| {
                address.checked_sub(segment.address).is_some_and(|at| (at as usize) < segment.bytes.len())
            })
        };
        let named = program.symbols.iter().filter(|(_, symbol)| in_image(symbol.address));
        let pieces = named.map(|(name, symbol)| (name.clone(), symbol.size)).collect();
        let segments = program.image.segments.iter();
        let code = segments.map(|segment| segment.address..segment.address + segment.bytes.len() as u32);
        Ok(Firmware {
            path: path.into(),
            pieces,
            code: code.collect(),
            device: None,
            is_device_certain: false,
            has_sections: true,
            format: "an Intel hex file",
            image: program.image,
            core,
            symbols: program.symbols,
            functions: program.functions,
            marks: Vec::new(),
            footprint: program.footprint,
            lines: None,
        })
    }

    /// The processor that it is for.
    #[must_use]
    pub fn core(&self) -> CoreName {
        self.core
    }

    /// The part that it is built for, as the compiler calls it, where the file says so (avr-gcc's
    /// do).
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Returns true if there is an instruction of the program at an address.
    #[must_use]
    pub fn is_code(&self, address: u32) -> bool {
        self.code.iter().any(|code| code.contains(&address))
    }

    /// The marks that kernels set between their modules, by address.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The functions that the compiler inlined into each other at an address, innermost first; none
    /// where the file does not tell.
    #[must_use]
    pub fn inlined(&self, address: u32) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(lines) = self.lines()
            && let Ok(mut frames) = lines.find_frames(u64::from(address))
        {
            while let Ok(Some(frame)) = frames.next() {
                names.extend(frame.function.and_then(|name| Some(name.raw_name().ok()?.into_owned())));
            }
        }
        names
    }

    /// Returns the path from which it was read.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes that are loaded.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the memory that it takes up.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// All functions, by address.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// All symbols by name.
    #[must_use]
    pub fn symbols(&self) -> &BTreeMap<String, Symbol> {
        &self.symbols
    }

    /// A symbol by its exact name, a function also as [`Firmware::function`] finds it; or an
    /// address.
    ///
    /// # Errors
    /// [`FirmwareError::UnknownName`] with the nearest names, [`FirmwareError::SeveralNames`].
    pub fn symbol(&self, name: &str) -> Result<Symbol, FirmwareError> {
        if let Some(symbol) = self.symbols.get(name) {
            return Ok(*symbol);
        }
        if let Some(address) = names::address(name) {
            let mask = if elf_machine(self.core) == elf::EM_ARM { !1 } else { !0 };
            return Ok(Symbol { address: address & mask, size: 0 });
        }
        match self.function_named(name)? {
            Some(index) => {
                let Function { address, size, .. } = self.functions[index];
                Ok(Symbol { address, size })
            }
            None => Err(FirmwareError::UnknownName {
                what: "symbol",
                name: name.into(),
                suggestion: suggestion(name, self.symbols.keys().map(String::as_str)),
            }),
        }
    }

    /// A function by its name or the last parts of it (`encryptBlock`, `fw::hash`), or by an
    /// address in it; as an index into [`Firmware::functions`].
    ///
    /// # Errors
    /// [`FirmwareError::UnknownName`] with the nearest names, [`FirmwareError::SeveralNames`].
    pub fn function(&self, name: &str) -> Result<usize, FirmwareError> {
        let addressed = || names::address(name).and_then(|address| self.function_at(address));
        self.function_named(name)?.or_else(addressed).ok_or_else(|| FirmwareError::UnknownName {
            what: "function",
            name: name.into(),
            suggestion: suggestion(name, self.functions.iter().map(|function| function.name.as_str())),
        })
    }

    /// The function of a name, of a symbol at its beginning, or of which these are the last parts.
    fn function_named(&self, name: &str) -> Result<Option<usize>, FirmwareError> {
        let begins_at =
            |address: u32| self.functions.binary_search_by_key(&address, |known| known.address).ok();
        if let Some(index) = self.symbols.get(name).and_then(|symbol| begins_at(symbol.address)) {
            return Ok(Some(index));
        }
        let all = || self.functions.iter().enumerate();
        if let Some((index, _)) = all().find(|(_, function)| function.name == name) {
            return Ok(Some(index));
        }
        let found: Vec<usize> = all()
            .filter(|(_, function)| names::names(name, &function.name))
            .map(|(index, _)| index)
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [index] => Ok(Some(*index)),
            several => Err(FirmwareError::SeveralNames {
                name: name.into(),
                several: several
                    .iter()
                    .map(|index| self.functions[*index].name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    /// The function that an address lies in, as an index into [`Firmware::functions`].
    #[must_use]
    pub fn function_at(&self, address: u32) -> Option<usize> {
        let index = self.functions.partition_point(|function| function.address <= address).checked_sub(1)?;
        let Function { address: begin, size, .. } = self.functions[index];
        // One without a size ends where the code does that it lies in.
        let in_code = || self.code.iter().any(|code| code.contains(&begin) && code.contains(&address));
        let inside = if size == 0 { address == begin || in_code() } else { address - begin < size };
        inside.then_some(index)
    }

    /// Function and source line of an address, for an error message: ` in main at main.c:12`; where
    /// it is none of the program's instructions, that it is none.
    #[must_use]
    pub fn place(&self, address: u32) -> String {
        if !self.is_code(address) {
            return " outside of the program's code".into();
        }
        let mut place = String::new();
        if let Some(index) = self.function_at(address) {
            let function = &self.functions[index];
            place += &format!(" in {}+{:#x}", function.name, address - function.address);
        }
        if let Some((file, line)) = self.source_line(address) {
            place += &format!(" at {file}:{line}");
        }
        place
    }

    /// Source file and line of an address, where the file has line numbers.
    #[must_use]
    pub fn source_line(&self, address: u32) -> Option<(String, u32)> {
        let lines = self.lines()?;
        let location = lines.find_location(u64::from(address)).ok()??;
        Some((location.file?.to_owned(), location.line?))
    }

    /// The functions and tables in program memory with their sizes, and the tables that start-up
    /// copies from there. Two of a file's own may have the same name.
    #[must_use]
    pub fn pieces(&self) -> &[(String, u32)] {
        &self.pieces
    }

    pub(crate) fn lines(&self) -> Option<MutexGuard<'_, addr2line::Loader>> {
        self.lines.as_ref().map(|lines| lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The variable or table that an address lies in, with the offset: `ws_sbox+0x1f`.
    #[must_use]
    pub fn object_at(&self, address: u32) -> Option<String> {
        let within = |symbol: &Symbol| address.wrapping_sub(symbol.address) < symbol.size;
        let (name, symbol) = self.symbols.iter().find(|(_, symbol)| within(symbol))?;
        Some(format!("{name}+{:#x}", address - symbol.address))
    }
}

/// Returns the bytes that a programmer writes: the sections within each load segment, at load
/// addresses. Bytes between them, such as the ELF header that some linkers put into the first
/// segment, are no part of the firmware. Without a section table it is the whole segments. `None`
/// where the file is too short.
fn load_segments(file: &ElfFile32<LittleEndian>, bytes: &[u8]) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    for program in file.elf_program_headers() {
        if program.p_type(LittleEndian) != elf::PT_LOAD || program.p_filesz(LittleEndian) == 0 {
            continue;
        }
        let data = program.data(LittleEndian, bytes).ok()?;
        let (offset, load) = (u64::from(program.p_offset(LittleEndian)), program.p_paddr(LittleEndian));
        if file.sections().next().is_none() {
            segments.push(Segment { address: load, bytes: data.to_vec() });
        }
        for section in file.sections() {
            let Some((start, size)) = section.file_range() else { continue };
            if size == 0
                || !has_flag(&section, elf::SHF_ALLOC)
                || start < offset
                || start - offset >= data.len() as u64
            {
                continue;
            }
            let start = (start - offset) as usize;
            let bytes = data.get(start..start + usize::try_from(size).ok()?)?.to_vec();
            segments.push(Segment { address: load.wrapping_add(start as u32), bytes });
        }
    }
    Some(segments)
}

/// Returns the places of sdcc's areas, for the processors that it builds for.
fn sdld_spaces(core: CoreName) -> Option<sdld::Spaces> {
    match core {
        CoreName::Mcs51 => Some(sdld::Spaces::MCS51),
        CoreName::Hc08 => Some(sdld::Spaces::LINEAR),
        _ => None,
    }
}

fn elf_machine(core: CoreName) -> u16 {
    match core {
        CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => elf::EM_AVR,
        CoreName::Hc08 => elf::EM_68HC08,
        CoreName::Mcs51 => elf::EM_8051,
        CoreName::Msp430x => elf::EM_MSP430,
        CoreName::R8c => elf::EM_M32C,
        CoreName::QingkeV2 => elf::EM_RISCV,
        CoreName::CortexM0
        | CoreName::CortexM0Plus
        | CoreName::CortexM3
        | CoreName::CortexM4
        | CoreName::CortexM7 => elf::EM_ARM,
    }
}

fn machine_name(machine: u16) -> String {
    match machine {
        elf::EM_AVR => "AVR".into(),
        elf::EM_MSP430 => "MSP430".into(),
        elf::EM_ARM => "ARM".into(),
        elf::EM_X86_64 | elf::EM_386 => "x86".into(),
        elf::EM_AARCH64 => "AArch64".into(),
        elf::EM_RISCV => "RISC-V".into(),
        other => format!("ELF machine {other}"),
    }
}

/// Functions by address, and marks by address.
type CodeLabels = (Vec<Function>, Vec<Mark>);

/// Beginning of avr-libc's programs: the table of vectors. The first one jumps to the code that
/// sets up stack and data and calls `main`.
const AVR_VECTORS: &str = "__vectors";
/// Name of that code: the table's other names are those of interrupts.
const START_UP: &str = "(start-up)";

/// Calls an AVR's start-up by what it is.
fn name_start_up(symbols: &BTreeMap<String, Symbol>, functions: &mut [Function]) {
    let Some(vectors) = symbols.get(AVR_VECTORS) else { return };
    if let Ok(index) = functions.binary_search_by_key(&vectors.address, |function| function.address) {
        functions[index].name = START_UP.into();
    }
}

/// Names the kind of a file that is no 32-bit little-endian ELF file.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    const ELF32_LITTLE: [u8; 6] = [0x7f, b'E', b'L', b'F', 1, 1];
    match bytes {
        [] => Some("an empty file; link it again"),
        [b'!', b'<', b'a', b'r', ..] => Some("a library; give the program that is linked with it"),
        [0x7f, b'E', b'L', b'F', 2, ..] => {
            Some("a 64-bit ELF file, such as this computer's; build it for the target")
        }
        [0x7f, b'E', b'L', b'F', _, 2, ..] => Some("a big-endian ELF file; build it for the target"),
        _ if bytes.starts_with(&ELF32_LITTLE) => None,
        [0x7f, b'E', b'L', b'F', ..] => Some("the beginning of an ELF file; link it again"),
        _ => Some(
            "a file of another format, and neither an ELF file, Intel HEX, S-records nor UF2; of a raw binary say where it lies, with --base 0x8000000",
        ),
    }
}

fn names_of(file: &ElfFile32<LittleEndian>, thumb: bool) -> (BTreeMap<String, Symbol>, CodeLabels) {
    let mut symbols = BTreeMap::new();
    // Sorted so that of several names at one address a global function comes first, and one that
    // gives way to others last.
    let mut labels: Vec<(u32, u8, Function)> = Vec::new();
    let mut marks: Vec<Mark> = Vec::new();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if name.is_empty() || name.starts_with('$') || name.starts_with(".L") {
            continue;
        }
        let Some(section) = symbol.section_index().and_then(|index| file.section_by_index(index).ok()) else {
            symbols
                .entry(name.to_owned())
                .or_insert(Symbol { address: symbol.address() as u32, size: symbol.size() as u32 });
            continue;
        };
        let executable = has_flag(&section, elf::SHF_EXECINSTR);
        let is_function = symbol.kind() == SymbolKind::Text;
        let is_label = executable && matches!(symbol.kind(), SymbolKind::Label | SymbolKind::Unknown);
        let mask = if thumb && is_function { !1 } else { !0 };
        let entry = Symbol { address: symbol.address() as u32 & mask, size: symbol.size() as u32 };
        symbols.entry(name.to_owned()).or_insert(entry);
        if is_label && let Some(mark) = Mark::of(name, entry.address) {
            marks.push(mark);
        } else if executable && (is_function || is_label) {
            let rank =
                4 * u8::from(!is_function) + 2 * u8::from(!symbol.is_global()) + u8::from(symbol.is_weak());
            let function = Function { name: name.to_owned(), address: entry.address, size: entry.size };
            labels.push((entry.address, rank, function));
        }
    }
    labels.sort_by(|a, b| (a.0, a.1, &a.2.name).cmp(&(b.0, b.1, &b.2.name)));
    labels.dedup_by_key(|label| label.0);
    marks.sort_by_key(|mark| mark.address);
    let mut functions: Vec<Function> = labels.into_iter().map(|label| label.2).collect();
    names::demangle(&mut functions);
    (symbols, (functions, marks))
}

/// Returns the ranges of a file's instructions: its executable sections, or its load segments where
/// it has no sections.
fn code(file: &ElfFile32<LittleEndian>) -> Vec<Range<u32>> {
    let ranged = |address: u64, size: u64| address as u32..(address as u32).saturating_add(size as u32);
    let executed = file.sections().filter(|section| has_flag(section, elf::SHF_EXECINSTR));
    let sections: Vec<Range<u32>> =
        executed.map(|section| ranged(section.address(), section.size())).collect();
    if !sections.is_empty() {
        return sections;
    }
    file.segments().map(|segment| ranged(segment.address(), segment.size())).collect()
}

/// The part's name in the note that avr-gcc leaves: behind the note's head and the part's memories
/// a table of names.
fn device(file: &ElfFile32<LittleEndian>) -> Option<String> {
    // Sizes of name and description, type, `AVR`; first address and size of flash, RAM and EEPROM;
    // the size of a table of offsets.
    const HEAD: usize = 16 + 6 * 4;
    let section = file.section_by_name(".note.gnu.avr.deviceinfo")?;
    let bytes = section.data().ok()?;
    let offsets = u32::from_le_bytes(bytes.get(HEAD..HEAD + 4)?.try_into().ok()?) as usize;
    let mut names = bytes.get(HEAD + 4..)?.get(offsets.checked_sub(4)?..)?.split(|byte| *byte == 0);
    let name = names.find(|name| !name.is_empty())?;
    std::str::from_utf8(name).ok().map(str::to_owned)
}

fn has_flag<'a>(section: &impl ObjectSection<'a>, flag: u32) -> bool {
    matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & u64::from(flag) != 0)
}

/// Returns the pieces of program memory that have a size, one name for each address.
fn pieces(file: &ElfFile32<LittleEndian>) -> Vec<(String, u32)> {
    let mut pieces = BTreeMap::new();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        let Some(section) = symbol.section_index().and_then(|index| file.section_by_index(index).ok()) else {
            continue;
        };
        let zeroed = section.kind() == object::SectionKind::UninitializedData;
        if symbol.size() > 0 && has_flag(&section, elf::SHF_ALLOC) && !zeroed {
            pieces.entry(symbol.address()).or_insert((name.to_owned(), symbol.size() as u32));
        }
    }
    pieces.into_values().collect()
}

/// First address on an AVR of the memory that no program reads as its own: EEPROM, fuses, lock
/// bits, signature.
const AVR_APART: u32 = 0x81_0000;

fn footprint(file: &ElfFile32<LittleEndian>, symbols: &BTreeMap<String, Symbol>) -> Footprint {
    let mut footprint = Footprint { flash: 0, ram: 0 };
    for section in file.sections() {
        if !has_flag(&section, elf::SHF_ALLOC) {
            continue;
        }
        let start = section.address() as u32;
        if file.elf_header().e_machine(LittleEndian) == elf::EM_AVR && start >= AVR_APART {
            continue;
        }
        let range = start..start.saturating_add(section.size() as u32);
        let bench: i64 = symbols
            .iter()
            .filter(|(name, symbol)| name.starts_with("ws_bench_") && range.contains(&symbol.address))
            .map(|(_, symbol)| i64::from(symbol.size))
            .sum();
        let bytes = section.size() as i64 - bench;
        let zeroed = section.kind() == object::SectionKind::UninitializedData;
        if !zeroed {
            footprint.flash += bytes;
        }
        // Tables that start-up copies to RAM are not writable when nothing else lies beside them.
        let copied = file.elf_program_headers().iter().any(|program| {
            let (runs, loads) = (program.p_vaddr(LittleEndian), program.p_paddr(LittleEndian));
            runs != loads && start.wrapping_sub(runs) < program.p_memsz(LittleEndian)
        });
        if copied || has_flag(&section, elf::SHF_WRITE) {
            footprint.ram += bytes;
        }
    }
    footprint
}
