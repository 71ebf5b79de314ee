//! Output of sdcc's linker: an Intel hex file and a map of names beside it.
//!
//! The map (sdld's `-m`) is a list of areas with address, size and attributes, each followed by its
//! global symbols. C names begin with an underscore there, which is left out here.

use crate::symbols::{Footprint, Function, Symbol};
use ihex::{Reader, Record};
use mcu::{Image, Segment};
use std::collections::BTreeMap;

/// Places of a processor's address spaces among the lab's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spaces {
    /// First address of external data memory; areas marked `XDATA` lie there.
    pub external: u32,
    /// First address of data memory; all areas but code and `XDATA` lie there.
    pub data: u32,
}

/// The bench's own names begin so.
const BENCH: &str = "ws_bench_";

/// Areas with names that begin so hold the vectors of the 68HC08; sdcc does not mark them as code.
const VECTORS: &str = "CODEIVT";

/// Addresses of the 8051's external and internal data memory in the lab.
const EXTERNAL_8051: u32 = 0x10000;
const DATA_8051: u32 = 0x20000;

impl Spaces {
    /// The 8051, whose three memories each begin at 0.
    pub const MCS51: Spaces = Spaces { external: EXTERNAL_8051, data: DATA_8051 };
    /// A processor with one address space.
    pub const LINEAR: Spaces = Spaces { external: 0, data: 0 };
}

/// Contents of the two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The bytes of the hex file.
    pub image: Image,
    /// Global symbols by name. A size reaches to the next symbol or to the end of the area.
    pub symbols: BTreeMap<String, Symbol>,
    /// Those in code, by address, one for each.
    pub functions: Vec<Function>,
    /// All areas together but the bench's own functions and variables. The last of its variables is
    /// part of it: static variables behind that, which the map does not name, would be taken for
    /// it.
    pub footprint: Footprint,
}

/// Reads both.
///
/// # Errors
/// A sentence with what is wrong, and where.
pub fn read(hex: &str, map: &str, spaces: Spaces) -> Result<Program, String> {
    let areas = areas(map, spaces)?;
    let mut symbols = BTreeMap::new();
    let mut functions: BTreeMap<u32, Function> = BTreeMap::new();
    let mut footprint = Footprint { flash: 0, ram: 0 };
    for area in &areas {
        if area.kind == AddressSpace::Code {
            footprint.flash += i64::from(area.size);
        } else {
            footprint.ram += i64::from(area.ram());
        }
        for (index, (address, name)) in area.symbols.iter().enumerate() {
            let end = area.symbols[index..].iter().map(|other| other.0).find(|other| other > address);
            let size = end.unwrap_or(area.end()).saturating_sub(*address);
            symbols.insert(name.clone(), Symbol { address: *address, size });
            if area.kind == AddressSpace::Code {
                if name.starts_with(BENCH) {
                    footprint.flash -= i64::from(size);
                }
                functions.entry(*address).or_insert(Function { name: name.clone(), address: *address, size });
            } else if name.starts_with(BENCH)
                && area.symbols.get(index + 1).is_some_and(|(_, next)| next.starts_with(BENCH))
            {
                footprint.ram -= i64::from(size);
            }
        }
    }
    Ok(Program { image: image(hex)?, symbols, functions: functions.into_values().collect(), footprint })
}

pub(crate) fn image(hex: &str) -> Result<Image, String> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut base = 0u32;
    for (line, record) in Reader::new(hex).enumerate() {
        match record.map_err(|error| format!("record {}: {error}", line + 1))? {
            Record::Data { offset, value } => {
                let address = base.wrapping_add(u32::from(offset));
                match segments.last_mut() {
                    Some(last) if last.address.wrapping_add(last.bytes.len() as u32) == address => {
                        last.bytes.extend(value);
                    }
                    _ => segments.push(Segment { address, bytes: value }),
                }
            }
            Record::ExtendedSegmentAddress(segment) => base = u32::from(segment) << 4,
            Record::ExtendedLinearAddress(upper) => base = u32::from(upper) << 16,
            Record::EndOfFile => break,
            Record::StartSegmentAddress { .. } | Record::StartLinearAddress(_) => {}
        }
    }
    if segments.is_empty() {
        return Err("nothing to load in it".into());
    }
    Ok(Image { segments })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressSpace {
    Code,
    Data,
}

struct Area {
    name: String,
    kind: AddressSpace,
    /// Beginning of its address space.
    base: u32,
    start: u32,
    size: u32,
    absolute: bool,
    /// Sorted by address.
    symbols: Vec<(u32, String)>,
}

impl Area {
    /// The address behind it. An absolute area is listed from 0, wherever it has its first byte;
    /// its first symbol that cannot lie there is taken for that.
    fn end(&self) -> u32 {
        let listed = self.start.saturating_add(self.size);
        let moved = self.symbols.iter().find(|(address, _)| self.absolute && *address >= listed);
        moved.map_or(listed, |(first, _)| first.saturating_add(self.size))
    }

    /// Bytes of RAM that are used up. On the 8051 sdld fits variables and register banks together
    /// and gives their area the whole memory as its size; what is used lies below the stack, which
    /// gets all that is left.
    fn ram(&self) -> u32 {
        match self.name.as_str() {
            "SSEG" if self.base == DATA_8051 => self.start - DATA_8051,
            _ if self.base == DATA_8051 => 0,
            _ => self.size,
        }
    }
}

/// A line that heads an area: `CSEG   00000062    000000E8 =         232. bytes (REL,CON,CODE)`.
fn heading(line: &str) -> Option<(&str, u32, u32, &str)> {
    let (left, attributes) = line.split_once(" bytes (")?;
    let attributes = attributes.trim_end().strip_suffix(')')?;
    let mut words = left.split('=').next()?.split_whitespace().rev();
    let size = u32::from_str_radix(words.next()?, 16).ok()?;
    let address = u32::from_str_radix(words.next()?, 16).ok()?;
    Some((words.next()?, address, size, attributes))
}

/// A line that names a symbol and the module that has it: `C:   00000084  _ws_bench_ready                    a`. Without
/// a module it is one of the linker's constants, a length or a start of an area, and no address of this one.
fn symbol(line: &str) -> Option<(u32, &str)> {
    let mut words = line.split_whitespace();
    let mut address = words.next()?;
    if address.ends_with(':') {
        address = words.next()?;
    }
    // A number of eight digits, so that no word is taken for one.
    let number = (address.len() == 8).then(|| u32::from_str_radix(address, 16).ok())??;
    let name = words.next()?;
    words.next()?;
    Some((number, name.strip_prefix('_').unwrap_or(name)))
}

fn areas(map: &str, spaces: Spaces) -> Result<Vec<Area>, String> {
    let mut areas: Vec<Area> = Vec::new();
    let mut open: Option<usize> = None;
    for line in map.lines() {
        if let Some((name, address, size, attributes)) = heading(line) {
            let has = |wanted| attributes.split(',').any(|attribute| attribute == wanted);
            // The linker's own constants, and the bits of the 8051, which are counted with the
            // bytes that they lie in.
            if has("ABS") && size == 0 || has("BIT") {
                open = None;
                continue;
            }
            let (kind, base) = match (has("CODE") || name.starts_with(VECTORS), has("XDATA")) {
                (true, _) => (AddressSpace::Code, 0),
                (_, true) => (AddressSpace::Data, spaces.external),
                _ => (AddressSpace::Data, spaces.data),
            };
            let start = base.checked_add(address).ok_or_else(|| format!("area {name}: no such address"))?;
            // The heading is repeated at the top of each page.
            open = Some(areas.iter().position(|area| area.name == name).unwrap_or(areas.len()));
            if open == Some(areas.len()) {
                let absolute = has("ABS");
                let name = name.into();
                areas.push(Area { name, kind, base, start, size, absolute, symbols: Vec::new() });
            }
        } else if let (Some(index), Some((address, name))) = (open, symbol(line)) {
            let area = &mut areas[index];
            area.symbols.push((area.base.saturating_add(address), name.to_owned()));
        }
    }
    if areas.is_empty() {
        return Err("no areas in it; give the map that sdld writes with -m".into());
    }
    for area in &mut areas {
        area.symbols.sort();
    }
    Ok(areas)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headings and symbols of a program that sdcc 4.2.0 linked for the 8051, shortened.
    const MAP: &str = "\
Area                                    Addr        Size        Decimal Bytes (Attributes)
--------------------------------        ----        ----        ------- ----- ------------
CABS                                00000000    00000000 =           0. bytes (ABS,CON,CODE)
      Value  Global                              Global Defined In Module
C:   00000001  l_XINIT
.  .ABS.                            00000000    00000000 =           0. bytes (ABS,CON)
     000000A0  __XPAGE
DSEG                                00000000    00000080 =         128. bytes (REL,CON)
     00000020  _ws_aes_block                      aes
SSEG                                00000040    000000C0 =         192. bytes (REL,OVR)
     00000040  __start__stack                     main
XSEG                                00000001    000000F9 =         249. bytes (REL,CON,XDATA)
D:   00000001  _ws_bench_key                      main
D:   000000F1  _ws_bench_key_len                  main
ASxxxx Linker V03.00 + NoICE + sdld,  page 9.
XSEG                                00000001    000000F9 =         249. bytes (REL,CON,XDATA)
D:   000000F4  _big_PARM_2                        a
TABLES                              00000000    00000200 =         512. bytes (ABS,CON,CODE)
C:   00000000  l_TABLES                          
C:   00000210  l_CSEG                            
C:   0000F900  _ws_doubles                        b
C:   0000FA00  _ws_sbox                           b
CSEG                                00000062    00000010 =          16. bytes (REL,CON,CODE)
C:   00000062  _main                              main
C:   0000006A  _ws_bench_ready                    main
";
    const HEX: &str = ":03006200021234 53\n:0400650001020304 8D\n:00000001FF\n";

    #[test]
    fn names_sizes_and_footprint_of_an_8051_program() {
        let program = read(&HEX.replace(' ', ""), MAP, Spaces::MCS51).expect("both files are good");
        let symbol = |name: &str| (program.symbols[name].address, program.symbols[name].size);
        assert_eq!(symbol("ws_bench_key"), (0x10001, 240));
        assert_eq!(symbol("ws_bench_key_len"), (0x100f1, 3));
        assert_eq!(symbol("big_PARM_2"), (0x100f4, 6));
        assert_eq!(symbol("ws_aes_block"), (0x20020, 96));
        assert_eq!(symbol("ws_bench_ready"), (0x6a, 8));
        assert_eq!((symbol("ws_doubles"), symbol("ws_sbox")), ((0xf900, 256), (0xfa00, 256)));
        let functions: Vec<&str> = program.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(functions, ["main", "ws_bench_ready", "ws_doubles", "ws_sbox"]);
        assert_eq!(program.footprint, Footprint { flash: 8 + 512, ram: 0x40 + 249 - 240 });
        let segments = &program.image.segments;
        assert_eq!((segments.len(), segments[0].address), (1, 0x62));
        assert_eq!(segments[0].bytes, [2, 0x12, 0x34, 1, 2, 3, 4]);
    }

    #[test]
    fn reader_refuses_files_that_are_neither_hex_nor_map() {
        assert!(read(HEX, MAP, Spaces::MCS51).unwrap_err().contains("record 1"));
        assert!(read(":00000001FF\n", MAP, Spaces::LINEAR).unwrap_err().contains("nothing to load"));
        assert!(read(&HEX.replace(' ', ""), "no map", Spaces::LINEAR).unwrap_err().contains("no areas"));
    }

    #[test]
    fn any_text_is_read_without_panic() {
        let noise =
            ["X FFFFFFFF FFFFFFFF = 1. bytes (REL)\nC: FFFFFFFF _x\n", "A 0 0 = bytes ()", ") bytes ("];
        for map in noise {
            let _ = read(&HEX.replace(' ', ""), map, Spaces::MCS51);
        }
    }
}
