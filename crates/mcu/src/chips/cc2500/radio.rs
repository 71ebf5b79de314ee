//! The state machine: strobes, sending, receiving, sleep. SWRS040, "Radio Control".

use super::packet::{Format, Frame, check_sum};
use super::registers::*;
use super::{Cc2500, FIFO_BYTES, Heard, timing};

/// Values of `RSSI` while a packet is on the air, and else: 0x10 is -64 dBm with the offset of 72
/// dB, 0x80 the least.
pub(super) const RSSI_STRONG: u8 = 0x10;
pub(super) const RSSI_SILENT: u8 = 0x80;
/// `LQI` of every packet; the lower the better.
pub(super) const QUALITY: u8 = 0x20;

/// State of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Sleep,
    Xoff,
    /// The crystal starts.
    Crystal,
    Idle,
    Calibrate,
    Settling,
    Fstxon,
    Rx,
    Tx,
    RxOverflow,
    TxUnderflow,
}

/// Transition when a state's time is over.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// The synthesizer settles, on the way to this state.
    Settle(State),
    Enter(State),
    /// No sync word came in time.
    GiveUp,
}

/// Stage of a packet that is being sent.
#[derive(Clone, Copy)]
enum Stage {
    Preamble,
    Bytes,
    Check,
}

#[derive(Clone)]
pub(super) struct Sending {
    format: Format,
    start_ns: u64,
    /// When its sync word began.
    sync_ns: u64,
    stage: Stage,
    /// The sync word is out.
    pub(super) synced: bool,
    /// Bytes out of the FIFO, the length byte among them.
    bytes: Vec<u8>,
    next_ns: u64,
}

#[derive(Clone)]
pub(super) struct Reception {
    format: Format,
    /// When its sync word ended and its last bit will.
    from_ns: u64,
    end_ns: u64,
    /// Length byte and what it carries.
    bytes: Vec<u8>,
    right: bool,
    /// Bytes of it that are in.
    count: usize,
}

impl Reception {
    fn next_ns(&self) -> u64 {
        let (all, next) = (self.bytes.len() as u64 + self.format.check, self.count as u64 + 1);
        let whole = (self.end_ns - self.from_ns) as u128;
        match self.count < self.bytes.len() {
            true => self.from_ns + (whole * u128::from(next) / u128::from(all)) as u64,
            false => self.end_ns,
        }
    }
}

/// Wake-on-radio.
#[derive(Clone, Copy)]
pub(super) struct Wake {
    event0_ns: u64,
    /// When the receiver is turned on, once the crystal has been.
    event1_ns: Option<u64>,
}

/// Event that comes next.
#[derive(Clone, Copy)]
pub(super) enum Event {
    State,
    Send,
    Receive,
    /// The sync word of the packet of this index ends.
    Sync(usize),
    Event0,
    Event1,
}

impl Cc2500 {
    /// As after `SRES`; time and ether go on.
    pub(super) fn reset(&mut self) {
        self.config = AFTER_RESET;
        self.power_table = [0; 8];
        self.flush_rx();
        self.flush_tx();
        self.check_ok = false;
        self.abort();
        self.wake = None;
        self.at_release = None;
        self.start_crystal();
    }

    pub(super) fn next_event(&self) -> Option<(u64, Event)> {
        let state = self.next.map(|(at_ns, _)| (at_ns, Event::State));
        let send = self.sending.as_ref().map(|sending| (sending.next_ns, Event::Send));
        let receive = self.reception.as_ref().map(|reception| (reception.next_ns(), Event::Receive));
        let event0 = self.wake.map(|wake| (wake.event0_ns, Event::Event0));
        let event1 = self.wake.and_then(|wake| Some((wake.event1_ns?, Event::Event1)));
        let waiting = self.air.iter().enumerate().filter(|(_, heard)| !heard.done);
        let sync = waiting.map(|(index, heard)| (self.sync_ns(&heard.frame).1, Event::Sync(index)));
        let all = [state, send, receive, event0, event1].into_iter().flatten().chain(sync);
        all.min_by_key(|(at_ns, _)| *at_ns)
    }

    /// Time passes up to `now_ns`.
    pub(super) fn update_until(&mut self, now_ns: u64) {
        while let Some((at_ns, event)) = self.next_event().filter(|(at_ns, _)| *at_ns <= now_ns) {
            self.pass(at_ns);
            self.come(event);
        }
        self.pass(now_ns);
        self.air.retain(|heard| heard.frame.end_ns > now_ns);
    }

    fn pass(&mut self, now_ns: u64) {
        let now_ns = now_ns.max(self.now_ns);
        let index = match self.state {
            State::Sleep if self.wake.is_some() => 1,
            State::Sleep => 0,
            State::Xoff => 2,
            State::Crystal => 3,
            // The data sheet gives no currents for the two error states: the synthesizer is off.
            State::Idle | State::RxOverflow | State::TxUnderflow => 4,
            State::Calibrate => 5,
            State::Settling => 6,
            State::Fstxon => 7,
            State::Rx => 8,
            State::Tx => 9,
        };
        self.spent_ns[index] += now_ns - self.now_ns;
        self.now_ns = now_ns;
    }

    fn come(&mut self, event: Event) {
        match event {
            Event::State => match self.next.take().map(|(_, next)| next) {
                Some(Next::Settle(goal)) => self.begin_settling(goal, timing::SETTLE_NS),
                Some(Next::Enter(state)) => self.enter(state),
                Some(Next::GiveUp) if self.wake.is_some() => self.sleep(),
                Some(Next::GiveUp) => self.back_to_idle(),
                None => {}
            },
            Event::Send => self.send_on(),
            Event::Receive => self.receive_on(),
            Event::Sync(index) => self.synced(index),
            Event::Event0 => {
                let period_ns = timing::wake_period_ns(&self.config);
                let ready_ns = self.now_ns + timing::start_ns(&self.config);
                let event1_ns = ready_ns.max(self.now_ns + timing::event1_ns(&self.config));
                let asleep = self.state == State::Sleep;
                if let Some(wake) = &mut self.wake {
                    wake.event0_ns += period_ns;
                    wake.event1_ns = asleep.then_some(event1_ns).or(wake.event1_ns);
                }
                if asleep {
                    self.start_crystal();
                }
            }
            Event::Event1 => {
                if let Some(wake) = &mut self.wake {
                    wake.event1_ns = None;
                }
                if self.state == State::Idle {
                    self.leave_idle(State::Rx);
                }
            }
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.since_ns = self.now_ns;
        self.next = None;
        match state {
            State::Tx => self.begin_packet(),
            State::Rx => {
                self.check_ok = false;
                self.listen();
            }
            _ => {}
        }
    }

    fn listen(&mut self) {
        let limit_ns = timing::receive_limit_ns(&self.config);
        self.next = limit_ns.map(|limit_ns| (self.now_ns + limit_ns, Next::GiveUp));
    }

    fn in_time(&mut self, state: State, time_ns: u64, next: Next) {
        self.enter(state);
        self.next = Some((self.now_ns + time_ns, next));
    }

    fn begin_settling(&mut self, goal: State, time_ns: u64) {
        self.in_time(State::Settling, time_ns, Next::Enter(goal));
    }

    fn start_crystal(&mut self) {
        self.in_time(State::Crystal, timing::start_ns(&self.config), Next::Enter(State::Idle));
    }

    fn auto_calibration(&self) -> u8 {
        self.config[MCSM0] >> 4 & 3
    }

    /// From IDLE to RX, TX or FSTXON.
    fn leave_idle(&mut self, goal: State) {
        if self.auto_calibration() == 1 {
            self.in_time(State::Calibrate, timing::CALIBRATE_NS, Next::Settle(goal));
        } else {
            self.begin_settling(goal, timing::SETTLE_NS);
        }
    }

    /// From RX or TX to IDLE by itself: `MCSM0.FS_AUTOCAL` 2 calibrates on this way, 3 every fourth
    /// time.
    fn back_to_idle(&mut self) {
        self.abort();
        self.returns = (self.returns + 1) % 4;
        match self.auto_calibration() {
            2 => self.in_time(State::Calibrate, timing::CALIBRATE_NS, Next::Enter(State::Idle)),
            3 if self.returns == 0 => {
                self.in_time(State::Calibrate, timing::CALIBRATE_NS, Next::Enter(State::Idle));
            }
            _ => self.begin_settling(State::Idle, timing::TO_IDLE_NS),
        }
    }

    fn abort(&mut self) {
        self.sending = None;
        self.reception = None;
    }

    fn flush_rx(&mut self) {
        self.rx.clear();
        self.rx_overflown = false;
        self.packet_ok = false;
    }

    fn flush_tx(&mut self) {
        self.tx.clear();
        self.tx_underflown = false;
    }

    /// Into SLEEP, where the FIFOs, the test registers and most of PATABLE are lost.
    fn sleep(&mut self) {
        self.flush_rx();
        self.flush_tx();
        self.config[FSTEST..].copy_from_slice(&AFTER_RESET[FSTEST..]);
        self.power_table[1..].fill(0);
        self.enter(State::Sleep);
    }

    /// The select line has gone low.
    pub(super) fn roused(&mut self) {
        match self.state {
            State::Sleep | State::Xoff => {
                self.wake = None;
                self.start_crystal();
            }
            State::Crystal => self.wake = None,
            _ => {}
        }
    }

    /// The select line has gone high.
    pub(super) fn released(&mut self) {
        let strobe = self.at_release.take();
        if self.state != State::Idle {
            return;
        }
        match strobe {
            Some(SPWD) => self.sleep(),
            Some(SXOFF) => self.enter(State::Xoff),
            Some(SWOR) => {
                let event0_ns = self.now_ns + timing::wake_period_ns(&self.config);
                self.wake = Some(Wake { event0_ns, event1_ns: None });
                self.sleep();
            }
            _ => {}
        }
    }

    pub(super) fn strobe(&mut self, strobe: u8) -> Result<(), String> {
        if strobe != SNOP {
            self.at_release = None;
        }
        let only_from = |allowed: bool, name: &str| match allowed {
            true => Ok(()),
            false => Err(format!("{name} is strobed in state {:?}, where it is not allowed", self.state)),
        };
        match strobe {
            SRES => self.reset(),
            SNOP | SWORRST => {}
            SFSTXON | SRX | STX => self.turn_on(strobe)?,
            SIDLE => {
                self.abort();
                self.wake = None;
                match self.state {
                    State::Rx | State::Tx => self.begin_settling(State::Idle, timing::TO_IDLE_NS),
                    _ => self.enter(State::Idle),
                }
            }
            SCAL => {
                only_from(self.state == State::Idle, "SCAL")?;
                self.in_time(State::Calibrate, timing::CALIBRATE_NS, Next::Enter(State::Idle));
            }
            SPWD | SXOFF | SWOR => {
                only_from(self.state == State::Idle, "SPWD, SXOFF or SWOR")?;
                if strobe == SWOR && self.config[WORCTRL] & 0x80 != 0 {
                    return Err("SWOR without the RC oscillator: WORCTRL.RC_PD is set".into());
                }
                self.at_release = Some(strobe);
            }
            SFRX => {
                only_from(matches!(self.state, State::Idle | State::RxOverflow), "SFRX")?;
                self.flush_rx();
                self.enter(State::Idle);
            }
            SFTX => {
                only_from(matches!(self.state, State::Idle | State::TxUnderflow), "SFTX")?;
                self.flush_tx();
                self.enter(State::Idle);
            }
            _ => return Err(format!("there is no strobe {strobe:#04x}")),
        }
        Ok(())
    }

    fn turn_on(&mut self, strobe: u8) -> Result<(), String> {
        Format::new(&self.config)?;
        if self.config[MCSM2] & 0x18 != 0 {
            return Err("MCSM2: RX_TIME_RSSI and RX_TIME_QUAL are not modelled".into());
        }
        if self.config[MCSM2] & 7 != 7 && self.config[WORCTRL] & 0x80 != 0 {
            return Err("MCSM2.RX_TIME counts the RC oscillator, which WORCTRL.RC_PD has off".into());
        }
        let goal = match strobe {
            SRX => State::Rx,
            STX => State::Tx,
            _ => State::Fstxon,
        };
        match (self.state, goal) {
            (State::Idle, _) => {
                self.wake = None;
                self.leave_idle(goal);
            }
            (State::Fstxon, State::Tx) => self.begin_settling(goal, timing::RX_TX_NS),
            (State::Fstxon, State::Rx) => self.begin_settling(goal, timing::TX_RX_NS),
            (State::Rx, State::Tx | State::Fstxon) if self.may_send() => {
                self.abort();
                self.wake = None;
                self.begin_settling(goal, timing::RX_TX_NS);
            }
            (State::Tx, State::Rx) => {
                self.abort();
                self.begin_settling(goal, timing::TX_RX_NS);
            }
            // On its way: somewhere else now.
            (State::Calibrate, _) if matches!(self.next, Some((_, Next::Settle(_)))) => {
                self.next = self.next.map(|(at_ns, _)| (at_ns, Next::Settle(goal)));
            }
            (State::Settling, _) => {
                self.next = self.next.map(|(at_ns, _)| (at_ns, Next::Enter(goal)));
            }
            _ => {}
        }
        Ok(())
    }

    /// `MCSM1.CCA_MODE`: whether a strobe may turn the receiver off to send.
    fn may_send(&self) -> bool {
        self.config[MCSM1] >> 4 & 3 == 0 || self.channel_clear()
    }

    fn begin_packet(&mut self) {
        match Format::new(&self.config) {
            Ok(format) => {
                let next_ns = self.now_ns + timing::bits_ns(&self.config, 8 * format.preamble);
                self.sending = Some(Sending {
                    format,
                    start_ns: self.now_ns,
                    sync_ns: 0,
                    stage: Stage::Preamble,
                    synced: false,
                    bytes: Vec::new(),
                    next_ns,
                });
            }
            Err(problem) => {
                self.problem = Some(problem);
                self.enter(State::Idle);
            }
        }
    }

    fn send_on(&mut self) {
        let Some(mut sending) = self.sending.take() else { return };
        let bytes_ns = |bytes: u64| timing::bits_ns(&self.config, 8 * bytes);
        let format = sending.format;
        match sending.stage {
            // The preamble goes on until there is something to send.
            Stage::Preamble if self.tx.is_empty() => sending.next_ns += bytes_ns(1),
            Stage::Preamble => {
                sending.sync_ns = self.now_ns;
                sending.stage = Stage::Bytes;
                sending.next_ns = self.now_ns + bytes_ns(format.sync);
            }
            Stage::Bytes => {
                sending.synced = true;
                let length = match sending.bytes.first() {
                    Some(first) if format.length_byte => usize::from(*first) + 1,
                    _ => usize::from(format.length),
                };
                let out = sending.bytes.len();
                if out == length && out != 0 {
                    sending.stage = Stage::Check;
                    sending.next_ns = sending.sync_ns + bytes_ns(format.sync + out as u64 + format.check);
                    if format.check == 0 {
                        return self.sent_all(sending);
                    }
                } else if let Some(byte) = self.tx.pop_front() {
                    sending.bytes.push(byte);
                    sending.next_ns = sending.sync_ns + bytes_ns(format.sync + out as u64 + 1);
                } else {
                    self.tx_underflown = true;
                    return self.enter(State::TxUnderflow);
                }
            }
            Stage::Check => return self.sent_all(sending),
        }
        self.sending = Some(sending);
    }

    fn sent_all(&mut self, sending: Sending) {
        let bytes = sending.bytes[usize::from(sending.format.length_byte)..].to_vec();
        self.sent.push(Frame { start_ns: sending.start_ns, end_ns: self.now_ns, bytes });
        // MCSM1.TXOFF_MODE.
        match self.config[MCSM1] & 3 {
            0 => self.back_to_idle(),
            1 => self.enter(State::Fstxon),
            2 => self.enter(State::Tx),
            _ => self.begin_settling(State::Rx, timing::TX_RX_NS),
        }
    }

    /// When the sync word of a packet begins and ends, in the chip's own format.
    fn sync_ns(&self, frame: &Frame) -> (u64, u64) {
        let whole_ns = u128::from(frame.end_ns.saturating_sub(frame.start_ns));
        let at =
            |bytes: u64, all: u64| frame.start_ns + (whole_ns * u128::from(bytes) / u128::from(all)) as u64;
        match Format::new(&self.config) {
            Ok(format) => {
                let all = format.on_air(frame.bytes.len() as u64);
                (at(format.preamble, all), at(format.preamble + format.sync, all))
            }
            Err(_) => (frame.end_ns, frame.end_ns),
        }
    }

    pub(super) fn on_air(&mut self, mut heard: Heard) {
        let overlaps =
            |other: &Frame| other.start_ns < heard.frame.end_ns && heard.frame.start_ns < other.end_ns;
        for other in self.air.iter_mut().filter(|other| overlaps(&other.frame)) {
            other.spoilt = true;
            heard.spoilt = true;
        }
        if let Some(reception) = &mut self.reception
            && heard.frame.start_ns < reception.end_ns
            && reception.from_ns < heard.frame.end_ns
        {
            reception.right = false;
        }
        heard.done = self.sync_ns(&heard.frame).1 <= self.now_ns || heard.frame.bytes.len() > 255;
        self.air.push(heard);
    }

    fn synced(&mut self, index: usize) {
        let (begin_ns, synced_ns) = self.sync_ns(&self.air[index].frame);
        self.air[index].done = true;
        let Ok(format) = Format::new(&self.config) else { return };
        let Heard { frame, spoilt, .. } = &self.air[index];
        let length = frame.bytes.len();
        // Settings changed meanwhile may have moved it into the past.
        let in_time = self.since_ns <= begin_ns && synced_ns == self.now_ns && synced_ns < frame.end_ns;
        let listens = self.state == State::Rx && in_time && self.reception.is_none();
        if !listens || !format.length_byte && length != usize::from(format.length) {
            return;
        }
        let bytes: Vec<u8> = format
            .length_byte
            .then_some(length as u8)
            .into_iter()
            .chain(frame.bytes.iter().copied())
            .collect();
        let sent = check_sum(bytes.iter().copied()) ^ u16::from(*spoilt);
        let right = check_sum(bytes.iter().copied()) == sent;
        let (from_ns, end_ns) = (self.now_ns, frame.end_ns);
        self.next = None;
        self.reception = Some(Reception { format, from_ns, end_ns, bytes, right, count: 0 });
    }

    fn receive_on(&mut self) {
        let Some(mut reception) = self.reception.take() else { return };
        let format = reception.format;
        let Some(byte) = reception.bytes.get(reception.count).copied() else {
            return self.received(&reception);
        };
        let address = usize::from(format.length_byte);
        let too_long = format.length_byte && reception.count == 0 && byte > format.length;
        let others = reception.count == address && !format.hears(byte);
        if too_long || others {
            // "Packet Filtering": the packet is discarded, and the receiver begins anew.
            self.rx.truncate(self.rx.len().saturating_sub(reception.count));
            return self.listen();
        }
        if !self.store(byte) {
            return;
        }
        reception.count += 1;
        if reception.count == reception.bytes.len() && format.check == 0 {
            return self.received(&reception);
        }
        self.reception = Some(reception);
    }

    /// Puts a byte into the receive FIFO; false where that overflows.
    fn store(&mut self, byte: u8) -> bool {
        if self.rx.len() >= FIFO_BYTES {
            self.rx_overflown = true;
            self.enter(State::RxOverflow);
            return false;
        }
        self.rx.push_back(byte);
        true
    }

    fn received(&mut self, reception: &Reception) {
        let format = reception.format;
        let right = reception.right || format.check == 0;
        self.check_ok = right && format.check != 0;
        if !right && format.auto_flush {
            self.flush_rx();
        } else if format.append_status {
            let quality = u8::from(right) << 7 | QUALITY;
            if !self.store(RSSI_STRONG) || !self.store(quality) {
                return;
            }
        }
        self.packet_ok = self.check_ok;
        self.wake = None;
        // MCSM1.RXOFF_MODE.
        match self.config[MCSM1] >> 2 & 3 {
            0 => self.back_to_idle(),
            1 => self.begin_settling(State::Fstxon, timing::RX_TX_NS),
            2 => self.begin_settling(State::Tx, timing::RX_TX_NS),
            _ => self.listen(),
        }
    }
}
