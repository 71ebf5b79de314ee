//! The harvested node of `device/node` on the host: the very C files that run on the
//! microcontroller, between drivers (`device/drivers/*.h`) that do what tests ask:
//! hear packets, run out of energy, lose their power in the midst of a write. For tests alone.
//!
//! The drivers know no context, so each thread has a world of its own ([`world`]); a test is one
//! thread.

mod drivers;
pub mod flash;

pub use drivers::{World, world};

use crate::crypto::lms::Signing;
use std::ffi::c_int;

/// `struct ws_node_config`, `struct ws_node_status`: as bytes, for `wire::node` to write and to
/// read; aligned as C has them.
#[repr(C, align(4))]
struct Structure<const N: usize>([u8; N]);

/// `ws_node`: more than its C structure has.
#[repr(C, align(8))]
struct Storage([u8; 128]);

/// `ws_counter`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct CounterState {
    next: u32,
    limit: u32,
    starts: u32,
    segment: u8,
    slot: u8,
    reserved: u8,
    block: u8,
}

/// `ws_lms_key`.
#[derive(Clone, Debug)]
#[repr(C)]
struct LmsKeyState {
    seed: [u8; 32],
    identifier: [u8; 16],
    height: u8,
    first: u32,
}

/// `ws_hss_key`.
#[derive(Clone, Debug)]
#[repr(C)]
struct HssKeyState {
    seed: [u8; 32],
    identifier: [u8; 16],
    upper_height: u8,
    lower_height: u8,
    first: u32,
}

mod c {
    use super::{CounterState, HssKeyState, LmsKeyState, Signing, Storage, Structure, c_int};

    unsafe extern "C" {
        pub fn ws_node_start(
            node: *mut Storage,
            config: *const Structure<56>,
            status: *mut Structure<48>,
        ) -> c_int;
        pub fn ws_node_turn(node: *mut Storage);
        pub fn ws_counter_start(counter: *mut CounterState, first: u32, block: u8);
        pub fn ws_counter_take(counter: *mut CounterState, number: *mut u32) -> c_int;
        pub fn ws_lms_signer_keygen(
            counter: *mut CounterState,
            key: *mut LmsKeyState,
            public_key: *mut u8,
        ) -> c_int;
        pub fn ws_lms_signer_begin(
            counter: *mut CounterState,
            key: *const LmsKeyState,
            randomizer: *const u8,
            message: *const u8,
            len: usize,
            signing: *mut Signing,
            head: *mut u8,
        ) -> c_int;
        pub fn ws_hss_signer_keygen(
            counter: *mut CounterState,
            key: *mut HssKeyState,
            public_key: *mut u8,
        ) -> c_int;
        pub fn ws_hss_signer_renew(
            counter: *mut CounterState,
            key: *const HssKeyState,
            randomizer: *const u8,
            upper_leaf: *mut u32,
            signing: *mut Signing,
            head: *mut u8,
            lower_key: *mut u8,
        ) -> c_int;
        pub fn ws_hss_signer_begin(
            counter: *mut CounterState,
            key: *const HssKeyState,
            upper_leaf: u32,
            randomizer: *const u8,
            message: *const u8,
            len: usize,
            signing: *mut Signing,
            head: *mut u8,
        ) -> c_int;
        pub fn ws_message_read_challenge(
            packet: *const u8,
            len: u8,
            node_id: u32,
            challenge: *mut u8,
            answer_in_ms: *mut u16,
        ) -> u8;
    }
}

/// A node that has started. What it keeps stays where it is, as in the firmware.
pub struct Node {
    node: Box<Storage>,
    // The node points to them.
    config: Box<Structure<56>>,
    status: Box<Structure<48>>,
}

impl Node {
    /// Starts a node with the bytes of `struct ws_node_config`; `None` where it refuses them.
    #[must_use]
    pub fn start(config: &[u8; 56]) -> Option<Node> {
        let mut node = Node {
            node: Box::new(Storage([0; 128])),
            config: Box::new(Structure(*config)),
            status: Box::new(Structure([0; 48])),
        };
        // SAFETY: all three live in boxes as long as the node does; Storage is larger and stricter
        // aligned than ws_node, which has two pointers, six numbers of 32 bits or fewer, and
        // padding.
        let result = unsafe { c::ws_node_start(&mut *node.node, &*node.config, &mut *node.status) };
        (result == 0).then_some(node)
    }

    /// `ws_node_turn`: sleeps until there is something to do, and does it once.
    pub fn turn(&mut self) {
        // SAFETY: started, and all that it points to is alive.
        unsafe { c::ws_node_turn(&mut *self.node) }
    }

    /// The bytes of `struct ws_node_status`.
    #[must_use]
    pub fn status(&self) -> [u8; 48] {
        self.status.0
    }

    /// The bytes of `struct ws_node_config`, which the node only reads.
    #[must_use]
    pub fn config(&self) -> [u8; 56] {
        self.config.0
    }
}

/// `ws_counter` alone.
#[derive(Clone, Copy, Debug)]
pub struct Counter(CounterState);

impl Counter {
    /// `ws_counter_start` with the node's blocks.
    #[must_use]
    pub fn start(first: u32) -> Counter {
        Counter::start_in_blocks(first, 64)
    }

    /// `ws_counter_start`.
    #[must_use]
    pub fn start_in_blocks(first: u32, block: u8) -> Counter {
        let mut state = CounterState::default();
        // SAFETY: the structure is C's, and nothing keeps its address.
        unsafe { c::ws_counter_start(&mut state, first, block) };
        Counter(state)
    }

    /// `ws_counter_take`; `None` where it refuses.
    pub fn take(&mut self) -> Option<u32> {
        let mut number = 0;
        // SAFETY: as above; started.
        (unsafe { c::ws_counter_take(&mut self.0, &mut number) } == 0).then_some(number)
    }
}

/// `ws_lms_key`, with `ws_lms_signer_keygen` and `ws_lms_signer_begin`.
#[derive(Clone, Debug)]
pub struct LmsKey(LmsKeyState);

impl LmsKey {
    /// A key pair: this and the public key; `None` where it is refused.
    #[must_use]
    pub fn make(
        counter: &mut Counter,
        seed: [u8; 32],
        identifier: [u8; 16],
        height: u8,
    ) -> Option<(LmsKey, [u8; 56])> {
        crate::crypto::lms::set_nodes(crate::crypto::lms::Nodes::new());
        let mut state = LmsKeyState { seed, identifier, height, first: u32::MAX };
        let mut public_key = [0; 56];
        // SAFETY: the structures are C's.
        let result = unsafe { c::ws_lms_signer_keygen(&mut counter.0, &mut state, public_key.as_mut_ptr()) };
        (result == 0).then_some((LmsKey(state), public_key))
    }

    /// A signature that is begun: its head, and what gives the rest; `None` where it is refused.
    ///
    /// # Panics
    /// If something is given although it is refused.
    pub fn begin(
        &self,
        counter: &mut Counter,
        randomizer: &[u8; 32],
        message: &[u8],
    ) -> Option<([u8; 40], Signing)> {
        let (mut signing, mut head) = (Signing::new(), [0xa5; 40]);
        // SAFETY: the structures are C's, and the message has the length that is given.
        let result = unsafe {
            c::ws_lms_signer_begin(
                &mut counter.0,
                &self.0,
                randomizer.as_ptr(),
                message.as_ptr(),
                message.len(),
                &mut signing,
                head.as_mut_ptr(),
            )
        };
        begun(result, head, signing)
    }
}

/// `ws_hss_key`, with `ws_hss_signer_keygen`, `ws_hss_signer_renew` and `ws_hss_signer_begin`.
#[derive(Clone, Debug)]
pub struct HssKey(HssKeyState);

/// A lower tree, as `ws_hss_signer_renew` gives it.
#[derive(Clone, Debug)]
pub struct LowerTree {
    /// The upper leaf that signs its public key.
    pub upper_leaf: u32,
    /// The head of that signature, and what gives the rest.
    pub head: [u8; 40],
    pub signing: Signing,
    pub public_key: [u8; 56],
}

impl HssKey {
    /// A key pair: this and the public key; `None` where it is refused.
    #[must_use]
    pub fn make(
        counter: &mut Counter,
        seed: [u8; 32],
        identifier: [u8; 16],
        [upper_height, lower_height]: [u8; 2],
    ) -> Option<(HssKey, [u8; 60])> {
        crate::crypto::lms::set_nodes(crate::crypto::lms::Nodes::new());
        let mut state = HssKeyState { seed, identifier, upper_height, lower_height, first: u32::MAX };
        let mut public_key = [0; 60];
        // SAFETY: the structures are C's.
        let result = unsafe { c::ws_hss_signer_keygen(&mut counter.0, &mut state, public_key.as_mut_ptr()) };
        (result == 0).then_some((HssKey(state), public_key))
    }

    /// The next lower tree; `None` where it is refused.
    ///
    /// # Panics
    /// If something is given although it is refused.
    pub fn renew(&self, counter: &mut Counter, randomizer: &[u8; 32]) -> Option<LowerTree> {
        let mut lower = LowerTree {
            upper_leaf: 0xa5a5_a5a5,
            head: [0xa5; 40],
            signing: Signing::new(),
            public_key: [0; 56],
        };
        // SAFETY: the structures are C's.
        let result = unsafe {
            c::ws_hss_signer_renew(
                &mut counter.0,
                &self.0,
                randomizer.as_ptr(),
                &mut lower.upper_leaf,
                &mut lower.signing,
                lower.head.as_mut_ptr(),
                lower.public_key.as_mut_ptr(),
            )
        };
        let (head, signing) = begun(result, lower.head, lower.signing)?;
        Some(LowerTree { head, signing, ..lower })
    }

    /// A message's signature by the lower tree of this upper leaf, begun: its head, and what gives
    /// the rest; `None` where it is refused.
    ///
    /// # Panics
    /// If something is given although it is refused.
    pub fn begin(
        &self,
        counter: &mut Counter,
        upper_leaf: u32,
        randomizer: &[u8; 32],
        message: &[u8],
    ) -> Option<([u8; 40], Signing)> {
        let (mut signing, mut head) = (Signing::new(), [0xa5; 40]);
        // SAFETY: the structures are C's, and the message has the length that is given.
        let result = unsafe {
            c::ws_hss_signer_begin(
                &mut counter.0,
                &self.0,
                upper_leaf,
                randomizer.as_ptr(),
                message.as_ptr(),
                message.len(),
                &mut signing,
                head.as_mut_ptr(),
            )
        };
        begun(result, head, signing)
    }
}

/// Returns the output of a signer: a signature's head, and the signing of the rest; `None` where it
/// refused.
fn begun(result: c_int, head: [u8; 40], mut signing: Signing) -> Option<([u8; 40], Signing)> {
    if result != 0 {
        assert!(head == [0xa5; 40] && signing.rest().is_empty(), "given although refused");
        return None;
    }
    Some((head, signing))
}

/// `ws_message_read_challenge`: the challenge to the node and the milliseconds until it may be
/// answered, or `None`.
///
/// # Panics
/// Panics where the packet has more than 255 bytes, or where the firmware wrote something although
/// it refused.
#[must_use]
pub fn read_challenge(packet: &[u8], node_id: u32) -> Option<([u8; 16], u16)> {
    let len = u8::try_from(packet.len()).expect("the radio's length is a byte");
    let (mut challenge, mut answer_in_ms) = ([0xa5; 16], 0xa5a5);
    // The firmware may read no byte behind the packet: the allocation ends there, so that a memory
    // checker notices.
    let packet = packet.to_vec().into_boxed_slice();
    // SAFETY: len bytes are there, and 16 for the challenge.
    let read = unsafe {
        c::ws_message_read_challenge(packet.as_ptr(), len, node_id, challenge.as_mut_ptr(), &mut answer_in_ms)
    };
    if read == 0 {
        assert_eq!((challenge, answer_in_ms), ([0xa5; 16], 0xa5a5), "refused, but this was written");
        return None;
    }
    Some((challenge, answer_in_ms))
}
