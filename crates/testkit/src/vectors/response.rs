//! The form of NIST's response files: `[section]` lines, and records of `name = value` lines
//! between empty lines.

use std::collections::BTreeMap;
use std::io::Read;

/// One record, with the sections above it.
pub struct Record {
    sections: BTreeMap<String, String>,
    fields: BTreeMap<String, Vec<String>>,
}

impl Record {
    /// The section's value (`[IVlen = 96]`), or nothing where it is bare (`[ENCRYPT]`).
    pub fn section(&self, name: &str) -> Option<&str> {
        self.sections.get(name).map(String::as_str)
    }

    /// Returns true if the record has this field.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A field in hexadecimal that the record has once; empty where it has no value.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        bytes(name, self.text(name))
    }

    /// A field in hexadecimal that the record may have several times, in their order.
    pub fn all_bytes(&self, name: &str) -> Vec<Vec<u8>> {
        self.fields.get(name).into_iter().flatten().map(|digits| bytes(name, digits)).collect()
    }

    /// A field of exactly N bytes.
    pub fn array<const N: usize>(&self, name: &str) -> [u8; N] {
        self.bytes(name).try_into().expect("a field of this length")
    }

    /// A decimal field.
    pub fn number(&self, name: &str) -> usize {
        self.text(name).parse().expect("a decimal number")
    }

    /// A field as it stands, that the record has once.
    pub fn text(&self, name: &str) -> &str {
        match self.fields.get(name).map(Vec::as_slice) {
            Some([value]) => value,
            _ => panic!("a record without one {name}: {:?}", self.fields),
        }
    }
}

fn bytes(name: &str, digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2) && digits.is_ascii(), "{name} = {digits}: not whole bytes");
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits"))
        .collect()
}

/// The records of a compressed file.
pub fn records(name: &str, compressed: &[u8]) -> Vec<Record> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(compressed)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    records_of(&text)
}

/// The records of a file's text.
pub fn records_of(text: &str) -> Vec<Record> {
    let mut all = Vec::new();
    let mut sections = BTreeMap::new();
    let mut fields = BTreeMap::<_, Vec<_>>::new();
    let mut in_sections = false;
    for line in text.lines().chain([""]) {
        let line = line.trim();
        let section = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if !line.starts_with('#') && (line.is_empty() || section.is_some()) && !fields.is_empty() {
            all.push(Record { sections: sections.clone(), fields: std::mem::take(&mut fields) });
        }
        if let Some(section) = section {
            if !in_sections {
                sections.clear();
            }
            let (name, value) = section.split_once('=').unwrap_or((section, ""));
            sections.insert(name.trim().to_owned(), value.trim().to_owned());
        } else if !line.is_empty() && !line.starts_with('#') {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            fields.entry(name.trim().to_owned()).or_default().push(value.trim().to_owned());
        }
        in_sections = section.is_some() || (in_sections && line.is_empty());
    }
    all
}
