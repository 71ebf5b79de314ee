//! A disk whose power goes: what a program wrote and did not make durable is lost, or some of it is
//! there, torn.
//!
//! The C library's calls that write and make durable are this test's own, for SQLite, which is in
//! the same program, as for Rust's library. They do the same, and take down the operations on files
//! of one folder. The disk's contents at any moment are worked out afterwards, by POSIX's rules and
//! no better: a file's content is durable after `fsync` of the file, its name after `fsync` of the
//! folder. The index of SQLite's log (`-shm`) is memory, and is not there after a cut.

use rand::Rng;
use rand::rngs::StdRng;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::{self, File};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The bytes that a disk writes whole: SQLite relies only on other sectors staying as they are.
const SECTOR: usize = 512;

/// A file under any name.
type Inode = u64;
/// Files by name, without those that are memory or locks.
type Names = BTreeMap<String, Inode>;

/// An operation on the disk.
#[derive(Clone, Debug)]
pub enum Event {
    Write {
        file: Inode,
        name: String,
        at: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: Inode,
        length: usize,
    },
    /// A file's content is durable.
    Sync {
        file: Inode,
        names: Names,
    },
    /// The folder's names are durable.
    SyncFolder {
        names: Names,
    },
    /// The test's own: what it was told is durable.
    Told {
        what: u32,
        names: Names,
    },
}

struct Recording {
    folder: PathBuf,
    events: Vec<Event>,
    /// Held, so that no other file gets the number of one that was removed.
    held: BTreeMap<Inode, File>,
}

static RECORDING: Mutex<Option<Recording>> = Mutex::new(None);

/// Takes down what is done to files of a folder. One at a time.
pub fn record(folder: &Path) {
    let folder = fs::canonicalize(folder).expect("a folder");
    let recording = Recording { folder, events: Vec::new(), held: BTreeMap::new() };
    *lock() = Some(recording);
}

/// Records that this was reported as durable.
pub fn told(what: u32) {
    let mut recording = lock();
    let recording = recording.as_mut().expect("a recording");
    let names = recording.names();
    recording.events.push(Event::Told { what, names });
}

/// Ends the recording.
pub fn recorded() -> Vec<Event> {
    lock().take().expect("a recording").events
}

fn lock() -> std::sync::MutexGuard<'static, Option<Recording>> {
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    fn names(&self) -> Names {
        let entries = fs::read_dir(&self.folder).expect("the folder");
        let file = |entry: std::io::Result<fs::DirEntry>| {
            let entry = entry.ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // It may be removed just now.
            is_kept(&name).then(|| Some((name, entry.metadata().ok()?.ino())))?
        };
        entries.filter_map(file).collect()
    }

    /// A descriptor's file, if it is in the folder, and its name; or the folder itself.
    fn of(&mut self, descriptor: c_int) -> Option<(Inode, String)> {
        let path = fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
        let name = path.strip_prefix(&self.folder).ok()?.to_string_lossy().into_owned();
        if !is_kept(&name) {
            return None;
        }
        // SAFETY: the descriptor is open, as the call that is taken down has it; it is not closed
        // here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        let inode = file.metadata().ok()?.ino();
        if !name.is_empty() && !self.held.contains_key(&inode) {
            self.held.insert(inode, file.try_clone().ok()?);
        }
        Some((inode, name))
    }
}

/// Says if a file is one that a disk keeps: not memory, and not a lock, which would be held with
/// it.
fn is_kept(name: &str) -> bool {
    !name.ends_with("-shm") && !name.ends_with(".lock")
}

fn take_down(descriptor: c_int, event: impl FnOnce(&Recording, Inode, String) -> Event) {
    let mut recording = lock();
    let Some(recording) = recording.as_mut() else { return };
    let Some((inode, name)) = recording.of(descriptor) else { return };
    let event = event(recording, inode, name);
    recording.events.push(event);
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The C library's own function.
fn next(name: &CStr) -> *mut c_void {
    // dlfcn.h: RTLD_NEXT, the next one after this program's.
    let next = -1_isize as *mut c_void;
    // SAFETY: the name ends with a 0.
    let found = unsafe { dlsym(next, name.as_ptr()) };
    assert!(!found.is_null(), "{name:?}");
    found
}

type Pwrite = unsafe extern "C" fn(c_int, *const c_void, usize, i64) -> isize;
type Ftruncate = unsafe extern "C" fn(c_int, i64) -> c_int;
type Fsync = unsafe extern "C" fn(c_int) -> c_int;

/// pwrite(2).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(descriptor: c_int, from: *const c_void, length: usize, at: i64) -> isize {
    // SAFETY: the C library's function has this type.
    let own: Pwrite = unsafe { std::mem::transmute(next(c"pwrite64")) };
    // SAFETY: as the caller promises.
    let written = unsafe { own(descriptor, from, length, at) };
    if let Ok(length) = usize::try_from(written) {
        take_down(descriptor, |_, file, name| {
            // SAFETY: that number of bytes was just read from there.
            let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) }.to_vec();
            Event::Write { file, name, at: at as usize, bytes }
        });
    }
    written
}

/// pwrite(2).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(descriptor: c_int, from: *const c_void, length: usize, at: i64) -> isize {
    // SAFETY: as the caller promises; off_t has 64 bits here.
    unsafe { pwrite64(descriptor, from, length, at) }
}

/// ftruncate(2).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(descriptor: c_int, length: i64) -> c_int {
    // SAFETY: the C library's function has this type.
    let own: Ftruncate = unsafe { std::mem::transmute(next(c"ftruncate64")) };
    // SAFETY: as the caller promises.
    let done = unsafe { own(descriptor, length) };
    take_down(descriptor, |_, file, _| Event::Truncate { file, length: length as usize });
    done
}

/// ftruncate(2).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate(descriptor: c_int, length: i64) -> c_int {
    // SAFETY: as the caller promises; off_t has 64 bits here.
    unsafe { ftruncate64(descriptor, length) }
}

/// An action just before a file is next made durable.
type AtSync = (PathBuf, Box<dyn FnOnce() + Send>);

static AT_SYNC: Mutex<Vec<AtSync>> = Mutex::new(Vec::new());

/// Does something when a file is next made durable, before it is.
pub fn at_next_sync(path: &Path, what: impl FnOnce() + Send + 'static) {
    let path = fs::canonicalize(path).expect("a file");
    AT_SYNC.lock().unwrap_or_else(PoisonError::into_inner).push((path, Box::new(what)));
}

fn before_sync(descriptor: c_int) {
    let mut waiting = AT_SYNC.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(path) = fs::read_link(format!("/proc/self/fd/{descriptor}")) else { return };
    let due = waiting.extract_if(.., |(of, _)| *of == path).collect::<Vec<AtSync>>();
    drop(waiting);
    for (_, what) in due {
        what();
    }
}

fn sync(descriptor: c_int, name: &CStr) -> c_int {
    before_sync(descriptor);
    take_down(descriptor, |recording, file, name| {
        let names = recording.names();
        if name.is_empty() { Event::SyncFolder { names } } else { Event::Sync { file, names } }
    });
    // SAFETY: the C library's function has this type, and takes any number.
    unsafe {
        let own: Fsync = std::mem::transmute(next(name));
        own(descriptor)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: c_int) -> c_int {
    sync(descriptor, c"fsync")
}

#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    sync(descriptor, c"fdatasync")
}

/// The contents of a disk.
#[derive(Clone, Default)]
pub struct Disk {
    files: BTreeMap<Inode, Vec<u8>>,
    names: Names,
    /// The operations that are not durable yet, in order.
    pending: Vec<Event>,
    /// The folder's names as they would be with power.
    now: Names,
}

impl Disk {
    pub fn go_on(&mut self, event: Event) {
        match event {
            Event::Write { .. } | Event::Truncate { .. } => self.pending.push(event),
            Event::Sync { file, names } => {
                let (durable, pending) =
                    std::mem::take(&mut self.pending).into_iter().partition(|event| of(event) == Some(file));
                self.pending = pending;
                let durable: Vec<Event> = durable;
                for event in &durable {
                    self.apply(event, |_| true);
                }
                self.now = names;
            }
            Event::SyncFolder { names } => (self.names, self.now) = (names.clone(), names),
            Event::Told { names, .. } => self.now = names,
        }
    }

    /// Says if a file's name is durable.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Returns the disk after a power cut: of operations that were not durable nothing remains, or,
    /// with chance, some sectors and perhaps the names.
    pub fn cut(&self, chance: Option<&mut StdRng>) -> Disk {
        let mut left = Disk { pending: Vec::new(), ..self.clone() };
        if let Some(rng) = chance {
            for event in &self.pending {
                if rng.random() {
                    left.apply(event, |_| rng.random_range(0..10) < 7);
                }
            }
            if rng.random() {
                left.names = self.now.clone();
            }
        }
        left
    }

    /// Lays its files out in a folder.
    pub fn lay_out(&self, folder: &Path) {
        for (name, inode) in &self.names {
            let content = self.files.get(inode).map_or(&[][..], Vec::as_slice);
            fs::write(folder.join(name), content).expect("written");
        }
    }

    fn apply(&mut self, event: &Event, mut keep: impl FnMut(usize) -> bool) {
        match event {
            Event::Write { file, at, bytes, .. } => {
                let content = self.files.entry(*file).or_default();
                for (place, byte) in bytes.chunks(SECTOR).enumerate() {
                    if keep(place) {
                        let from = at + place * SECTOR;
                        content.resize(content.len().max(from + byte.len()), 0);
                        content[from..from + byte.len()].copy_from_slice(byte);
                    }
                }
            }
            Event::Truncate { file, length } => self.files.entry(*file).or_default().resize(*length, 0),
            Event::Sync { .. } | Event::SyncFolder { .. } | Event::Told { .. } => {}
        }
    }
}

fn of(event: &Event) -> Option<Inode> {
    match event {
        Event::Write { file, .. } | Event::Truncate { file, .. } => Some(*file),
        _ => None,
    }
}
