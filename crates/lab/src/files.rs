//! The project's files: in a folder, or in the program itself.

use std::fmt::{Debug, Formatter};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The project's files in a program: paths from the project's folder, and what stands there.
#[derive(Clone, Copy)]
pub struct Embedded(pub &'static [(&'static str, &'static [u8])]);

impl Debug for Embedded {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Embedded({} files)", self.0.len())
    }
}

/// Source of the project's files.
#[derive(Clone, Debug)]
pub(crate) enum Files {
    Folder(PathBuf),
    Program(Embedded),
}

impl Files {
    /// Path of a project's file in messages.
    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        match self {
            Files::Folder(root) => root.join(file),
            Files::Program(_) => file.to_owned(),
        }
    }

    pub(crate) fn has(&self, file: &Path) -> bool {
        match self {
            Files::Folder(root) => root.join(file).is_file(),
            Files::Program(embedded) => embedded.contents(file).is_some(),
        }
    }

    /// Contents of a file of the project.
    pub(crate) fn read(&self, file: &Path) -> io::Result<String> {
        match self {
            Files::Folder(root) => std::fs::read_to_string(root.join(file)),
            Files::Program(embedded) => {
                let contents = embedded.contents(file).ok_or(io::ErrorKind::NotFound)?;
                String::from_utf8(contents.to_vec()).map_err(io::Error::other)
            }
        }
    }

    /// The names of a folder's files that end so, without that end, sorted.
    pub(crate) fn names(&self, folder: &str, end: &str) -> io::Result<Vec<String>> {
        let mut names: Vec<String> = match self {
            Files::Folder(root) => std::fs::read_dir(root.join(folder))?
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(end).map(str::to_owned))
                .collect(),
            Files::Program(Embedded(files)) => files
                .iter()
                .filter_map(|(path, _)| path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(end))
                .filter(|name| !name.contains('/'))
                .map(str::to_owned)
                .collect(),
        };
        names.sort();
        Ok(names)
    }
}

impl Embedded {
    fn contents(self, file: &Path) -> Option<&'static [u8]> {
        let parts: Vec<_> = file.components().filter(|part| *part != Component::CurDir).collect();
        let file: PathBuf = parts.into_iter().collect();
        self.0.iter().find(|(path, _)| Path::new(path) == file).map(|(_, contents)| *contents)
    }

    /// Writes these files into a folder. Equal files stay untouched, so that several programs may
    /// do so at once.
    pub(crate) fn unpack(self, folder: &Path) -> io::Result<()> {
        for (name, contents) in self.0 {
            let path = folder.join(name);
            if std::fs::read(&path).is_ok_and(|there| there == *contents) {
                continue;
            }
            let parent = path.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent)?;
            let draft = tempfile::NamedTempFile::new_in(parent)?;
            std::fs::write(draft.path(), contents)?;
            allow(draft.path(), contents.starts_with(b"#!"))?;
            draft.persist(&path).map_err(|error| error.error)?;
        }
        Ok(())
    }
}

/// Readable for all, as what git checks out is; scripts can be run.
fn allow(path: &Path, is_script: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if is_script { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const FILES: Embedded = Embedded(&[
        ("device/run", b"#!/bin/sh\n"),
        ("targets/a.toml", b"a"),
        ("targets/b.toml", b"b"),
        ("targets/own/c.toml", b"c"),
    ]);

    #[test]
    fn a_program_s_files_are_read_as_a_folder_s() {
        let folder = tempfile::tempdir().unwrap();
        FILES.unpack(folder.path()).unwrap();
        for files in [Files::Program(FILES), Files::Folder(folder.path().into())] {
            assert_eq!(files.names("targets", ".toml").unwrap(), ["a", "b"]);
            assert_eq!(files.read(Path::new("./targets/b.toml")).unwrap(), "b");
            assert!(files.has(Path::new("targets/own/c.toml")) && !files.has(Path::new("targets")));
            assert_eq!(files.read(Path::new("targets/d.toml")).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn unpack_renews_only_damaged_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        FILES.unpack(folder.path()).unwrap();
        assert_eq!(std::fs::metadata(at("device/run")).unwrap().permissions().mode() & 0o777, 0o755);
        let written = |name: &str| std::fs::metadata(at(name)).unwrap().modified().unwrap();
        let before = written("targets/a.toml");
        std::fs::write(at("targets/b.toml"), "").unwrap();
        FILES.unpack(folder.path()).unwrap();
        assert_eq!(std::fs::read(at("targets/b.toml")).unwrap(), b"b");
        assert_eq!(written("targets/a.toml"), before);
    }
}
