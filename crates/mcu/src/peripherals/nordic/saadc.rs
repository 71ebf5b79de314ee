//! The converter (SAADC): eight channels, each with gain, reference and acquisition time of its
//! own, whose results EasyDMA puts into RAM. Registers are those of Nordic's SVD; what they do is
//! PS, "SAADC", from memory, not yet compared. Calibration takes what Nordic measured.
//!
//! A conversion looks at its input when tACQ is over, and is done tCONV later; events come then,
//! results of a scan in the order of the channels. Input AINn is the board's input `n`, VDDH is VDD
//! (normal voltage mode). A result is rounded down and ends at the range's limits; offset, gain
//! error and noise are left out, so that calibration changes nothing. STARTED comes at once.
//! Refused: the resistor ladder, what the PS rules out (a scan with OVERSAMPLE or with the timer of
//! SAMPLERATE, a rate that conversions cannot keep), and tasks that it gives no meaning.

use super::block::{Block, OwnRegisters};
use super::core_clock::CORE_HZ;
use crate::peripherals::register::Register;
use crate::{Board, ClockUpdate, Context, Dma, Event, Fault, Peripheral, PeripheralSpec, Spec};

const START: u32 = 0x000;
const SAMPLE: u32 = 0x004;
const STOP: u32 = 0x008;
const CALIBRATEOFFSET: u32 = 0x00c;
/// Events, by their bits; LIMITH and LIMITL are those of CH[0], and the other channels' follow.
const STARTED: u32 = 1 << 0;
const END: u32 = 1 << 1;
const DONE: u32 = 1 << 2;
const RESULTDONE: u32 = 1 << 3;
const CALIBRATEDONE: u32 = 1 << 4;
const STOPPED: u32 = 1 << 5;
const LIMITH: u32 = 1 << 6;
const LIMITL: u32 = 1 << 7;
const EVENTS: u32 = (1 << 22) - 1;

const STATUS: u32 = 0x400;
const ENABLE: u32 = 0x500;
/// CH[0], and the bytes to CH[1].
const PSELP: u32 = 0x510;
const PSELN: u32 = 0x514;
const CONFIG: u32 = 0x518;
const LIMIT: u32 = 0x51c;
const CH: u32 = 0x10;
const CHANNELS: u32 = 8;
const RESOLUTION: u32 = 0x5f0;
const OVERSAMPLE: u32 = 0x5f4;
const SAMPLERATE: u32 = 0x5f8;
const PTR: u32 = 0x62c;
const MAXCNT: u32 = 0x630;
const AMOUNT: u32 = 0x634;

/// PSELP, PSELN.
const NC: u32 = 0;
const AIN7: u32 = 8;
const VDD: u32 = 9;
const VDDHDIV5: u32 = 13;
/// CH[n].CONFIG.
const RESP_RESN: u32 = 3 << 4 | 3;
const GAIN: u32 = 8;
const REFSEL: u32 = 1 << 12;
const TACQ: u32 = 16;
const DIFF: u32 = 1 << 20;
const BURST: u32 = 1 << 24;
/// SAMPLERATE.
const CC: u32 = 0x7ff;
const TIMERS: u32 = 1 << 12;
/// Its lowest CC.
const CC_LEAST: u32 = 80;

/// GAIN's multiples.
const GAINS: [f64; 8] = [1.0 / 6.0, 1.0 / 5.0, 1.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0, 1.0, 2.0, 4.0];
const INTERNAL_V: f64 = 0.6;
/// TACQ's times.
const ACQUISITION_US: [u64; 6] = [3, 5, 10, 15, 20, 40];
/// tCONV, its largest: PS, "SAADC electrical specification" (from memory, not yet compared).
const CONVERSION_US: u64 = 2;
/// Conversions of a calibration: 102, 279 and 988 us with 3, 10 and 40 us of acquisition (README of
/// saadc_low_power in NordicPlayground/nRF52-ADC-examples) are 24 times these and 1.2 us.
const CALIBRATION: u64 = 24;
/// The clock of SAMPLERATE.
const TIMER_HZ: u64 = 16_000_000;

/// The registers that keep what is written.
const MAP: &[Register] = &map();

const fn map() -> [Register; 37] {
    let mut map = [Register::new(RESOLUTION, 7).with_reset(1); 37];
    map[1] = Register::new(OVERSAMPLE, 15);
    map[2] = Register::new(SAMPLERATE, TIMERS | CC);
    map[3] = Register::new(PTR, u32::MAX);
    map[4] = Register::new(MAXCNT, 0x7fff);
    let mut channel = 0;
    while channel < CHANNELS {
        let (at, index) = (CH * channel, 5 + 4 * channel as usize);
        map[index] = Register::new(PSELP + at, 0x1f);
        map[index + 1] = Register::new(PSELN + at, 0x1f);
        map[index + 2] = Register::new(CONFIG + at, 0x0117_1733)
            .with_reset(0x0002_0000)
            .refusing(RESP_RESN, "CH[n].CONFIG.RESP and RESN: the resistor ladder is not modelled");
        map[index + 3] = Register::new(LIMIT + at, u32::MAX).with_reset(0x7fff_8000);
        channel += 1;
    }
    map
}

/// A value that the PS reserves.
fn check(offset: u32, value: u32) -> Result<(), &'static str> {
    let is_input = |value: u32| matches!(value & 0x1f, NC..=VDD | VDDHDIV5);
    let within = offset.wrapping_sub(PSELP) % CH + PSELP;
    match offset {
        RESOLUTION if value & 7 > 3 => Err("a reserved value of RESOLUTION"),
        OVERSAMPLE if value & 15 > 8 => Err("a reserved value of OVERSAMPLE"),
        PSELP..RESOLUTION if within == PSELP && !is_input(value) => Err("a reserved value of CH[n].PSELP"),
        PSELP..RESOLUTION if within == PSELN && !is_input(value) => Err("a reserved value of CH[n].PSELN"),
        PSELP..RESOLUTION if within == CONFIG && value >> TACQ & 7 > 5 => {
            Err("a reserved value of CH[n].CONFIG.TACQ")
        }
        _ => Ok(()),
    }
}

/// The converter.
#[derive(Clone)]
pub struct Saadc {
    block: Block,
    enabled: bool,
    /// Address of the next result and room for results, from START to END or STOP.
    buffer: Option<(u32, u32)>,
    amount: u32,
    /// The channel under way and the cycle at which its conversion is done.
    converting: Option<(u32, u64)>,
    /// Codes of the conversions of one result, and their number.
    sum: i32,
    summed: u32,
    /// The cycle at which the timer of SAMPLERATE samples next.
    samples: Option<u64>,
    calibrated: Option<u64>,
    clock_hz: u64,
}

impl Saadc {
    /// The converter at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Saadc {
        Saadc {
            block: Block::new(spec, EVENTS, MAP).with_inten(),
            enabled: false,
            buffer: None,
            amount: 0,
            converting: None,
            sum: 0,
            summed: 0,
            samples: None,
            calibrated: None,
            clock_hz: CORE_HZ,
        }
    }

    fn register(&self, offset: u32) -> u32 {
        self.block.registers[offset]
    }

    fn of_channel(&self, offset: u32, channel: u32) -> u32 {
        self.register(offset + CH * channel)
    }

    /// The channels with an input.
    fn channels(&self) -> impl Iterator<Item = u32> + '_ {
        (0..CHANNELS).filter(|channel| self.of_channel(PSELP, *channel) != NC)
    }

    fn cycles_of_us(&self, us: u64) -> u64 {
        super::core_clock::cycles_of_us(us, self.clock_hz)
    }

    /// tACQ and tCONV.
    fn conversion_us(&self, channel: u32) -> u64 {
        ACQUISITION_US[(self.of_channel(CONFIG, channel) >> TACQ & 7) as usize] + CONVERSION_US
    }

    fn period(&self) -> u64 {
        let periods = (self.register(SAMPLERATE) & CC).max(CC_LEAST);
        (u64::from(periods) * self.clock_hz).div_ceil(TIMER_HZ)
    }

    fn is_burst(&self, channel: u32) -> bool {
        self.of_channel(CONFIG, channel) & BURST != 0
    }

    /// Conversions of a result.
    fn conversions(&self) -> u32 {
        1 << self.register(OVERSAMPLE)
    }

    /// The first channel, or the reason why the channels cannot be sampled so.
    fn check_sample(&self) -> Result<u32, &'static str> {
        if self.converting.is_some() {
            return Err("SAMPLE during a conversion");
        }
        let channels = self.channels().count() as u32;
        let timed = self.register(SAMPLERATE) & TIMERS != 0;
        let Some(first) = self.channels().next() else {
            return Err("SAMPLE while no channel has an input (CH[n].PSELP)");
        };
        if channels > 1 && self.register(OVERSAMPLE) != 0 {
            return Err("OVERSAMPLE with several channels (CH[n].PSELP), which the PS rules out");
        }
        if channels > 1 && timed {
            return Err("SAMPLERATE.MODE Timers with several channels (CH[n].PSELP), which the PS rules out");
        }
        let is_open = |channel: u32| {
            self.of_channel(CONFIG, channel) & DIFF != 0 && self.of_channel(PSELN, channel) == NC
        };
        if self.channels().any(is_open) {
            return Err("a differential channel (CH[n].CONFIG.MODE) without CH[n].PSELN");
        }
        if self.buffer.is_some_and(|(_, room)| room < channels) {
            return Err("RESULT.MAXCNT ends the buffer within a scan of the channels");
        }
        if timed && self.register(SAMPLERATE) & CC < CC_LEAST {
            return Err("SAMPLERATE.CC below 80");
        }
        let repeats = if self.is_burst(first) { u64::from(self.conversions()) } else { 1 };
        if timed && self.period() < self.cycles_of_us(repeats * self.conversion_us(first)) {
            return Err("SAMPLERATE.CC is shorter than acquisition and conversion (CH[n].CONFIG.TACQ)");
        }
        Ok(first)
    }

    fn convert(&mut self, channel: u32, at: u64) {
        self.converting = Some((channel, at + self.cycles_of_us(self.conversion_us(channel))));
    }

    fn sample(&mut self, at: u64) -> Result<(), &'static str> {
        let first = self.check_sample()?;
        self.convert(first, at);
        let timed = self.register(SAMPLERATE) & TIMERS != 0;
        self.samples = timed.then(|| at + self.period());
        Ok(())
    }

    /// The code of a channel whose acquisition ended at a cycle: RESULT = (V(P) - V(N)) *
    /// GAIN / REFERENCE * 2^(RESOLUTION - m), m being 1 for a differential channel.
    fn code(&self, channel: u32, at: u64, board: &Board) -> i32 {
        let volts = |select: u32| match select {
            1..=AIN7 => board.analog_v(select as u8 - 1, at),
            VDD => board.supply_v,
            VDDHDIV5 => board.supply_v / 5.0,
            _ => 0.0,
        };
        let configuration = self.of_channel(CONFIG, channel);
        let is_differential = configuration & DIFF != 0;
        let negative = if is_differential { volts(self.of_channel(PSELN, channel)) } else { 0.0 };
        let input_v = volts(self.of_channel(PSELP, channel)) - negative;
        let reference_v = if configuration & REFSEL != 0 { board.supply_v / 4.0 } else { INTERNAL_V };
        let bits = 8 + 2 * self.register(RESOLUTION) - u32::from(is_differential);
        let full = f64::from(1u32 << bits);
        let gain = GAINS[(configuration >> GAIN & 7) as usize];
        (input_v * gain / reference_v * full).floor().clamp(-full, full - 1.0) as i32
    }

    /// The conversion of a channel is done.
    fn finish(&mut self, channel: u32, end: u64, context: &mut Context<'_, '_>) {
        let acquired = end - self.cycles_of_us(CONVERSION_US);
        self.sum += self.code(channel, acquired, context.board);
        self.summed += 1;
        self.block.raise(DONE);
        if self.summed < self.conversions() {
            if self.is_burst(channel) {
                self.convert(channel, end);
            }
            return;
        }
        let result = (self.sum >> self.register(OVERSAMPLE)) as i16;
        (self.sum, self.summed) = (0, 0);
        self.store(channel, result, context);
        let next = self.channels().find(|next| *next > channel);
        if let Some(next) = next {
            self.convert(next, end);
        }
    }

    fn store(&mut self, channel: u32, result: i16, context: &mut Context<'_, '_>) {
        self.block.raise(RESULTDONE);
        let limits = self.of_channel(LIMIT, channel);
        if result >= (limits >> 16) as i16 {
            self.block.raise(LIMITH << (2 * channel));
        }
        if result <= limits as i16 {
            self.block.raise(LIMITL << (2 * channel));
        }
        if let Some((address, room)) = self.buffer {
            context.events.request_dma(Dma::Store { address, bytes: result.to_le_bytes().to_vec() });
            self.amount += 1;
            self.buffer = (room > 1).then(|| (address.wrapping_add(2), room - 1));
            if room == 1 {
                self.block.raise(END);
            }
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some(at) = self.due().filter(|at| *at <= context.now) {
            if let Some((channel, end)) = self.converting
                && end == at
            {
                self.converting = None;
                self.finish(channel, end, context);
            } else if self.calibrated == Some(at) {
                self.calibrated = None;
                self.block.raise(CALIBRATEDONE);
            } else if self.buffer.is_none() {
                // After END the timer runs, and nothing is sampled until START.
                self.samples = Some(at + self.period());
            } else if let Err(what) = self.sample(at) {
                self.samples = None;
                context.stop(&self.block.name, what);
            }
        }
        self.block.signal(context);
    }

    fn task(&mut self, offset: u32, now: u64) -> Result<(), &'static str> {
        if !self.enabled && offset != STOP {
            return Err("a task while ENABLE is clear");
        }
        if self.calibrated.is_some() && offset != STOP {
            return Err("a task before CALIBRATEDONE");
        }
        match offset {
            START if self.converting.is_some() => return Err("START during a conversion"),
            START if self.register(MAXCNT) == 0 => return Err("START with RESULT.MAXCNT 0"),
            START => {
                self.buffer = Some((self.register(PTR), self.register(MAXCNT)));
                self.amount = 0;
                self.block.raise(STARTED);
            }
            SAMPLE if self.buffer.is_none() => return Err("SAMPLE before START, or after END"),
            SAMPLE => self.sample(now)?,
            STOP => {
                self.abort();
                self.block.raise(STOPPED);
            }
            _ if self.buffer.is_some() => {
                return Err("CALIBRATEOFFSET between START and END gives wrong results (anomaly 237)");
            }
            _ => {
                let longest = self.channels().map(|channel| self.conversion_us(channel)).max();
                let conversion_us = longest.unwrap_or_else(|| self.conversion_us(0));
                self.calibrated = Some(now + self.cycles_of_us(CALIBRATION * conversion_us));
            }
        }
        Ok(())
    }

    fn abort(&mut self) {
        self.buffer = None;
        self.converting = None;
        (self.sum, self.summed) = (0, 0);
        self.samples = None;
        self.calibrated = None;
    }
}

impl OwnRegisters for Saadc {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match offset {
            START | SAMPLE | STOP | CALIBRATEOFFSET if value & 1 == 0 => {}
            START | SAMPLE | STOP | CALIBRATEOFFSET => self.task(offset, context.now)?,
            ENABLE => {
                self.enabled = value & 1 != 0;
                if !self.enabled {
                    self.abort();
                }
            }
            // Read-only.
            STATUS | AMOUNT => {}
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Saadc {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let own = match (address - self.block.base) & !3 {
            START..=CALIBRATEOFFSET => Some(0),
            STATUS => Some(u32::from(self.converting.is_some())),
            ENABLE => Some(u32::from(self.enabled)),
            AMOUNT => Some(self.amount),
            _ => None,
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let offset = address - self.block.base;
        check(offset, value).map_err(|what| context.fault(&self.block.name, address, what))?;
        let is_kept = self.write_register(address, size, value, context)?;
        if is_kept && self.register(SAMPLERATE) & TIMERS == 0 {
            self.samples = None;
        }
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let done = self.converting.map(|(_, end)| end);
        [done, self.samples, self.calibrated].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.advance(context);
            self.block.connect(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.enabled = false;
        self.amount = 0;
        self.abort();
    }
}
