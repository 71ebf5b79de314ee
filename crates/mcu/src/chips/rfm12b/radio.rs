//! State machine, TX registers and receiver.
//!
//! Times: the data sheet, "Turn-on/Turnaround timings", as `radios/rfm12b.toml` has them.

use super::{AirByte, Rfm12b};

/// Reset Modes: "the reset event can last up to 100 ms".
pub(super) const RESET_NS: u64 = 100_000_000;
/// t_sx: crystal oscillator start-up.
const CRYSTAL_NS: u64 = 2_000_000;
/// T_tx_XTAL_ON, T_rx_XTAL_ON: the synthesizer off, the crystal oscillator on.
const SYNTHESIZER_NS: u64 = 250_000;
/// T_tx_rx_SYNT_ON, T_rx_tx_SYNT_ON.
const TURNAROUND_NS: u64 = 150_000;
/// RX FIFO Buffered Data Read: 16 bits.
pub(super) const FIFO_BYTES: usize = 2;
/// For so long after its end a byte that changes nothing may stay around.
const STALE_NS: u64 = 50_000_000;
/// Value of the two TX registers before anything is written: AAAAh.
const PRELOADED: u8 = 0xaa;
/// The synchron pattern's first byte.
const PATTERN_1: u8 = 0x2d;

/// State of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Reset,
    Sleep,
    /// The crystal starts.
    Crystal,
    Idle,
    /// The synthesizer starts or changes over.
    Settling,
    /// The synthesizer runs, for nothing.
    Ready,
    Rx,
    Tx,
}

/// The transmitter at work.
#[derive(Clone)]
pub(super) struct Sending {
    /// When the byte on the air ends, and which it is.
    end_ns: u64,
    byte: u8,
    /// Next byte in the TX register.
    register: Option<u8>,
}

/// A byte that is, or will be, on the air around the chip.
#[derive(Clone)]
pub(super) struct Heard {
    pub air: AirByte,
    pub readable: bool,
    /// Its first bit is past.
    pub begun: bool,
    /// The FIFO had no room for its first bit.
    pub lost: bool,
}

/// Bytes heard without a gap.
#[derive(Clone)]
pub(super) struct Run {
    end_ns: u64,
    bytes: u32,
    /// The last one, where it was readable.
    last: Option<u8>,
}

/// Event that comes next.
#[derive(Clone, Copy)]
pub(super) enum Event {
    State,
    Send,
    /// The first bit of the first byte around is past.
    Begin,
    /// The first byte around ends.
    End,
}

impl Rfm12b {
    pub(super) fn next_event(&self) -> Option<(u64, Event)> {
        let state = self.next_ns.map(|at_ns| (at_ns, Event::State));
        let send = self.sending.as_ref().map(|sending| (sending.end_ns, Event::Send));
        let heard = self.air.front().filter(|_| self.state == State::Rx).map(|heard| match heard.begun {
            false => ((heard.air.start_ns + self.registers.bit_ns).min(heard.air.end_ns), Event::Begin),
            true => (heard.air.end_ns, Event::End),
        });
        [state, send, heard].into_iter().flatten().min_by_key(|(at_ns, _)| *at_ns)
    }

    /// When nIRQ may change by itself, or bytes that were not heard have piled up. Most of what a
    /// station hears is for others, so while there is no synchronisation only a byte that may
    /// complete the pattern counts.
    pub(super) fn due_ns(&self) -> Option<u64> {
        let heard = match self.state {
            State::Rx if !self.synchronised => {
                let last = |heard: &&Heard| heard.readable && heard.air.byte == self.registers.pattern;
                self.air.iter().find(last).map(|heard| heard.air.end_ns)
            }
            _ => self.next_event().map(|(at_ns, _)| at_ns),
        };
        let stale = self.air.front().map(|heard| heard.air.end_ns + STALE_NS);
        [self.next_ns, heard, stale].into_iter().flatten().min()
    }

    /// Time passes up to `now_ns`.
    pub(super) fn update_until(&mut self, now_ns: u64) {
        while let Some((at_ns, event)) = self.next_event().filter(|(at_ns, _)| *at_ns <= now_ns) {
            self.pass(at_ns);
            match event {
                Event::State => self.step(),
                Event::Send => self.send_on(),
                Event::Begin => self.begin(),
                Event::End => self.end(),
            }
        }
        self.pass(now_ns);
        if self.state != State::Rx {
            while self.air.front().is_some_and(|heard| heard.air.end_ns <= now_ns) {
                self.air.pop_front();
            }
        }
    }

    fn pass(&mut self, now_ns: u64) {
        let now_ns = now_ns.max(self.now_ns);
        let index = match self.state {
            State::Sleep => 0,
            State::Reset | State::Crystal => 1,
            State::Idle => 2,
            State::Settling | State::Ready => 3,
            State::Rx => 4,
            State::Tx => 5,
        };
        self.spent_ns[index] += now_ns - self.now_ns;
        self.now_ns = now_ns;
    }

    /// State that the Power Management Command asks for.
    pub(super) fn goal(&self) -> State {
        let registers = &self.registers;
        match () {
            () if registers.receiver => State::Rx,
            () if registers.transmitter => State::Tx,
            () if registers.synthesizer => State::Ready,
            () if registers.crystal => State::Idle,
            () => State::Sleep,
        }
    }

    fn enter(&mut self, state: State, time_ns: Option<u64>) {
        self.state = state;
        self.next_ns = time_ns.map(|time_ns| self.now_ns + time_ns);
        match state {
            State::Rx => self.receiving_since_ns = self.now_ns,
            State::Tx => {
                self.send(PRELOADED);
                if let Some(sending) = &mut self.sending {
                    sending.register = Some(PRELOADED);
                }
            }
            _ => {}
        }
    }

    /// The state's time is over.
    fn step(&mut self) {
        match self.state {
            State::Reset => {
                self.power_on_reset = true;
                self.enter(State::Idle, None);
            }
            State::Crystal if self.registers.synthesizer => self.enter(State::Settling, Some(SYNTHESIZER_NS)),
            _ => self.enter(self.goal(), None),
        }
    }

    /// After the Power Management Command: on the way to what it asks for.
    pub(super) fn power_changed(&mut self, before: State) {
        if !self.registers.transmitter {
            // "The content of the data registers are initialized by clearing bit et."
            self.sending = None;
            self.register_ready = false;
        }
        let goal = self.goal();
        if goal == before {
            return;
        }
        match (self.state, goal) {
            (_, State::Sleep) => self.enter(State::Sleep, None),
            (State::Sleep, _) => self.enter(State::Crystal, Some(CRYSTAL_NS)),
            // It asks where to when it is over.
            (State::Crystal, _) => {}
            (_, State::Idle) => self.enter(State::Idle, None),
            (State::Idle | State::Settling, _) => self.enter(State::Settling, Some(SYNTHESIZER_NS)),
            (_, State::Ready) => self.enter(State::Ready, None),
            _ => self.enter(State::Settling, Some(TURNAROUND_NS)),
        }
    }

    fn send(&mut self, byte: u8) {
        let end_ns = self.now_ns + 8 * self.registers.bit_ns;
        self.on_air.push(AirByte { start_ns: self.now_ns, end_ns, byte });
        self.sending = Some(Sending { end_ns, byte, register: None });
    }

    /// A byte is out: the next one moves up and leaves its register to be written. Where there is
    /// none, the data sheet does not say what goes out: here the last one once more.
    fn send_on(&mut self) {
        let Some(sending) = self.sending.take() else { return };
        self.register_missed |= sending.register.is_none();
        self.register_ready = true;
        self.send(sending.register.unwrap_or(sending.byte));
    }

    /// Transmitter Register Write Command. Over a byte that still waits there it is "register over
    /// write".
    pub(super) fn write_register(&mut self, byte: u8) -> Result<(), String> {
        match &mut self.sending {
            Some(sending) => {
                self.register_missed |= sending.register.is_some();
                sending.register = Some(byte);
                self.register_ready = false;
                Ok(())
            }
            None if self.registers.transmitter => {
                Err("the TX register is written before the transmitter has asked for a byte".into())
            }
            // Turning the transmitter on preloads the registers.
            None => Ok(()),
        }
    }

    /// The receiver waits for a synchron pattern, its FIFO empty.
    pub(super) fn search(&mut self) {
        self.synchronised = false;
        self.fifo.clear();
    }

    /// A signal at the receiver.
    pub(super) fn signal(&self) -> bool {
        self.state == State::Rx
            && self.air.iter().any(|heard| (heard.air.start_ns..heard.air.end_ns).contains(&self.now_ns))
    }

    /// The first bit of a byte is in: the seventeenth is one too many.
    fn begin(&mut self) {
        let full = self.synchronised && self.fifo.len() >= FIFO_BYTES;
        self.fifo_overflow |= full;
        if let Some(heard) = self.air.front_mut() {
            heard.begun = true;
            heard.lost = full;
        }
    }

    fn end(&mut self) {
        let Some(Heard { air, readable, lost, .. }) = self.air.pop_front() else { return };
        if air.start_ns < self.receiving_since_ns {
            return;
        }
        // Clocks that count nanoseconds elsewhere may be a bit apart.
        let bit_ns = self.registers.bit_ns;
        let before = self.run.take();
        let (follows, overlaps) = before.as_ref().map_or((false, false), |run| {
            (run.end_ns.abs_diff(air.start_ns) < bit_ns, air.start_ns + bit_ns <= run.end_ns)
        });
        // Of two at once the one that can be read is heard, else the first.
        if overlaps && (!readable || before.as_ref().is_some_and(|run| run.last.is_some())) {
            self.run = before;
            return;
        }
        let before = before.filter(|_| follows);
        let bytes = before.as_ref().map_or(1, |run| run.bytes + 1);
        let last = readable.then_some(air.byte);
        self.run = Some(Run { end_ns: air.end_ns, bytes, last });
        if self.synchronised {
            if !lost {
                // What does not follow has other borders of bytes than what was synchronised to.
                self.fifo.push_back(if readable && follows { air.byte } else { !air.byte });
            }
            return;
        }
        let Some(before) = before else { return };
        let (pattern_bytes, begins) = match self.registers.short_pattern {
            true => (1, true),
            false => (2, before.last == Some(PATTERN_1)),
        };
        let found = begins && before.bytes >= pattern_bytes && last == Some(self.registers.pattern);
        self.synchronised = self.registers.fill && found;
    }
}
