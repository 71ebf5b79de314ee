//! Files of a reproduction: charts, and its report as a page or a site. Each place is tried before
//! the work whose outcome it takes.

use crate::page;
use crate::reproduce::Reproduction;
use lab::{LabError, plot};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Room that a folder must have, in bytes: a chart takes up to about 60,000, a page 1,000,000.
const ROOM_BYTES: usize = 2 << 20;

/// Makes a folder if there is none, and tries to write into it.
///
/// # Errors
/// [`LabError::File`] if it cannot be made, cannot be written, or its disk is full.
fn prepare(folder: &Path) -> Result<(), LabError> {
    let failed = |error| LabError::File { path: folder.to_path_buf(), error };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let trial = folder.join(format!(".wattseal-{}", std::process::id()));
    let written = std::fs::write(&trial, vec![0; ROOM_BYTES]);
    let removed = std::fs::remove_file(&trial);
    written.and(removed).map_err(failed)
}

/// Writes a file at once: whoever reads it finds the old text or the new one. The draft is a new
/// file, so that no link in its place leads elsewhere.
fn replace(path: &Path, text: &str) -> Result<(), LabError> {
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

/// The folder that charts are written into.
#[derive(Clone, Debug)]
pub struct ChartFolder {
    path: PathBuf,
    written: usize,
}

impl ChartFolder {
    /// Makes the folder if there is none, and tries to write into it.
    ///
    /// # Errors
    /// [`LabError::File`] if it cannot be made, cannot be written, or its disk is full.
    pub fn make(path: &Path) -> Result<ChartFolder, LabError> {
        prepare(path)?;
        Ok(ChartFolder { path: path.to_path_buf(), written: 0 })
    }

    /// Writes the charts of a paper.
    ///
    /// # Errors
    /// [`LabError::File`] for one that cannot be written, [`LabError::Chart`] for one that cannot
    /// be drawn; the others are written.
    pub fn write(&mut self, outcome: &Reproduction) -> Result<(), LabError> {
        let mut first = Ok(());
        for drawn in &outcome.charts {
            match plot::svg(&drawn.chart).and_then(|text| replace(&self.path.join(&drawn.file), &text)) {
                Ok(()) => self.written += 1,
                Err(error) => first = first.and(Err(error)),
            }
        }
        first
    }

    /// The number of charts and their folder, as a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.written {
            0 => "no chart was drawn".into(),
            1 => format!("1 chart in {}", self.path.display()),
            count => format!("{count} charts in {}", self.path.display()),
        }
    }
}

/// The place of a report: a page for one paper, a site for several.
#[derive(Clone, Debug)]
pub enum ReportPlace {
    /// The page's file.
    Page(PathBuf),
    /// The site.
    Site(Site),
}

/// A folder with a page for each paper, and `index.html`.
#[derive(Clone, Debug)]
pub struct Site {
    folder: PathBuf,
    /// Number of papers that it is to have.
    wanted: usize,
    papers: Vec<page::Entry>,
}

impl ReportPlace {
    /// The file of one paper's page. Its folder is made if there is none, and tried.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a folder or a special file in its place, [`LabError::File`] for a
    /// folder that cannot be written or has no room.
    pub fn page(path: &Path) -> Result<ReportPlace, LabError> {
        // Behind a symbolic link, the page replaces the file and not the link.
        let real = std::fs::canonicalize(path).ok().filter(|_| path.is_symlink());
        let path = real.unwrap_or_else(|| path.to_path_buf());
        if path.is_dir() {
            let shown = path.display();
            return Err(LabError::Usage(format!(
                "--report {shown} is a folder; name a file in it, or reproduce all"
            )));
        }
        let names_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if names_folder || path.exists() && !path.is_file() || path.file_name().is_none() {
            return Err(LabError::Usage(format!("--report {} is no file for a page", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        prepare(folder.unwrap_or(Path::new(".")))?;
        Ok(ReportPlace::Page(path))
    }

    /// The folder of a site for `wanted` papers. It is made if there is none, and tried. Its index
    /// says from now on that papers are missing.
    ///
    /// # Errors
    /// [`LabError::File`] if it cannot be made, cannot be written, or its disk is full.
    pub fn site(folder: &Path, wanted: usize) -> Result<ReportPlace, LabError> {
        prepare(folder)?;
        replace(&folder.join("index.html"), &page::index(&[], wanted))?;
        Ok(ReportPlace::Site(Site { folder: folder.to_path_buf(), wanted, papers: Vec::new() }))
    }

    /// Writes a paper's page, and a site's index with all papers until now.
    ///
    /// # Errors
    /// [`LabError::File`] for one that cannot be written, [`LabError::Chart`] for a chart that
    /// cannot be drawn.
    pub fn write(&mut self, outcome: &Reproduction) -> Result<(), LabError> {
        let text = page::page(outcome, matches!(self, ReportPlace::Site(_)))?;
        match self {
            ReportPlace::Page(path) => replace(path, &text),
            ReportPlace::Site(site) => {
                replace(&site.folder.join(page::file_name(&outcome.id)), &text)?;
                site.papers.push(page::Entry::of(outcome));
                replace(&site.folder.join("index.html"), &page::index(&site.papers, site.wanted))
            }
        }
    }

    /// Its place, as a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            ReportPlace::Page(path) => format!("report in {}", path.display()),
            ReportPlace::Site(site) => format!("report in {}", site.folder.join("index.html").display()),
        }
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
    fn index_of_a_site_is_incomplete_before_the_work() {
        let folder = std::env::temp_dir().join(format!("wattseal-site-{}", std::process::id()));
        ReportPlace::site(&folder, 2).expect("a site");
        let index = std::fs::read_to_string(folder.join("index.html")).expect("an index");
        assert!(index.contains("Incomplete.") && index.contains("0 of 2"), "{index}");
        std::fs::remove_dir_all(&folder).expect("a folder");
    }

    #[test]
    fn a_page_refuses_folders_and_devices() {
        for place in ["/", "/dev/null", "/tmp", "/dev/full", "/tmp/no-such-folder/"] {
            let refused = ReportPlace::page(Path::new(place)).expect_err("refused");
            assert!(refused.is_usage() && refused.to_string().contains("--report"), "{place}: {refused}");
        }
    }
}
