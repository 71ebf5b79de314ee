//! The drivers that the meter's C files call (`device/drivers/*.h`): of the meter that runs on this
//! thread, or, where none does, over the EEPROM of [`crate::meter::store`] and the flash of
//! [`crate::meter::message`].

use crate::crypto::entropy::{Port, set_port};
use crate::meter::call::{BYTE_NS, Call, Cause, Load, Packet, Reply};
use crate::meter::eeprom::{Eeprom, Torn};
use crate::meter::flash::{self, ERASE_NS, Flash, SECTOR};
use crate::meter::message;
use crate::meter::metering::Sums;
use crate::meter::status::Status;
use crate::meter::store;
use corosensei::Yielder;
use fastrand::Rng;
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

/// `WS_CLOCK_TICKS`, and a second's nanoseconds, both divided by 64.
const TICKS: u64 = 4096 / 64;
const SECOND_NS: u64 = 1_000_000_000 / 64;
/// A window of samples: `WS_METERING_WINDOW`.
const WINDOW_NS: u64 = 100_000_000;
/// The watchdog resets the part when it was not fed for so long: `device/drivers/reset.h`.
const WATCHDOG_NS: u64 = 8_000_000_000;
/// Number of times that a meter may ask whether the EEPROM is busy before the time passes that a
/// byte takes.
const POLLS: u32 = 8;

/// Memory for a structure of C's, zeroed: more than enough, see [`Context::new`].
#[repr(C, align(16))]
struct Storage<const N: usize>([u8; N]);

const METER: usize = 4096;
/// `ws_boot_journal` has no more.
const BOOT_JOURNAL: usize = 64;
/// `WS_BOOT_NONE`.
const NO_SLOT: u8 = 0xff;

/// `ws_image`.
#[repr(C)]
struct Image {
    version: u32,
    length: u32,
    signature: u32,
}

mod c {
    use super::{Image, Sums};

    unsafe extern "C" {
        pub fn ws_host_meter_bytes() -> usize;
        pub fn ws_host_sums_bytes() -> usize;
        pub fn ws_meter_start(meter: *mut u8, sums: *const Sums, status: *mut u8) -> std::ffi::c_int;
        pub fn ws_meter_turn(meter: *mut u8);
        pub fn ws_boot_journal_start(journal: *mut u8);
        pub fn ws_boot_select(journal: *mut u8) -> u8;
        pub fn ws_image_header(fields: *const u8, slot: u8, floor: u32, image: *mut Image) -> u8;
    }
}

/// A meter and what surrounds it.
pub(crate) struct Context {
    provision: [u8; 176],
    pub(crate) eeprom: Eeprom,
    /// When the byte under way was begun.
    byte_began_ns: u64,
    polls: u32,
    pub(crate) now_ns: u64,
    start_ns: u64,
    cause: Cause,
    /// When the watchdog was fed; none before it is started.
    fed_ns: Option<u64>,
    /// None once it has failed.
    pub(crate) noise: Option<Rng>,
    /// The address that the radio was started with: it hears nothing else.
    radio_address: Option<u8>,
    pub(crate) load: Option<Load>,
    /// Flash of a meter that a bootloader runs.
    pub(crate) flash: Option<Flash>,
    pub(crate) running: Option<u8>,
    /// Up to when the sums have the load, and what rounding has left of them.
    measured_ns: u64,
    rest: f64,
    yielder: *const Yielder<Reply, Call>,
    meter: Storage<METER>,
    sums: Sums,
    status: Storage<{ Status::BYTES }>,
}

thread_local! {
    static CURRENT: Cell<*mut Context> = const { Cell::new(ptr::null_mut()) };
}

/// The meter that runs on this thread. Looked up anew each time: after a wait it may be another
/// thread.
#[inline(never)]
fn current() -> *mut Context {
    CURRENT.get()
}

/// Until this is dropped, the drivers of this thread are this meter's.
pub(crate) struct Entered(*mut Context);

pub(crate) fn enter(context: *mut Context) -> Entered {
    set_port(Port { entropy_read, seed_read, seed_write });
    Entered(CURRENT.replace(context))
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The firmware, for ever.
///
/// # Safety
/// `context` lives as long as the coroutine of `yielder`, and is entered whenever that runs.
pub(crate) unsafe fn run(context: *mut Context, yielder: &Yielder<Reply, Call>) -> ! {
    // SAFETY: as above; the structures are C's, and stay where they are.
    unsafe {
        (*context).yielder = yielder;
        let meter = (&raw mut (*context).meter).cast::<u8>();
        let sums = &raw const (*context).sums;
        let status = (&raw mut (*context).status).cast::<u8>();
        if (*context).flash.is_some() {
            let mut journal = Storage([0; BOOT_JOURNAL]);
            let journal = (&raw mut journal).cast::<u8>();
            c::ws_boot_journal_start(journal);
            let slot = c::ws_boot_select(journal);
            if slot == NO_SLOT {
                loop {
                    suspend(Call::Stopped);
                }
            }
            (*context).running = Some(slot);
        }
        if c::ws_meter_start(meter, sums, status) != 0 {
            loop {
                suspend(Call::Stopped);
            }
        }
        loop {
            c::ws_meter_turn(meter);
        }
    }
}

impl Context {
    pub(crate) fn new(
        provision: &[u8; 176],
        eeprom: Eeprom,
        cause: Cause,
        noise_seed: u64,
        now_ns: u64,
    ) -> Context {
        // SAFETY: they only tell sizes.
        let (meter, sums) = unsafe { (c::ws_host_meter_bytes(), c::ws_host_sums_bytes()) };
        assert!(meter <= METER && sums == size_of::<Sums>(), "the structures have room");
        Context {
            provision: *provision,
            eeprom,
            byte_began_ns: now_ns,
            polls: 0,
            now_ns,
            start_ns: now_ns,
            cause,
            fed_ns: None,
            noise: Some(Rng::with_seed(noise_seed)),
            radio_address: None,
            load: None,
            flash: None,
            running: None,
            measured_ns: now_ns,
            rest: 0.0,
            yielder: ptr::null(),
            meter: Storage([0; METER]),
            sums: Sums::new(),
            status: Storage([0; Status::BYTES]),
        }
    }

    pub(crate) fn ram(&self) -> &[u8] {
        &self.meter.0
    }

    pub(crate) fn status(&self) -> Status {
        Status::read(&self.status.0)
    }

    /// The time goes on: bytes are written, and the site draws power.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        while self.eeprom.busy() && now_ns - self.byte_began_ns >= BYTE_NS {
            self.eeprom.advance(1);
            self.byte_began_ns += BYTE_NS;
        }
        if now_ns != self.now_ns {
            self.polls = 0;
        }
        self.now_ns = now_ns;
        self.measure();
    }

    /// Adds the whole windows since the last time.
    fn measure(&mut self) {
        let windows = (self.now_ns - self.measured_ns) / WINDOW_NS;
        self.measured_ns += windows * WINDOW_NS;
        let Some(load) = self.load else { return };
        // As many as 32 bits of sums have room for: see metering.h.
        let mut left = windows;
        while left > 0 {
            let some = left.min(80);
            left -= some;
            let steps = |value: f64, per_step: f64| value / per_step;
            let samples = 125.0 * some as f64;
            let power =
                steps(load.power_w, load.volts_per_step * load.amperes_per_step) * samples / 4.0 + self.rest;
            self.rest = power - power.round();
            let square = |value: f64, per_step: f64| (steps(value, per_step).powi(2) * 125.0 * 16.0) as u32;
            let uu = square(load.voltage_v, load.volts_per_step);
            let ii = square(load.current_a, load.amperes_per_step);
            self.sums.add_windows(some as u16, power.round() as i32, [uu, ii]);
        }
    }

    /// Ticks since the start.
    fn ticks(&self) -> u64 {
        (self.now_ns - self.start_ns) * TICKS / SECOND_NS
    }

    /// When the clock is at this tick; `None` where it is already.
    fn when(&self, deadline: u32) -> Option<u64> {
        let now = self.ticks();
        let left = deadline.wrapping_sub(now as u32) as i32;
        let ticks = now + u64::try_from(left).ok().filter(|&left| left > 0)?;
        Some(self.start_ns + (ticks * SECOND_NS).div_ceil(TICKS))
    }
}

/// Waits for what the owner of the world says.
fn suspend(call: Call) -> Reply {
    // SAFETY: called within a meter's coroutine alone, whose context is current and has its
    // yielder.
    let reply = unsafe { (*(*current()).yielder).suspend(call) };
    if with(|context| context.fed_ns.is_some_and(|fed_ns| context.now_ns - fed_ns > WATCHDOG_NS)) {
        ws_reset_now();
    }
    reply
}

/// Looks at the context of the meter that runs, or changes it; no waiting within.
fn with<T>(work: impl FnOnce(&mut Context) -> T) -> T {
    let context = current();
    assert!(!context.is_null(), "a driver that only a meter that runs can call");
    // SAFETY: it lives in the meter's box, and nobody else looks at it while the meter runs.
    work(unsafe { &mut *context })
}

fn sleep_until(until_ns: u64) {
    if until_ns > with(|context| context.now_ns) {
        suspend(Call::Sleep { until_ns });
    }
}

fn entropy_read() -> Option<u8> {
    with(|context| Some(context.noise.as_mut()?.u8(..)))
}

fn seed_read(slot: u8) -> [u8; 60] {
    let mut record = [0; 60];
    with(|context| context.eeprom.peek(usize::from(slot) * 60, &mut record));
    record
}

fn seed_write(slot: u8, record: &[u8; 60]) {
    write(usize::from(slot) * 60, record);
}

/// Until all that is being written is.
fn wait_for_eeprom() {
    while let Some(until_ns) = with(|context| {
        let left = context.eeprom.pending().count() as u64;
        (left > 0).then(|| context.byte_began_ns + left * BYTE_NS)
    }) {
        sleep_until(until_ns);
    }
}

fn begin(at: usize, data: &[u8]) {
    wait_for_eeprom();
    with(|context| {
        context.byte_began_ns = context.now_ns;
        context.eeprom.begin(at, data);
    });
}

fn write(at: usize, data: &[u8]) {
    begin(at, data);
    wait_for_eeprom();
}

// SAFETY, of all below: called by the meter's C files alone, as the headers in device/drivers say;
// the names are theirs.

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_eeprom_read(at: u16, out: *mut u8, len: u8) {
    // SAFETY: the caller has room for len bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(out, usize::from(len)) };
    if current().is_null() {
        store::eeprom(|eeprom| eeprom.read(usize::from(at), out));
    } else {
        with(|context| context.eeprom.peek(usize::from(at), out));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_eeprom_write(at: u16, data: *const u8, len: u8) {
    // SAFETY: len bytes are there.
    let data = unsafe { std::slice::from_raw_parts(data, usize::from(len)) };
    if current().is_null() {
        store::eeprom(|eeprom| eeprom.write(usize::from(at), data));
    } else {
        write(usize::from(at), data);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_eeprom_begin(at: u16, data: *const u8, len: u8) {
    // SAFETY: len bytes are there.
    let data = unsafe { std::slice::from_raw_parts(data, usize::from(len)) };
    if current().is_null() {
        store::eeprom(|eeprom| eeprom.begin(usize::from(at), data));
    } else {
        begin(usize::from(at), data);
    }
}

#[unsafe(no_mangle)]
extern "C" fn ws_eeprom_busy() -> u8 {
    if current().is_null() {
        return store::eeprom(|eeprom| eeprom.busy().into());
    }
    // A meter that does nothing but ask waits for it.
    let until_ns = with(|context| {
        context.polls += 1;
        (context.polls > POLLS && context.eeprom.busy()).then(|| context.byte_began_ns + BYTE_NS)
    });
    if let Some(until_ns) = until_ns {
        sleep_until(until_ns);
    }
    with(|context| context.eeprom.busy().into())
}

#[unsafe(no_mangle)]
extern "C" fn ws_eeprom_abandon() {
    if current().is_null() {
        store::eeprom(Eeprom::abandon);
        return;
    }
    with(|context| context.eeprom.keep_one());
    wait_for_eeprom();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_provision_read(at: u8, out: *mut u8, len: u8) {
    // SAFETY: the caller has room for len bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(out, usize::from(len)) };
    let at = usize::from(at);
    if current().is_null() {
        message::provision_read(at, out);
    } else {
        with(|context| out.copy_from_slice(&context.provision[at..at + out.len()]));
    }
}

#[unsafe(no_mangle)]
extern "C" fn ws_clock_ticks() -> u32 {
    with(|context| context.ticks() as u32)
}

#[unsafe(no_mangle)]
extern "C" fn ws_clock_seconds() -> u32 {
    with(|context| (context.ticks() / (TICKS * 64)) as u32)
}

#[unsafe(no_mangle)]
extern "C" fn ws_clock_sleep(deadline: u32, _event: *const u8) -> u8 {
    if let Some(until_ns) = with(|context| context.when(deadline)) {
        sleep_until(until_ns);
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn ws_radio_start(address: u8, _channel: u8, _power: u8) -> c_int {
    with(|context| context.radio_address = Some(address));
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_radio_send(packet: *const u8, len: u8) -> c_int {
    // SAFETY: len bytes are there.
    let bytes = unsafe { std::slice::from_raw_parts(packet, usize::from(len)) };
    let packet = Packet::new(bytes).expect("the meter sends 1 to 61 bytes");
    if suspend(Call::Send(packet)) == Reply::Failed { -1 } else { 0 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_radio_listen(deadline: u32, packet: *mut u8) -> c_int {
    while let Some(until_ns) = with(|context| context.when(deadline)) {
        let heard = match suspend(Call::Listen { until_ns }) {
            Reply::Done => return 0,
            Reply::Failed => return -1,
            Reply::Heard(heard) => heard,
        };
        let bytes = heard.bytes();
        if Some(bytes[0]) == with(|context| context.radio_address) {
            // SAFETY: the meter has room for WS_RADIO_PACKET bytes.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), packet, bytes.len()) };
            return bytes.len() as c_int;
        }
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn ws_radio_sleep() {}

#[unsafe(no_mangle)]
extern "C" fn ws_reset_cause() -> u8 {
    with(|context| context.cause as u8)
}

#[unsafe(no_mangle)]
extern "C" fn ws_watchdog_start() {
    ws_watchdog_feed();
}

#[unsafe(no_mangle)]
extern "C" fn ws_watchdog_feed() {
    with(|context| context.fed_ns = Some(context.now_ns));
}

#[unsafe(no_mangle)]
extern "C" fn ws_reset_now() {
    with(|context| context.fed_ns = None);
    loop {
        suspend(Call::Reset);
    }
}

/// The host's stacks are not painted.
#[unsafe(no_mangle)]
extern "C" fn ws_stack_untouched() -> u16 {
    0
}

// The bootloader's part: `device/boot/port.h`.

#[unsafe(no_mangle)]
extern "C" fn ws_boot_running() -> u8 {
    if current().is_null() { NO_SLOT } else { with(|context| context.running.unwrap_or(NO_SLOT)) }
}

#[unsafe(no_mangle)]
extern "C" fn ws_boot_watchdog() {
    ws_watchdog_feed();
}

/// Changes flash, where there is power; where there is none any more, the EEPROM has none, too.
fn change_flash(change: impl FnOnce(&mut Flash) -> bool) -> bool {
    with(|context| {
        let Some(flash) = &mut context.flash else { return false };
        let has_power = change(flash);
        if !has_power && !context.eeprom.is_off() {
            context.eeprom.cut(Torn::Any);
        }
        has_power
    })
}

fn read_flash(at: usize, out: &mut [u8]) {
    with(|context| {
        if let Some(flash) = &context.flash {
            flash.read(at, out);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_flash_read(address: u32, out: *mut u8, len: u16) {
    // SAFETY: the caller has room for len bytes.
    read_flash(address as usize, unsafe { std::slice::from_raw_parts_mut(out, usize::from(len)) });
}

#[unsafe(no_mangle)]
extern "C" fn ws_flash_erase(address: u32, len: u32) -> c_int {
    for sector in (address..address + len).step_by(SECTOR) {
        ws_watchdog_feed();
        if !change_flash(|flash| flash.erase(sector as usize)) {
            return -1;
        }
        sleep_until(with(|context| context.now_ns) + ERASE_NS);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_flash_program(address: u32, data: *const u8, len: u16) -> c_int {
    // SAFETY: len bytes are there.
    let data = unsafe { std::slice::from_raw_parts(data, usize::from(len)) };
    let at = address as usize;
    for (index, word) in data.as_chunks::<4>().0.iter().enumerate() {
        if !change_flash(|flash| flash.program(at + 4 * index, *word)) {
            return -1;
        }
    }
    let mut there = vec![0; data.len()];
    read_flash(at, &mut there);
    if there == data { 0 } else { -1 }
}

/// As `device/boot/verify.c`, with the check sum that images have here.
#[unsafe(no_mangle)]
unsafe extern "C" fn ws_image_verify(slot: u8, floor: u32, image: *mut Image) -> u8 {
    const BAD_SIGNATURE: u8 = 6;
    let mut fields = [0; 40];
    read_flash(flash::SLOTS[usize::from(slot)], &mut fields);
    // SAFETY: the fields are there, and the caller has room for the image.
    let (refused, length) = unsafe {
        let refused = c::ws_image_header(fields.as_ptr(), slot, floor, image);
        (refused, (*image).length as usize)
    };
    if refused != 0 {
        return refused;
    }
    let is_good =
        with(|context| context.flash.as_ref().is_some_and(|flash| flash.is_good(slot.into(), length)));
    if is_good { 0 } else { BAD_SIGNATURE }
}
