//! State of the meter in EEPROM, by itself: numbers, settings and journal, over an [`Eeprom`] of
//! the calling thread.

use crate::meter::eeprom::Eeprom;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;

thread_local! {
    static EEPROM: RefCell<Eeprom> = RefCell::new(Eeprom::new(0));
    /// Destination and source of the bytes that are written in the background.
    static BEGUN: Cell<(usize, *const u8)> = const { Cell::new((0, std::ptr::null())) };
}

/// Looks at this thread's EEPROM, or changes it.
pub fn eeprom<T>(work: impl FnOnce(&mut Eeprom) -> T) -> T {
    EEPROM.with_borrow_mut(work)
}

/// Records at most: `WS_JOURNAL_RECORDS`.
pub const JOURNAL_RECORDS: usize = 17;
/// Bytes of a buffer: `WS_JOURNAL_BUFFER`.
const BUFFER: usize = 153;
/// Beginning of the journal (`WS_JOURNAL_AT`), and the bytes at whose multiples records begin.
const AT: usize = 256;
const CELL: usize = 9;
/// Offset of its message: `WS_JOURNAL_MESSAGE`.
const MESSAGE: usize = 5;

/// `ws_numbers`.
#[derive(Debug)]
#[repr(C)]
struct NumbersState {
    next: u32,
    left: u16,
    record: [u8; 12],
    at: u16,
    writing: u8,
}

/// `ws_settings`, started: what commands have set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Settings {
    /// The record, as `docs/reference/protocol.md` has it; a change leaves generation and check,
    /// the first and last four bytes, alone.
    pub record: [u8; 32],
    at: u16,
}

/// `ws_journal`.
#[derive(Debug)]
#[repr(C)]
struct JournalState {
    cells: [u8; JOURNAL_RECORDS],
    count: u8,
    head: u8,
    mark: u8,
    writing: *const u8,
    lost: u8,
    damaged: u8,
    begun: u8,
}

/// `ws_journal_report`: a record that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Report {
    /// The number of the message.
    pub n: u32,
    /// Its suite, 0 to 4.
    pub suite: u8,
    /// Its bytes.
    pub len: u8,
    /// Not 0 if it is an alert.
    pub alert: u8,
}

mod c {
    use super::{JournalState, NumbersState, Report, Settings, c_int};

    unsafe extern "C" {
        pub fn ws_numbers_start(numbers: *mut NumbersState) -> c_int;
        pub fn ws_numbers_take(numbers: *mut NumbersState, n: *mut u32) -> c_int;
        pub fn ws_numbers_work(numbers: *mut NumbersState);
        pub fn ws_numbers_starts(numbers: *const NumbersState) -> u32;
        pub fn ws_settings_start(settings: *mut Settings) -> c_int;
        pub fn ws_settings_keep(settings: *mut Settings) -> c_int;
        pub fn ws_journal_start(journal: *mut JournalState);
        pub fn ws_journal_hold(journal: *mut JournalState, buffer: *mut u8, n: u32, suite: u8, alert: u8);
        pub fn ws_journal_append(journal: *mut JournalState);
        pub fn ws_journal_busy(journal: *mut JournalState) -> u8;
        pub fn ws_journal_oldest(journal: *mut JournalState, report: *mut Report) -> u8;
        pub fn ws_journal_read(journal: *mut JournalState, offset: u8, out: *mut u8, len: u8);
        pub fn ws_journal_acknowledged(journal: *mut JournalState);
    }
}

/// `ws_numbers`, started.
#[derive(Debug)]
pub struct Numbers(Box<NumbersState>);

impl Numbers {
    /// `ws_numbers_start`; with it what that returned.
    #[must_use]
    pub fn start() -> (Numbers, bool) {
        let mut state = Box::new(NumbersState { next: 0, left: 0, record: [0; 12], at: 0, writing: 0 });
        // SAFETY: the structure is C's, and stays where it is, in its box.
        let result = unsafe { c::ws_numbers_start(&mut *state) };
        (Numbers(state), result == 0)
    }

    /// `ws_numbers_take`; `None` where it refuses.
    pub fn take(&mut self) -> Option<u32> {
        let mut n = 0;
        // SAFETY: started.
        (unsafe { c::ws_numbers_take(&mut *self.0, &mut n) } == 0).then_some(n)
    }

    /// `ws_numbers_work`.
    pub fn work(&mut self) {
        // SAFETY: started.
        unsafe { c::ws_numbers_work(&mut *self.0) }
    }

    /// `ws_numbers_starts`.
    #[must_use]
    pub fn starts(&self) -> u32 {
        // SAFETY: started.
        unsafe { c::ws_numbers_starts(&*self.0) }
    }
}

impl Settings {
    /// `ws_settings_start`; with it what that returned.
    #[must_use]
    pub fn start() -> (Settings, bool) {
        let mut settings = Settings { record: [0xa5; 32], at: 0xa5a5 };
        // SAFETY: the structure is C's, and nothing keeps its address.
        let result = unsafe { c::ws_settings_start(&mut settings) };
        (settings, result == 0)
    }

    /// `ws_settings_keep`; whether they are kept.
    pub fn keep(&mut self) -> bool {
        // SAFETY: as above; started.
        unsafe { c::ws_settings_keep(self) == 0 }
    }
}

/// `ws_journal`, started, with the buffer that it writes from.
#[derive(Debug)]
pub struct Journal {
    state: Box<JournalState>,
    buffer: Box<[u8; BUFFER]>,
}

impl Journal {
    /// `ws_journal_start`.
    #[must_use]
    pub fn start() -> Journal {
        let mut state = Box::new(JournalState {
            cells: [0xa5; JOURNAL_RECORDS],
            count: 0xa5,
            head: 0xa5,
            mark: 0xa5,
            writing: std::ptr::null(),
            lost: 0xa5,
            damaged: 0xa5,
            begun: 0xa5,
        });
        // SAFETY: the structure is C's, and stays where it is, in its box.
        unsafe { c::ws_journal_start(&mut *state) };
        Journal { state, buffer: Box::new([0xa5; BUFFER]) }
    }

    /// `ws_journal_hold`.
    ///
    /// # Panics
    /// Panics where a record is held, or an append under way: the buffer is not free.
    pub fn hold(&mut self, n: u32, suite: u8, alert: bool, message: &[u8]) {
        assert!(!self.busy(), "the buffer is not free");
        self.buffer.fill(0xa5);
        self.buffer[MESSAGE..MESSAGE + message.len()].copy_from_slice(message);
        // SAFETY: started; the buffer is in its box, and is not touched before busy() is false.
        unsafe { c::ws_journal_hold(&mut *self.state, self.buffer.as_mut_ptr(), n, suite, alert.into()) }
    }

    /// `ws_journal_append`.
    pub fn append(&mut self) {
        // SAFETY: started; the buffer stays as hold() has left it.
        unsafe { c::ws_journal_append(&mut *self.state) }
    }

    /// Returns true if a record is held and not being written.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.state.writing.is_null() && self.state.begun == 0
    }

    /// `ws_journal_busy`.
    pub fn busy(&mut self) -> bool {
        // SAFETY: started.
        unsafe { c::ws_journal_busy(&mut *self.state) != 0 }
    }

    /// `ws_journal_oldest`.
    pub fn oldest(&mut self) -> Option<Report> {
        let mut report = Report::default();
        // SAFETY: started.
        (unsafe { c::ws_journal_oldest(&mut *self.state, &mut report) } != 0).then_some(report)
    }

    /// The oldest record's message, read in pieces of `piece` bytes (`ws_journal_read`); `None`
    /// where none waits.
    pub fn oldest_message(&mut self, piece: usize) -> Option<(Report, Vec<u8>)> {
        let report = self.oldest()?;
        let mut message = vec![0; usize::from(report.len)];
        let mut offset = 0;
        for chunk in message.chunks_mut(piece) {
            // SAFETY: ws_journal_oldest has returned 1, and the chunk has the length that is given.
            unsafe {
                c::ws_journal_read(&mut *self.state, offset, chunk.as_mut_ptr(), chunk.len() as u8);
            }
            offset += chunk.len() as u8;
        }
        Some((report, message))
    }

    /// `ws_journal_acknowledged`; the oldest record waits, as [`Journal::oldest`] has said.
    ///
    /// # Panics
    /// Panics where none waits.
    pub fn acknowledged(&mut self) {
        assert!(self.count() > 0, "no record waits");
        // SAFETY: started, and there is an oldest record.
        unsafe { c::ws_journal_acknowledged(&mut *self.state) }
    }

    /// The numbers of the records that wait, as they are in the memory; the last one's from the
    /// buffer while it is held or being written.
    #[must_use]
    pub fn waiting(&self) -> Vec<u32> {
        let image = eeprom(|eeprom| *eeprom.image());
        let mut numbers: Vec<_> = self.state.cells[..self.count()]
            .iter()
            .map(|cell| {
                let at = AT + CELL * usize::from(*cell) + 1;
                u32::from_be_bytes([image[at], image[at + 1], image[at + 2], image[at + 3]])
            })
            .collect();
        if !self.state.writing.is_null()
            && let Some(last) = numbers.last_mut()
        {
            *last = u32::from_be_bytes([self.buffer[1], self.buffer[2], self.buffer[3], self.buffer[4]]);
        }
        numbers
    }

    /// Returns the number of records that wait.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::from(self.state.count)
    }

    /// Measurements dropped, and records found damaged, since the start.
    #[must_use]
    pub fn lost_and_damaged(&self) -> (u8, u8) {
        (self.state.lost, self.state.damaged)
    }
}
