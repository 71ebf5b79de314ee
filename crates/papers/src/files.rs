//! Files of a reproduction: charts, and its report as a page or a site. Each place is tried before
//! the work whose outcome it takes.

use crate::page;
use crate::reproduce::Reproduction;
use lab::page::{PageFile, prepare, replace};
use lab::{LabError, plot};
use std::path::{Path, PathBuf};

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
    Page(PageFile),
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
    /// [`PageFile::open`]'s.
    pub fn page(path: &Path) -> Result<ReportPlace, LabError> {
        PageFile::open(path).map(ReportPlace::Page)
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
            ReportPlace::Page(file) => file.write(&text),
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
            ReportPlace::Page(file) => file.summary(),
            ReportPlace::Site(site) => format!("report in {}", site.folder.join("index.html").display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_of_a_site_is_incomplete_before_the_work() {
        let folder = std::env::temp_dir().join(format!("wattseal-site-{}", std::process::id()));
        ReportPlace::site(&folder, 2).expect("a site");
        let index = std::fs::read_to_string(folder.join("index.html")).expect("an index");
        assert!(index.contains("Incomplete.") && index.contains("0 of 2"), "{index}");
        std::fs::remove_dir_all(&folder).expect("a folder");
    }
}
