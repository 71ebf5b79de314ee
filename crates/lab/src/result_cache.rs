//! Cached measurements, in files named by the content of all that decides them.

use crate::LabError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Results of an operation's runs, every output as it must be: whole numbers, of which a row is
/// computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Samples {
    /// Of each run, from the call to the return.
    pub(crate) cycles: Vec<u64>,
    /// Deepest stack use seen, in bytes.
    pub(crate) stack_bytes: u32,
    /// Program memory that linking the operation adds, in bytes.
    pub(crate) flash_bytes: i64,
    /// Static RAM that linking the operation adds, in bytes.
    pub(crate) ram_bytes: i64,
    pub(crate) address: u32,
}

/// A hash of contents, one after the other, each set apart from the next.
#[derive(Clone)]
pub(crate) struct Content(Sha256);

impl Content {
    /// Of nothing yet.
    pub(crate) fn new() -> Content {
        Content(Sha256::new())
    }

    /// Returns the content of this program, whatever it is given to do: its own code.
    ///
    /// # Errors
    /// [`LabError::File`] where the program cannot be read.
    pub(crate) fn of_this_program() -> Result<Content, LabError> {
        // It is large, and a file that stands under its name later is not this program.
        static READ: OnceLock<Content> = OnceLock::new();
        if let Some(content) = READ.get() {
            return Ok(content.clone());
        }
        let failed = |error| LabError::File { path: "/proc/self/exe".into(), error };
        // In another program, such as Python, this is a library, and the library decides.
        let here = Content::of_this_program as fn() -> Result<Content, LabError> as usize;
        let mapped = std::fs::read_to_string("/proc/self/maps").ok().and_then(|maps| file_at(&maps, here));
        let path = mapped.map_or_else(std::env::current_exe, Ok).map_err(failed)?;
        let mut content = Content::new();
        content.file(&path)?;
        Ok(READ.get_or_init(|| content).clone())
    }

    /// Takes in some bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Takes in what stands in a file.
    ///
    /// # Errors
    /// [`LabError::File`] where it cannot be read.
    pub(crate) fn file(&mut self, path: &Path) -> Result<(), LabError> {
        let bytes = std::fs::read(path).map_err(|error| LabError::File { path: path.into(), error })?;
        self.bytes(&bytes);
        Ok(())
    }

    /// Takes in a linked program, and the linker's map where one stands beside it.
    ///
    /// # Errors
    /// [`LabError::File`] where one cannot be read.
    pub(crate) fn image(&mut self, path: &Path) -> Result<(), LabError> {
        self.file(path)?;
        let map = path.with_extension("map");
        if map.is_file() {
            self.file(&map)?;
        }
        Ok(())
    }

    /// Its hash, as a name.
    pub(crate) fn name(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

/// Reads what [`keep`] wrote: a line with the hash of the rest, so that a damaged file is known;
/// and none is taken.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = std::fs::read_to_string(path).ok()?;
    let (hash, body) = text.split_once('\n')?;
    if hash != hex(&Sha256::digest(body)) {
        return None;
    }
    serde_json::from_str(body).ok()
}

/// Whole or not at all: another process may be reading. Nothing depends on its being kept.
pub(crate) fn keep<T: Serialize>(path: &Path, what: &T) {
    let Ok(body) = serde_json::to_string(what) else { return };
    let text = format!("{}\n{body}", hex(&Sha256::digest(&body)));
    let Some(folder) = path.parent() else { return };
    // Two threads of one process keep different rows.
    let draft = path.with_extension(std::process::id().to_string());
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&draft, text))
        .and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
}

/// The file that is mapped to an address, by the lines of proc_pid_maps(5): `first-last permissions
/// offset device inode   path`.
fn file_at(maps: &str, address: usize) -> Option<PathBuf> {
    let number = |digits: &str| usize::from_str_radix(digits, 16).ok();
    let mapped = |line: &&str| {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let range = range.and_then(|(first, last)| Some(number(first)?..number(last)?));
        range.is_some_and(|range| range.contains(&address))
    };
    let line = maps.lines().find(mapped)?;
    Some(PathBuf::from(&line[line.find('/')?..]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_none() {
        let folder = std::env::temp_dir().join(format!("wattseal-kept-{}", std::process::id()));
        let path = folder.join("a.json");
        let samples = Samples {
            cycles: vec![2_372_103; 3],
            stack_bytes: 300,
            flash_bytes: 28_168,
            ram_bytes: -4,
            address: 0x0800_0100,
        };
        assert_eq!(read::<Samples>(&path), None, "nothing is there yet");
        keep(&path, &samples);
        assert_eq!(read(&path), Some(samples));
        let text = std::fs::read_to_string(&path).unwrap();
        for damaged in [text.replacen("2372103", "2372104", 1), text[..text.len() - 3].into(), String::new()]
        {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read::<Samples>(&path), None);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_file_that_decides_is_the_one_whose_code_this_is() {
        let maps = "55f0-55f8 r-xp 00000000 08:01 12   /usr/bin/python3.11\n\
                    7f00-7f40 r-xp 00001000 08:01 34   /a b/_native.abi3.so\n\
                    7f40-7f50 rw-p 00000000 00:00 0 \n";
        assert_eq!(file_at(maps, 0x55f0), Some("/usr/bin/python3.11".into()));
        assert_eq!(file_at(maps, 0x7f3f), Some("/a b/_native.abi3.so".into()));
        assert_eq!(file_at(maps, 0x7f40), None);
        assert_eq!(file_at(maps, 0x8000), None);
        let here = file_at as fn(&str, usize) -> Option<PathBuf> as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert_eq!(file_at(&maps, here), std::env::current_exe().ok());
    }

    #[test]
    fn contents_are_set_apart() {
        let of = |pieces: &[&str]| {
            let mut content = Content::new();
            pieces.iter().for_each(|piece| content.bytes(piece.as_bytes()));
            content.0.finalize()
        };
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab", "c"]), of(&["abc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
    }
}
