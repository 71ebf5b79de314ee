//! `--report`: the outcome as a page of HTML.

use clap::Args;
use lab::LabError;
use lab::page::PageFile;
use output::Answer;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct PageArgs {
    /// Write the outcome as a page of HTML into this file: rows, charts, origin; of firmware the
    /// flame graph and a function line by line. A page needs no network
    #[arg(long, value_name = "OUT.html")]
    report: Option<PathBuf>,
}

/// The file of a page, where one is asked for, tried before the work.
pub(crate) struct Page(Option<PageFile>);

impl PageArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.report.is_some()
    }

    pub(crate) fn open(&self) -> Result<Page, LabError> {
        Ok(Page(self.report.as_deref().map(PageFile::open).transpose()?))
    }
}

impl Page {
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Writes the page that `text` makes of the command line. What was measured is still to be had
    /// where that fails.
    pub(crate) fn write(&self, answer: &mut Answer, text: impl FnOnce(&str) -> Result<String, LabError>) {
        let Some(file) = &self.0 else { return };
        let said = match text(&command_line()).and_then(|text| file.write(&text)) {
            Ok(()) => file.summary(),
            Err(error) => {
                answer.success = false;
                error.to_string()
            }
        };
        answer.remark = crate::lines([std::mem::take(&mut answer.remark), format!("wattseal: {said}")]);
    }
}

/// The command line, as a shell reads it.
fn command_line() -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,+%@~".contains(letter);
    let word = |word: std::ffi::OsString| {
        let word = word.to_string_lossy();
        match word.chars().all(is_plain) && !word.is_empty() {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    };
    let rest = std::env::args_os().skip(1).map(word);
    std::iter::once("wattseal".to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
}
