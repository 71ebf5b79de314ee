//! Pages of HTML that ask for nothing beyond themselves, and their files.

use crate::LabError;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io::Write;
use std::path::{Path, PathBuf};

const STYLE: &str = include_str!("page/style.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// A page with this title.
#[must_use]
pub fn document(title: &str, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    document.into_string()
}

/// A picture as the address of an `img`.
#[must_use]
pub fn data_address(svg: &str) -> String {
    format!("data:image/svg+xml,{}", percent_encoded(svg))
}

/// A text as a part of a URI, slashes as they are (RFC 3986).
pub(crate) fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => encoded += &format!("%{byte:02X}"),
        }
        encoded
    })
}

/// Room that a folder must have, in bytes: a chart takes up to about 60,000, a page 1,000,000.
const ROOM_BYTES: usize = 2 << 20;

/// Makes a folder if there is none, and tries to write into it.
///
/// # Errors
/// [`LabError::File`] if it cannot be made, cannot be written, or its disk is full.
pub fn prepare(folder: &Path) -> Result<(), LabError> {
    let failed = |error| LabError::File { path: folder.to_path_buf(), error };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let trial = folder.join(format!(".wattseal-{}", std::process::id()));
    let written = std::fs::write(&trial, vec![0; ROOM_BYTES]);
    let removed = std::fs::remove_file(&trial);
    written.and(removed).map_err(failed)
}

/// Writes a file at once: whoever reads it finds the old text or the new one. The draft is a new
/// file, so that no link in its place leads elsewhere.
///
/// # Errors
/// [`LabError::File`] for a file that cannot be written.
pub fn replace(path: &Path, text: &str) -> Result<(), LabError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let failed = |error| LabError::File { path: path.to_path_buf(), error };
    let mut file = std::fs::File::create_new(&draft).map_err(failed)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&draft, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&draft);
        failed(error)
    })
}

/// The file of a page, tried before the work whose outcome it takes.
#[derive(Clone, Debug)]
pub struct PageFile(PathBuf);

impl PageFile {
    /// Makes its folder if there is none, and tries to write into it.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a folder or a special file in its place, [`LabError::File`] for a
    /// folder that cannot be written or has no room.
    pub fn open(path: &Path) -> Result<PageFile, LabError> {
        // Behind a symbolic link, the page replaces the file and not the link.
        let real = std::fs::canonicalize(path).ok().filter(|_| path.is_symlink());
        let path = real.unwrap_or_else(|| path.to_path_buf());
        if path.is_dir() {
            return Err(LabError::Usage(format!(
                "--report {} is a folder; name a file in it",
                path.display()
            )));
        }
        let names_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if names_folder || path.exists() && !path.is_file() || path.file_name().is_none() {
            return Err(LabError::Usage(format!("--report {} is no file for a page", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        prepare(folder.unwrap_or(Path::new(".")))?;
        Ok(PageFile(path))
    }

    /// Writes the page.
    ///
    /// # Errors
    /// [`LabError::File`] if it cannot be written.
    pub fn write(&self, text: &str) -> Result<(), LabError> {
        replace(&self.0, text)
    }

    /// Its place, as a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        format!("report in {}", self.0.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_never_half_written() {
        let folder = std::env::temp_dir().join(format!("wattseal-report-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("page.html");
        replace(&path, "old").expect("written");
        // The rename fails where a folder stands in the file's place; nothing is left behind.
        std::fs::create_dir_all(folder.join("taken.html/inside")).expect("a folder");
        assert!(replace(&folder.join("taken.html"), "new").is_err());
        let names = std::fs::read_dir(&folder).expect("a folder").count();
        assert_eq!((std::fs::read_to_string(&path).expect("a page").as_str(), names), ("old", 2));
        // A link in the draft's place is not followed.
        let draft = folder.join(format!(".page.html.{}", std::process::id()));
        let other = folder.join("other");
        std::os::unix::fs::symlink(&other, &draft).expect("a link");
        assert!(replace(&path, "new").is_err() && !other.exists());
        std::fs::remove_dir_all(&folder).expect("a folder");
    }

    #[test]
    fn a_page_refuses_folders_and_devices() {
        for place in ["/", "/dev/null", "/tmp", "/dev/full", "/tmp/no-such-folder/"] {
            let refused = PageFile::open(Path::new(place)).expect_err("refused");
            assert!(refused.is_usage() && refused.to_string().contains("--report"), "{place}: {refused}");
        }
    }
}
