//! Names of GNU ld's map (`-Map`), for programs that have none themselves.
//!
//! Behind "Linker script and memory map" each input section has a line with address, size and file,
//! and below it a line with the address for each of its global symbols. A long name of a section
//! has a line of its own.

/// A symbol of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSymbol {
    pub name: String,
    pub address: u32,
    /// Bytes up to the next symbol or the end of the section.
    pub size: u32,
    /// It lies in a section of code.
    pub is_code: bool,
}

/// Beginnings of the names of sections with code.
const CODE: [&str; 5] = [".text", ".init", ".fini", ".start", ".trampolines"];

/// Reads a map.
///
/// # Errors
/// A sentence, where the text is none.
pub fn read(text: &str) -> Result<Vec<MapSymbol>, String> {
    let mut symbols: Vec<MapSymbol> = Vec::new();
    let mut section = Section::default();
    let map = text.split_once("Linker script and memory map");
    let (_, map) = map.ok_or("no map of GNU ld; link with -Wl,-Map=FILE, which writes it")?;
    for line in map.lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        if first.starts_with('.') {
            section.end(&mut symbols);
            section =
                Section { is_code: CODE.iter().any(|code| first.starts_with(code)), ..Section::default() };
            section.range = range(words.next(), words.next());
            continue;
        }
        let Some(address) = number(first) else { continue };
        let rest = line.trim_start()[first.len()..].trim();
        match range(Some(first), words.next()) {
            Some(place) => section.range = section.range.or(Some(place)),
            None if is_symbol(rest) => {
                section.symbols.push(symbols.len());
                let is_code = section.is_code;
                symbols.push(MapSymbol { name: rest.into(), address, size: 0, is_code });
            }
            None => {}
        }
    }
    section.end(&mut symbols);
    match symbols.is_empty() {
        true => Err("no symbols in it; link with -Wl,-Map=FILE, which writes them".into()),
        false => Ok(symbols),
    }
}

/// An input section under way.
#[derive(Default)]
struct Section {
    is_code: bool,
    /// Its first address, and the one behind it.
    range: Option<(u32, u32)>,
    symbols: Vec<usize>,
}

impl Section {
    /// Gives its symbols their sizes.
    fn end(&self, symbols: &mut [MapSymbol]) {
        let Some((_, end)) = self.range else { return };
        let mut addresses: Vec<u32> = self.symbols.iter().map(|index| symbols[*index].address).collect();
        addresses.sort_unstable();
        for index in &self.symbols {
            let symbol = &mut symbols[*index];
            let next = addresses.iter().find(|address| **address > symbol.address);
            symbol.size = next.copied().unwrap_or(end).saturating_sub(symbol.address);
        }
    }
}

/// Address and size as the range that they are.
fn range(address: Option<&str>, size: Option<&str>) -> Option<(u32, u32)> {
    let address = number(address?)?;
    Some((address, address.saturating_add(number(size?)?)))
}

fn number(word: &str) -> Option<u32> {
    u32::try_from(u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()?).ok()
}

/// Returns true if what stands behind an address is a name, and no statement of the script.
fn is_symbol(text: &str) -> bool {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    text.starts_with(is_first)
        && !text.contains(" = ")
        && !text.starts_with("PROVIDE")
        && !text.starts_with("ASSERT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_sizes_are_those_of_the_linker() {
        let text = "\
Discarded input sections

 .text.unused   0x0000000000000000       0x10 a.o
                0x0000000000000000                unused

Linker script and memory map

.text           0x0000000008000000       0x60
 .text.main     0x0000000008000010       0x20 a.o
                0x0000000008000010                main
                0x0000000008000020                second
 .text.a_name_that_is_too_long_for_its_column
                0x0000000008000030       0x2c b.o
                0x0000000008000030                dsp::sum(short const*, int)
                0x0000000008000060                ws_end = .
.bss            0x0000000020000000       0x08
 .bss           0x0000000020000000        0x8 a.o
                0x0000000020000004                counter
                0x0000000020000008                PROVIDE (end = .)
";
        let symbols = read(text).expect("a map");
        let symbols: Vec<(&str, u32, u32, bool)> = symbols
            .iter()
            .map(|symbol| (symbol.name.as_str(), symbol.address, symbol.size, symbol.is_code))
            .collect();
        assert_eq!(
            symbols,
            [
                ("main", 0x0800_0010, 0x10, true),
                ("second", 0x0800_0020, 0x10, true),
                ("dsp::sum(short const*, int)", 0x0800_0030, 0x2c, true),
                ("counter", 0x2000_0004, 4, false),
            ]
        );
        assert!(read("nothing").is_err() && read("Linker script and memory map\n.text 0x0 0x1").is_err());
    }
}
