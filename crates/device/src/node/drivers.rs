//! The drivers that the node's C files call, over a [`World`] of the calling thread.

use crate::node::flash::Flash;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_int;

/// Ticks a second of the clock (`device/drivers/clock.h`).
pub const TICKS: u32 = 4096;

#[derive(Clone, Debug)]
pub struct World {
    /// The clock, which moves when the node sleeps, listens or sends.
    pub ticks: u64,
    /// The stored voltage, in millivolts, at each measurement to come; the last one stays.
    pub stored_mv: VecDeque<u16>,
    /// Packets that the node hears when it listens next, each with the ticks that pass before it
    /// has come; an answer to a listening ends with the first whose time has come.
    pub to_hear: VecDeque<(u32, Vec<u8>)>,
    /// Packets that were sent, with the tick when they were.
    pub sent: Vec<(u64, Vec<u8>)>,
    /// True if the radio works.
    pub radio_works: bool,
    /// The non-volatile memory.
    pub flash: Flash,
    /// Actions of the radio, in order: "start", "send", "listen", "wait", "sleep".
    pub radio_log: Vec<&'static str>,
}

impl World {
    fn new() -> World {
        World {
            ticks: 0,
            stored_mv: VecDeque::from([u16::MAX]),
            to_hear: VecDeque::new(),
            sent: Vec::new(),
            radio_works: true,
            flash: Flash::new(0),
            radio_log: Vec::new(),
        }
    }
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::new(World::new());
}

/// Looks at this thread's world, or changes it.
pub fn world<T>(work: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with_borrow_mut(work)
}

// SAFETY, of all below: called by the node's C files alone, as the headers in device/drivers say;
// the names are theirs, with `ws_node_` where the meter has such a driver, too (build.rs).

#[unsafe(no_mangle)]
extern "C" fn ws_node_clock_ticks() -> u32 {
    world(|world| world.ticks as u32)
}

#[unsafe(no_mangle)]
extern "C" fn ws_node_clock_seconds() -> u32 {
    world(|world| (world.ticks / u64::from(TICKS)) as u32)
}

#[unsafe(no_mangle)]
extern "C" fn ws_node_clock_sleep(deadline: u32, _event: *const u8) -> u8 {
    world(|world| {
        let left = deadline.wrapping_sub(world.ticks as u32) as i32;
        world.ticks += u64::try_from(left).unwrap_or(0);
        0
    })
}

#[unsafe(no_mangle)]
extern "C" fn ws_stored_energy_mv() -> u16 {
    world(|world| match world.stored_mv.len() {
        0 => 0,
        1 => world.stored_mv[0],
        _ => world.stored_mv.pop_front().unwrap_or(0),
    })
}

#[unsafe(no_mangle)]
extern "C" fn ws_node_radio_start(_address: u8, _channel: u8, _power: u8) -> c_int {
    world(|world| {
        world.radio_log.push("start");
        if world.radio_works { 0 } else { -1 }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_node_radio_send(packet: *const u8, len: u8) -> c_int {
    // SAFETY: len bytes are there.
    let packet = unsafe { std::slice::from_raw_parts(packet, usize::from(len)) }.to_vec();
    world(|world| {
        world.radio_log.push("send");
        if !world.radio_works {
            return -1;
        }
        let at = world.ticks;
        world.sent.push((at, packet));
        0
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_node_radio_listen(deadline: u32, packet: *mut u8) -> c_int {
    // SAFETY: the node has room for WS_RADIO_PACKET bytes.
    unsafe { hear("listen", deadline, packet) }
}

/// Pauses of ten seconds and more are too long for this radio.
#[unsafe(no_mangle)]
extern "C" fn ws_radio_can_wait(every_ms: u16, for_ms: u16) -> u8 {
    u8::from(for_ms > 1 && (100..10_000).contains(&every_ms))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_radio_wait(every_ms: u16, for_ms: u16, deadline: u32, packet: *mut u8) -> c_int {
    assert_eq!(ws_radio_can_wait(every_ms, for_ms), 1);
    // SAFETY: the node has room for WS_RADIO_PACKET bytes.
    unsafe { hear("wait", deadline, packet) }
}

/// Hears the next packet that comes before the deadline.
///
/// # Safety
/// packet: room for 61 bytes.
unsafe fn hear(action: &'static str, deadline: u32, packet: *mut u8) -> c_int {
    let heard = world(|world| {
        world.radio_log.push(action);
        if !world.radio_works {
            return None;
        }
        let left = u64::try_from(deadline.wrapping_sub(world.ticks as u32) as i32).unwrap_or(0);
        match world.to_hear.front() {
            Some((after, _)) if u64::from(*after) <= left => {
                let (after, packet) = world.to_hear.pop_front()?;
                world.ticks += u64::from(after);
                Some(packet)
            }
            _ => {
                world.ticks += left;
                Some(Vec::new())
            }
        }
    });
    let Some(heard) = heard else { return -1 };
    assert!(heard.len() <= 61, "the radio hears no packet longer than WS_RADIO_PACKET");
    // SAFETY: there is room, and the assertion above.
    unsafe { std::ptr::copy_nonoverlapping(heard.as_ptr(), packet, heard.len()) };
    heard.len() as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ws_node_radio_sleep() {
    world(|world| world.radio_log.push("sleep"));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_nonvolatile_read(segment: u8, offset: u8, out: *mut u8, len: u8) {
    // SAFETY: the node has room for len bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(out, usize::from(len)) };
    world(|world| world.flash.read(usize::from(segment), usize::from(offset), out));
}

#[unsafe(no_mangle)]
extern "C" fn ws_nonvolatile_erase(segment: u8) {
    world(|world| world.flash.erase(usize::from(segment)));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ws_nonvolatile_program(segment: u8, offset: u8, data: *const u8, len: u8) {
    // SAFETY: len bytes are there.
    let data = unsafe { std::slice::from_raw_parts(data, usize::from(len)) };
    world(|world| world.flash.program(usize::from(segment), usize::from(offset), data));
}
