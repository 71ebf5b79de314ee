//! Makers' key files: CSV with a line of names.

use crate::mbus_meter::MbusMeterId;
use crate::registry::{MbusKey, MbusMeter};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A key file is no longer, in bytes.
const BYTES_MAX: u64 = 16 << 20;

/// The names that columns have, in lower case and without anything but letters and digits.
const MAKERS: &[&str] = &["maker", "manufacturer", "mfct", "man", "mid", "hersteller"];
const NUMBERS: &[&str] = &[
    "id",
    "identification",
    "identificationnumber",
    "serial",
    "serialnumber",
    "serialno",
    "meterid",
    "meter",
    "meternumber",
    "number",
    "address",
    "deviceid",
    "zählernummer",
    "seriennummer",
];
const KEYS: &[&str] =
    &["key", "aeskey", "aes", "keyhex", "encryptionkey", "decryptionkey", "aes128key", "schlüssel"];
const VERSIONS: &[&str] = &["version", "ver", "generation"];
const TYPES: &[&str] = &["type", "devicetype", "medium"];

/// A key file that is not imported. Nothing of it names a key.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    /// More than any key file has.
    #[error("{path}: {bytes} bytes; a key file has up to {BYTES_MAX}")]
    TooLong { path: PathBuf, bytes: u64 },
    /// It is no table.
    #[error("{path}, line {line}: no CSV in UTF-8 with as many fields as its first line names")]
    Csv { path: PathBuf, line: u64 },
    /// A column that is missing, or there twice.
    #[error("{path}, line 1: {problem}")]
    Header { path: PathBuf, problem: String },
    /// A field that is not what its column has.
    #[error("{path}, line {line}, column {column:?}: {problem}")]
    Field { path: PathBuf, line: u64, column: String, problem: &'static str },
}

/// The places of the columns.
struct Columns {
    names: Vec<String>,
    maker: Option<usize>,
    number: usize,
    key: usize,
    version: Option<usize>,
    device_type: Option<usize>,
}

/// Reads a maker's key file. unauthenticated: takes telegrams of these meters that nothing
/// authenticates. An empty key is of a meter that does not encrypt.
///
/// # Errors
/// [`ImportError`], with line and column, and without any key.
pub fn read_key_file(path: &Path, unauthenticated: bool) -> Result<Vec<MbusMeter>, ImportError> {
    let file = |error| ImportError::File { path: path.into(), error };
    let bytes = std::fs::metadata(path).map_err(file)?.len();
    if bytes > BYTES_MAX {
        return Err(ImportError::TooLong { path: path.into(), bytes });
    }
    let text = std::fs::read(path).map(Zeroizing::new).map_err(file)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    read(path, text, unauthenticated)
}

fn read(path: &Path, text: &[u8], unauthenticated: bool) -> Result<Vec<MbusMeter>, ImportError> {
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |wanted: u8| first.iter().filter(|&&byte| byte == wanted).count();
    let delimiter = [b',', b';', b'\t'].into_iter().max_by_key(|&byte| count(byte)).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text);
    let line = |error: &csv::Error| error.position().map_or(1, csv::Position::line);
    // The crate's own message may show fields.
    let wrong = |error: csv::Error| ImportError::Csv { path: path.into(), line: line(&error) };
    let columns = Columns::find(path, reader.headers().map_err(wrong)?)?;
    let mut meters: BTreeMap<MbusMeterId, MbusMeter> = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(wrong)?;
        let line = row.position().map_or(0, csv::Position::line);
        let meter = columns.meter(path, line, &row, unauthenticated)?;
        if meters.insert(meter.meter, meter).is_some() {
            return Err(columns.wrong(path, line, columns.number, "the meter is in the file twice"));
        }
    }
    Ok(meters.into_values().collect())
}

impl Columns {
    fn find(path: &Path, header: &csv::StringRecord) -> Result<Columns, ImportError> {
        let plain = |name: &str| {
            name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
        };
        let names: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        let wrong = |problem: String| ImportError::Header { path: path.into(), problem };
        let find = |of: &[&str]| {
            let mut found = (0..names.len()).filter(|&at| of.contains(&&*plain(&names[at])));
            match (found.next(), found.next()) {
                (first, None) => Ok(first),
                (first, Some(second)) => {
                    let names = [first.unwrap_or(0), second].map(|at| shown(&names[at]));
                    Err(wrong(format!("columns {names:?} have the same meaning; take one away")))
                }
            }
        };
        let needed = |of: &[&str], example: &str| {
            find(of)?.ok_or_else(|| wrong(format!("no column of this meaning: name it {example:?}")))
        };
        Ok(Columns {
            maker: find(MAKERS)?,
            number: needed(NUMBERS, "id")?,
            key: needed(KEYS, "key")?,
            version: find(VERSIONS)?,
            device_type: find(TYPES)?,
            names: names.clone(),
        })
    }

    fn wrong(&self, path: &Path, line: u64, column: usize, problem: &'static str) -> ImportError {
        ImportError::Field { path: path.into(), line, column: shown(&self.names[column]), problem }
    }

    fn meter(
        &self,
        path: &Path,
        line: u64,
        row: &csv::StringRecord,
        unauthenticated: bool,
    ) -> Result<MbusMeter, ImportError> {
        let field = |column: usize| row.get(column).unwrap_or_default().trim();
        let number = field(self.number);
        let meter = match self.maker {
            // A spreadsheet takes the zeros in front of a number away.
            Some(maker) => MbusMeterId::new(field(maker), &format!("{number:0>8}"))
                .map_err(|_| (maker, "three letters, such as ELS, and the number has to be eight digits")),
            None => number
                .parse()
                .map_err(|_| (self.number, "without a column \"manufacturer\" write ELS-12345678")),
        };
        let meter = meter.map_err(|(column, problem)| self.wrong(path, line, column, problem))?;
        let hex = Zeroizing::new(field(self.key).replace([' ', '-', ':'], ""));
        let hex = hex.strip_prefix("0x").unwrap_or(&hex);
        let key = match hex {
            "" => None,
            hex => Some(MbusKey::from_hex(hex).ok_or_else(|| {
                self.wrong(path, line, self.key, "a key has 32 hexadecimal digits; or leave it empty")
            })?),
        };
        let byte = |column: Option<usize>| {
            let Some((column, text)) =
                column.map(|column| (column, field(column))).filter(|(_, text)| !text.is_empty())
            else {
                return Ok(None);
            };
            let digits = text.strip_prefix("0x").unwrap_or(text);
            u8::from_str_radix(digits, 16)
                .map(Some)
                .map_err(|_| self.wrong(path, line, column, "two hexadecimal digits, or leave it empty"))
        };
        let (version, device_type) = (byte(self.version)?, byte(self.device_type)?);
        Ok(MbusMeter { meter, key, version, device_type, unauthenticated })
    }
}

/// A column's name as it is shown: one that could be a key, of a file without names, is not.
fn shown(name: &str) -> String {
    let digits = name.chars().filter(char::is_ascii_hexdigit).count();
    if digits >= 16 {
        "(a name with many hexadecimal digits)".into()
    } else {
        name.chars().take(40).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0102030405060708090A0B0C0D0E0F11";

    fn import(text: &str) -> Result<Vec<MbusMeter>, String> {
        read(Path::new("keys.csv"), text.as_bytes(), false).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_found_by_their_names() {
        for text in [
            format!("Manufacturer,Serial number,AES key\nELS,12345678,{KEY}\n"),
            format!("key;ID;Type;Version;Mfct\r\n{};12345678;03;33;els\r\n", KEY.to_lowercase()),
            format!("id\tkey\nELS-12345678\t{KEY}\n"),
        ] {
            let meters = import(&text).expect(&text);
            assert_eq!(meters.len(), 1);
            assert_eq!(meters[0].meter.to_string(), "ELS-12345678");
            assert_eq!(meters[0].key, MbusKey::from_hex(KEY));
            assert_eq!(meters[0].device_type, text.contains("Type").then_some(3));
            assert_eq!(meters[0].version, text.contains("Type").then_some(0x33));
        }
        let meters = import("maker,id,key\nQDS,55667,\n").expect("without a key");
        assert_eq!((meters[0].meter.to_string(), &meters[0].key), ("QDS-00055667".into(), &None));
    }

    #[test]
    fn error_names_line_and_column_and_never_a_key() {
        let wrong_key = format!("{}ZZ", &KEY[..30]);
        for (text, line, column) in [
            (format!("maker,id,key\nELS,12345678,{KEY}\nELS,12345679,{wrong_key}\n"), "line 3", "\"key\""),
            (format!("maker,id,key\nELS,123456789,{KEY}\n"), "line 2", "\"maker\""),
            (format!("maker,id,key\nELS,12345678,{KEY},{KEY}\n"), "line 2", "fields"),
            (format!("maker,id,key,version\nELS,12345678,{KEY},333\n"), "line 2", "\"version\""),
            (format!("maker,id,key\nELS,12345678,{KEY}\nELS,12345678,{KEY}\n"), "line 3", "twice"),
            (format!("ELS,12345678,{KEY}\n"), "line 1", "\"id\""),
            (format!("id,key,{KEY}key,aes key\nELS-12345678,{KEY},,\n"), "line 1", "same meaning"),
            ("\u{0}\n".to_owned(), "line 1", ""),
        ] {
            let error = import(&text).expect_err(&text);
            assert!(error.contains(line) && error.contains(column), "{error}");
            assert!(!error.contains(&KEY[..8]) && !error.contains(&KEY.to_lowercase()[..8]), "{error}");
        }
        assert!(read(Path::new("keys.csv"), b"id,key\n\xff\xff,\xff\n", false).is_err());
    }
}
