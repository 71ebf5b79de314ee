//! The converter (ADC): single conversions and free running, single-ended and differential, with 8,
//! 10 or 12 bits and all gains. DS40001882F sections 33.6 and 33.8.
//!
//! A conversion takes 1 + resolution / 2 + delay of the gain clocks of CLK_ADC, in free running one
//! less (section 33.6.3; the delays are those of its table, the formula is from memory), and half a
//! clock more for each step of SAMPLEN. It is taken to begin with the write that starts it, and the
//! voltage is taken when the sampling time is over. Inputs are the board's channels by the numbers
//! of AIN. The bandgap has its 1.1 V and the reference INT1V its 1.0 V, both typical. Refused:
//! averaging and 16 bits, correction, the window monitor, events, AREFB, the temperature sensor,
//! the core's supply and the DAC as inputs, a clock outside of 30 kHz to 2.1 MHz (section 37.11.4).
//! What is written holds at once: STATUS.SYNCBUSY is never set.

use crate::{Board, ClockUpdate, Context, Fault, Part, Peripheral, PeripheralSpec, Spec};

const CTRLA: usize = 0x00;
const REFCTRL: usize = 0x01;
const AVGCTRL: usize = 0x02;
const SAMPCTRL: usize = 0x03;
const CTRLB: usize = 0x04;
const WINCTRL: usize = 0x08;
const SWTRIG: usize = 0x0c;
const INPUTCTRL: usize = 0x10;
const EVCTRL: usize = 0x14;
const INTENCLR: usize = 0x16;
const INTENSET: usize = 0x17;
const INTFLAG: usize = 0x18;
const RESULT: usize = 0x1a;
const SIZE: usize = 0x2c;

/// CTRLA.
const SWRST: u8 = 1 << 0;
const ENABLE: u8 = 1 << 1;
/// CTRLB's lower byte.
const DIFFMODE: u8 = 1 << 0;
const LEFTADJ: u8 = 1 << 1;
const FREERUN: u8 = 1 << 2;
const CORREN: u8 = 1 << 3;
/// Bits of a result by CTRLB.RESSEL; 16 are those of averaging.
const BITS: [Option<u32>; 4] = [Some(12), None, Some(10), Some(8)];
/// SWTRIG.
const START: u8 = 1 << 1;
/// INTFLAG.
const RESRDY: u8 = 1 << 0;
const OVERRUN: u8 = 1 << 1;
const SYNCRDY: u8 = 1 << 3;
const INTERRUPTS: u8 = 0x0f;

const SLOWEST_HZ: u64 = 30_000;
const FASTEST_HZ: u64 = 2_100_000;
const BANDGAP_V: f64 = 1.1;
const INT1V_V: f64 = 1.0;

/// By INPUTCTRL.GAIN: the factor, and the delay in halves of a clock: of single conversions,
/// differential and single-ended, and of free running.
const GAINS: [(u8, f64, [[u64; 2]; 2]); 6] = [
    (0x0, 1.0, [[0, 2], [0, 0]]),
    (0x1, 2.0, [[1, 3], [0, 2]]),
    (0x2, 4.0, [[2, 4], [2, 2]]),
    (0x3, 8.0, [[3, 5], [2, 4]]),
    (0x4, 16.0, [[4, 6], [4, 4]]),
    (0xf, 0.5, [[1, 3], [0, 2]]),
];

/// The bits of a byte of the registers that keep what is written; none where there is no register.
fn kept(offset: usize) -> Option<u8> {
    Some(match offset {
        CTRLA => 0x06,
        REFCTRL => 0x8f,
        AVGCTRL => 0x7f,
        SAMPCTRL => 0x3f,
        CTRLB => 0x3f,
        0x05 | WINCTRL => 0x07,
        SWTRIG | INTENCLR | INTENSET | INTFLAG | 0x19 | RESULT | 0x1b => 0,
        INPUTCTRL | 0x11 => 0x1f,
        0x12 => 0xff,
        0x13 => 0x0f,
        EVCTRL => 0x33,
        // WINLT, WINUT, GAINCORR, OFFSETCORR, CALIB, DBGCTRL.
        0x1c | 0x1d | 0x20 | 0x21 | 0x24 | 0x26 | 0x28 => 0xff,
        0x25 | 0x27 => 0x0f,
        0x29 => 0x07,
        0x2a => 0x01,
        0x06..0x2c => 0,
        _ => return None,
    })
}

/// The converter.
#[derive(Clone)]
pub struct Adc {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_id: usize,
    clock_hz: u64,
    bytes: [u8; SIZE],
    enables: u8,
    flags: u8,
    result: u16,
    /// The cycles at which the voltage is taken and the result is there.
    conversion: Option<(u64, u64)>,
    /// Why the last conversion cannot be told, until the program hears of it.
    failure: Option<String>,
}

impl Adc {
    /// The converter at `spec.base`, interrupting with `spec.irq`; `settings.clock` is its clock's
    /// GCLK_CLKCTRL.ID.
    ///
    /// # Errors
    /// No clock.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Adc, String> {
        let clock = spec.settings.get("clock").and_then(|clock| usize::try_from(*clock).ok());
        Ok(Adc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_id: clock.ok_or_else(|| format!("{}: {} needs clock", part.name, spec.name))?,
            clock_hz: part.default_clock_hz,
            bytes: [0; SIZE],
            enables: 0,
            flags: 0,
            result: 0,
            conversion: None,
            failure: None,
        })
    }

    fn is(&self, bit: u8) -> bool {
        self.bytes[CTRLB] & bit != 0
    }

    /// The factor of the gain, and the halves of a clock that it delays a result.
    fn gain(&self, free_running: bool) -> Result<(f64, u64), &'static str> {
        let setting = self.bytes[INPUTCTRL + 3];
        let found = GAINS.iter().find(|gain| gain.0 == setting).ok_or("this gain is reserved")?;
        Ok((found.1, found.2[usize::from(free_running)][usize::from(!self.is(DIFFMODE))]))
    }

    fn bits(&self) -> Result<u32, &'static str> {
        let averages = self.bytes[AVGCTRL] & 0x0f != 0;
        let bits = BITS[usize::from(self.bytes[CTRLB] >> 4 & 3)].filter(|_| !averages);
        bits.ok_or("averaging (AVGCTRL.SAMPLENUM, 16 bits) is not modelled")
    }

    /// A conversion begins at cycle `now`.
    fn start(&mut self, now: u64, first: bool, source_hz: u64) -> Result<(), String> {
        if self.is(CORREN) {
            return Err("corrected results (CTRLB.CORREN) are not modelled".into());
        }
        let prescaler = 4u64 << (self.bytes[CTRLB + 1] & 7);
        let hz = source_hz / prescaler;
        if !(SLOWEST_HZ..=FASTEST_HZ).contains(&hz) {
            return Err(format!("a conversion at {hz} Hz; it allows {SLOWEST_HZ} to {FASTEST_HZ} Hz"));
        }
        let free_running = self.is(FREERUN) && !first;
        let delay = self.gain(free_running)?.1;
        let sampling = u64::from(self.bytes[SAMPCTRL]);
        let halves = u64::from(self.bits()?) + delay + sampling + if free_running { 0 } else { 2 };
        let cycles = |halves: u64| {
            let parts = u128::from(halves) * u128::from(prescaler) * u128::from(self.clock_hz);
            parts.div_ceil(2 * u128::from(source_hz)) as u64
        };
        self.conversion = Some((now + cycles(sampling + 1), now + cycles(halves)));
        Ok(())
    }

    fn reference_v(&self, board: &Board) -> Result<f64, &'static str> {
        match self.bytes[REFCTRL] & 0x0f {
            0 => Ok(INT1V_V),
            1 => Ok(board.supply_v / 1.48),
            2 => Ok(board.supply_v / 2.0),
            3 => board.reference_v.ok_or("the reference is AREFA, which nothing drives (Board::reference_v)"),
            _ => Err("this reference (AREFB, or reserved) is not modelled"),
        }
    }

    fn convert(&self, at: u64, board: &Board) -> Result<u16, &'static str> {
        let positive = match self.bytes[INPUTCTRL] {
            // INPUTSCAN adds INPUTOFFSET to MUXPOS.
            _ if self.bytes[INPUTCTRL + 2] != 0 => return Err("scanning several inputs is not modelled"),
            channel @ 0..=0x13 => board.analog_v(channel, at),
            0x19 => BANDGAP_V,
            0x1b => board.supply_v / 4.0,
            _ => return Err("this input (MUXPOS) is not modelled"),
        };
        let negative = match self.bytes[INPUTCTRL + 1] {
            _ if !self.is(DIFFMODE) => 0.0,
            channel @ 0..=7 => board.analog_v(channel, at),
            0x18 | 0x19 => 0.0,
            _ => return Err("this input (MUXNEG) is not modelled"),
        };
        let (bits, gain) = (self.bits()?, self.gain(false)?.0);
        let ratio = (positive - negative) * gain / self.reference_v(board)?;
        let full = f64::from(1 << bits);
        let value = if self.is(DIFFMODE) {
            (ratio * full / 2.0).floor().clamp(-full / 2.0, full / 2.0 - 1.0) as i16 as u16
        } else {
            (ratio * full).clamp(0.0, full - 1.0) as u16
        };
        Ok(if self.is(LEFTADJ) { value << (16 - bits) } else { value })
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((sample, end)) = self.conversion.filter(|(_, end)| *end <= context.now) {
            self.conversion = None;
            match self.convert(sample, context.board) {
                Ok(result) => self.result = result,
                Err(what) => self.failure = Some(what.into()),
            }
            self.flags |= if self.flags & RESRDY != 0 { OVERRUN } else { RESRDY };
            if self.is(FREERUN) && self.failure.is_none() {
                let source_hz = self.source_hz(context);
                self.failure = self.start(end, false, source_hz).err();
            }
        }
    }

    fn source_hz(&self, context: &Context<'_, '_>) -> u64 {
        context.events.generic_clocks_hz.get(self.clock_id).copied().unwrap_or(0)
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        if self.flags & self.enables != 0 { context.request(irq) } else { context.withdraw(irq) }
    }

    fn write_byte(&mut self, offset: usize, value: u8, context: &Context<'_, '_>) -> Result<(), String> {
        let kept = kept(offset).ok_or("register not modelled")?;
        match offset {
            CTRLA if value & SWRST != 0 => {
                self.reset();
                return Ok(());
            }
            CTRLA if value & ENABLE == 0 => self.conversion = None,
            WINCTRL if value & 7 != 0 => return Err("the window monitor is not modelled".into()),
            EVCTRL if value != 0 => return Err("its events are not modelled".into()),
            SWTRIG if value & START != 0 && self.bytes[CTRLA] & ENABLE != 0 => {
                let source_hz = self.source_hz(context);
                if source_hz == 0 {
                    return Err("it is started without a generic clock".into());
                }
                if self.conversion.is_none() {
                    self.start(context.now, true, source_hz)?;
                }
            }
            INTENCLR => self.enables &= !value,
            INTENSET => self.enables |= value & INTERRUPTS,
            INTFLAG => self.flags &= !value,
            _ => {}
        }
        self.bytes[offset] = value & kept;
        Ok(())
    }
}

impl Peripheral for Adc {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE as u32)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        if let Some(what) = &self.failure {
            return context.refuse(&self.name, address, what);
        }
        let offset = (address - self.base) as usize;
        let [low, high] = self.result.to_le_bytes();
        let mut word = 0;
        for at in (offset..offset + usize::from(size)).rev() {
            let byte = match at {
                INTENCLR | INTENSET => self.enables,
                INTFLAG => self.flags | SYNCRDY,
                RESULT => low,
                0x1b => high,
                at => self.bytes.get(at).copied().unwrap_or_default(),
            };
            word = word << 8 | u32::from(byte);
        }
        if (offset..offset + usize::from(size)).contains(&RESULT) {
            self.flags &= !RESRDY;
        }
        self.signal(context);
        Ok(word)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        for (index, byte) in value.to_le_bytes().into_iter().take(size.into()).enumerate() {
            let offset = (address - self.base) as usize + index;
            let written = self.write_byte(offset, byte, context);
            written.map_err(|what| context.fault(&self.name, address, what))?;
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.conversion.map(|(_, end)| end)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.signal(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            if let Some((sample, end)) = &mut self.conversion {
                for at in [sample, end] {
                    *at = crate::clock::rescaled(*at, now, self.clock_hz, clock_hz);
                }
            }
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.bytes = [0; SIZE];
        (self.enables, self.flags, self.result) = (0, 0, 0);
        self.conversion = None;
        self.failure = None;
    }
}
