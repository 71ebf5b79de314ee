//! Entropy with its health tests, and the seed that survives restarts; the port's functions behind
//! them are the test's.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use super::Drbg;

type Source = Box<dyn FnMut() -> Option<u8>>;

thread_local! {
    static SOURCE: RefCell<Option<Source>> = const { RefCell::new(None) };
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory::new()) };
    static PORT: Cell<Option<Port>> = const { Cell::new(None) };
}

/// The port's functions as a whole, for a port that is more than a test's: nothing is borrowed
/// while they run.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// `ws_entropy_read`.
    pub entropy_read: fn() -> Option<u8>,
    /// `ws_seed_read`.
    pub seed_read: fn(slot: u8) -> [u8; RECORD],
    /// `ws_seed_write`.
    pub seed_write: fn(slot: u8, record: &[u8; RECORD]),
}

/// Sets the port's functions on this thread, in place of [`set_source`] and [`with_memory`].
pub fn set_port(port: Port) {
    PORT.set(Some(port));
}

/// Sets the source of `ws_entropy_read` on this thread; `None` of it is a failure.
pub fn set_source(source: impl FnMut() -> Option<u8> + 'static) {
    SOURCE.with_borrow_mut(|current| *current = Some(Box::new(source)));
}

/// The port's function. No source has been set is a source that fails.
#[unsafe(no_mangle)]
extern "C" fn ws_entropy_read(sample: *mut u8) -> c_int {
    let read = match PORT.get() {
        Some(port) => (port.entropy_read)(),
        None => SOURCE.with_borrow_mut(|source| source.as_mut().and_then(|source| source())),
    };
    match read {
        Some(value) => {
            // SAFETY: the C hands a variable of its own.
            unsafe { sample.write(value) };
            0
        }
        None => -1,
    }
}

/// `ws_entropy`. Zeros, as `Entropy::default` gives, are not started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Entropy {
    min_entropy: u8,
    last: u8,
    repeated: u8,
    first: u8,
    count: u16,
    window: u16,
}

/// Byte that a loss of power leaves where it cuts a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    /// The old value.
    Old,
    /// An erased byte.
    Erased,
    /// Some bits of each.
    Mixed,
}

/// Bytes of a slot.
pub const RECORD: usize = 60;

/// The non-volatile memory.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The two slots.
    pub slots: [[u8; RECORD]; 2],
    /// After how many written bytes power fails, counted down; `None` for never.
    pub power: Option<usize>,
    /// Value that it leaves in the byte.
    pub torn: Torn,
    /// True if a write begins with the erasure of the whole slot, as in flash.
    pub flash: bool,
    /// A byte of a slot that does not keep what is written.
    pub worn: Option<(usize, usize)>,
    /// True once the power has failed; nothing is written from then on.
    pub off: bool,
}

impl Memory {
    /// Erased memory, and power.
    #[must_use]
    pub const fn new() -> Memory {
        Memory {
            slots: [[0xff; RECORD]; 2],
            power: None,
            torn: Torn::Old,
            flash: false,
            worn: None,
            off: false,
        }
    }

    /// Takes one of the bytes that power lasts for. False when there is none left.
    fn powered(&mut self) -> bool {
        match &mut self.power {
            _ if self.off => false,
            None => true,
            Some(0) => {
                self.off = true;
                false
            }
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    fn write(&mut self, slot: usize, record: &[u8; RECORD]) {
        if self.off {
            return;
        }
        if self.flash {
            if !self.powered() {
                // An erasure that is cut off leaves anything.
                self.slots[slot] = self.slots[slot].map(|byte| byte | 0x5a);
                return;
            }
            self.slots[slot] = [0xff; RECORD];
        }
        for (at, &byte) in record.iter().enumerate() {
            let old = self.slots[slot][at];
            if !self.powered() {
                self.slots[slot][at] = match self.torn {
                    Torn::Old => old,
                    Torn::Erased => 0xff,
                    Torn::Mixed => (old & 0x0f) | (byte & 0xf0),
                };
                return;
            }
            if self.worn != Some((slot, at)) {
                self.slots[slot][at] = byte;
            }
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

/// The memory that the port's functions have on this thread.
pub fn with_memory<T>(with: impl FnOnce(&mut Memory) -> T) -> T {
    MEMORY.with_borrow_mut(with)
}

#[unsafe(no_mangle)]
extern "C" fn ws_seed_read(slot: u8, record: *mut u8) {
    let bytes = match PORT.get() {
        Some(port) => (port.seed_read)(slot),
        None => with_memory(|memory| memory.slots[usize::from(slot)]),
    };
    // SAFETY: the C hands a record of this size.
    unsafe { record.copy_from_nonoverlapping(bytes.as_ptr(), RECORD) };
}

#[unsafe(no_mangle)]
extern "C" fn ws_seed_write(slot: u8, record: *const u8) {
    // SAFETY: the C hands a record of this size.
    let bytes = unsafe { record.cast::<[u8; RECORD]>().read() };
    match PORT.get() {
        Some(port) => (port.seed_write)(slot, &bytes),
        None => with_memory(|memory| memory.write(usize::from(slot), &bytes)),
    }
}

mod c {
    use super::{Drbg, Entropy, c_int};

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ws_entropy_start(entropy: *mut Entropy, min_entropy: u8) -> c_int;
        pub fn ws_entropy_gather(entropy: *mut Entropy, output: *mut u8) -> c_int;
        pub fn ws_seed_install(seed: *const u8) -> c_int;
        pub fn ws_seed_start(drbg: *mut Drbg, fresh: *const u8, fresh_len: usize, name: *const u8,
                             name_len: usize) -> c_int;
    }
}

// SAFETY, of all calls below: as in the crate's root.

impl Entropy {
    /// `ws_entropy_start`: what it returned.
    pub fn start(&mut self, min_entropy: u8) -> i32 {
        unsafe { c::ws_entropy_start(&raw mut *self, min_entropy) }
    }

    /// `ws_entropy_gather`: what it returned, and the output, which was 0xa5 before.
    pub fn gather(&mut self) -> (i32, [u8; 32]) {
        let mut output = [0xa5; 32];
        let result = unsafe { c::ws_entropy_gather(&raw mut *self, output.as_mut_ptr()) };
        (result, output)
    }
}

/// `ws_seed_install`: what it returned.
pub fn seed_install(seed: &[u8; 48]) -> i32 {
    unsafe { c::ws_seed_install(seed.as_ptr()) }
}

/// `ws_seed_start`: what it returned, and the generator.
pub fn seed_start(fresh: &[u8], name: &[u8]) -> (i32, Drbg) {
    let mut drbg = Drbg::default();
    drbg.request = !0;
    let result = unsafe {
        c::ws_seed_start(drbg.as_mut_ptr(), fresh.as_ptr(), fresh.len(), name.as_ptr(), name.len())
    };
    (result, drbg)
}
