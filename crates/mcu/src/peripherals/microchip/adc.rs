//! The analog to digital converter of an ATmega328P, and as the ATmega2560, the ATmega32U4 and the
//! ATtiny85 have it.
//!
//! ATmega328P data sheet DS40002061, chapter 24: single conversions (13 clocks of the converter,
//! the first after it is enabled 25), free running, and automatic triggers by the flags of other
//! peripherals (13.5 clocks from the flag on, which restarts the prescaler, and three of the core's
//! "for synchronization logic"; table 24-1). A conversion takes the voltage that the board has at
//! its channel 1.5 clocks after it began (the first 13.5, triggered 2). Between conversions a start
//! waits for the next rising edge of the converter's clock, which is taken to come every whole
//! number of its periods after the converter was enabled. References: AVCC (the board's supply),
//! 1.1 V, and AREF as the board drives it; none takes time to settle. Channels: single-ended
//! inputs, the 1.1 V of the bandgap, 0 V; the ATmega2560 (data sheet 2549Q, tables 26-3 and 26-4)
//! and the ATmega32U4 (7766J, tables 24-3 and 24-4) have their sixth bit, MUX5, in ADCSRB and a
//! reference of 2.56 V; the ATtiny85 (2586Q, tables 17-3 and 17-4) chooses that by REFS2. The
//! temperature sensor, where the target file has its voltage, is that of 25 °C, and read against
//! the internal 1.1 V alone, on the ATmega32U4 2.56 V, as the data sheets ask. The ATmega32U4's
//! differential channels follow half the converter's clock, so that a conversion takes 13 or 14
//! clocks, in free running 14 ("Differential Channels"); that half is taken to begin low where the
//! converter is enabled. Not modelled, and faults: the other parts' differential channels, triggers
//! of such conversions, the comparator as a trigger and its multiplexer, clocks outside of 50 kHz
//! to 1 MHz, a prescaler that changes during a conversion, and what the data sheet advises against
//! because it does not say what comes of it: another channel written within the first clock of a
//! conversion that was asked for (24.5).

use super::gain_stage;
use crate::{Board, ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

/// Registers from ADCL on.
const ADCL: u32 = 0;
const ADCH: u32 = 1;
const ADCSRA: u32 = 2;
const ADCSRB: u32 = 3;
const ADMUX: u32 = 4;
const DIDR0: u32 = 6;

/// ADCSRA.
const ADEN: u8 = 0x80;
const ADSC: u8 = 0x40;
const ADATE: u8 = 0x20;
const ADIF: u8 = 0x10;
const ADIE: u8 = 0x08;
const ADPS: u8 = 0x07;
/// ADCSRB: ADTS2 to ADTS0.
const ADTS: u8 = 0x07;
/// ADMUX.
const ADLAR: u8 = 0x20;

/// The converter's clock in Hz: 8161D, table 28-7 ("ADC Characteristics", clock frequency).
const SLOWEST_HZ: u64 = 50_000;
const FASTEST_HZ: u64 = 1_000_000;
/// The internal reference and the bandgap, typical (the same table), in volts.
const BANDGAP_V: f64 = 1.1;
/// The other internal reference, of parts that have it.
const BYPASSED_V: f64 = 2.56;
const NO_AREF: &str = "the reference is AREF, which nothing drives (Board::reference_v)";

/// The sensor of the part's own temperature.
#[derive(Clone, Copy)]
struct TemperatureSensor {
    channel: u8,
    /// Its voltage at 25 °C.
    at_25_v: f64,
    /// The voltage that it is read against.
    reference_v: f64,
}

/// The choice of input and reference by ADMUX and ADCSRB.
#[derive(Clone, Copy)]
struct Channels {
    /// MUX4 to MUX0 in ADMUX, as far as they exist.
    mux: u8,
    /// MUX5 in ADCSRB, where it exists.
    mux5: u8,
    /// The channels of the bandgap and of 0 V.
    bandgap: u8,
    ground: u8,
    /// ADCn that exist.
    inputs: u16,
    /// The part's temperature sensor, if it has one.
    temperature: Option<TemperatureSensor>,
    /// The ATmega32U4's differential channels.
    differential: bool,
    /// The internal references that REFS = 2 and 3 choose, in volts.
    references_v: [Option<f64>; 2],
    /// REFS2 in ADMUX (ATtiny85), where it exists: REFS = 0 is VCC and 1 AREF, 2 and 3 are 2.56 V
    /// while it is set.
    refs2: u8,
}

/// A conversion under way.
#[derive(Clone, Copy)]
struct Conversion {
    /// ADMUX and MUX5 when it began.
    channel: u8,
    mux5: bool,
    /// From when on ADMUX may be written again.
    settled: u64,
    /// When it takes the voltage, and when it ends.
    sample: u64,
    end: u64,
}

/// The converter.
#[derive(Clone)]
pub struct Adc {
    name: String,
    base: u32,
    /// ADCSRB, ADMUX, DIDR0.
    others: [u32; 3],
    irq: u8,
    /// The vectors whose flags are the triggers 1 to 7; 0 where there is none that is modelled.
    triggers: [u8; 8],
    clock_hz: u64,
    control_a: u8,
    control_b: u8,
    channel: u8,
    digital: u8,
    channels: Channels,
    result: u16,
    /// ADCL was read and ADCH was not: results are lost.
    locked: bool,
    /// A rising edge of the converter's clock.
    edge: u64,
    /// The next conversion is the first since the converter was enabled.
    first: bool,
    conversion: Option<Conversion>,
    /// Why the last conversion cannot be told, until the program hears of it.
    failure: Option<String>,
}

/// Clocks of a conversion in halves, up to the sample and up to the end: table 24-1.
const SINGLE: [u64; 2] = [3, 26];
const FIRST: [u64; 2] = [27, 50];
const TRIGGERED: [u64; 2] = [4, 27];
/// Core clocks from a trigger to the prescaler's restart ("Three additional CPU clock cycles are
/// used for synchronization logic", 24.4).
const SYNCHRONISATION: u64 = 3;

impl Adc {
    /// ADCL at `spec.base`, the other registers behind it as on the ATmega328P; `spec.irq` is its
    /// vector. Settings `trigger2` to `trigger7`: the vectors whose flags the trigger sources of
    /// table 24-6 are; where they differ from the ATmega328P's, `mux` and `mux5`, the bits in ADMUX
    /// and ADCSRB, `bandgap` and `ground`, channels, `inputs`, the ADCn that exist, `temperature`
    /// and `temperature_uv`, the sensor's channel and its voltage at 25 °C,
    /// `temperature_reference_mv`, what it is read against where that is not 1.1 V, `reference2_mv`
    /// and `reference3_mv`, `refs2`, a bit in ADMUX, `differential` = 1 for the ATmega32U4's such
    /// channels, and `adcsrb`, `admux`, `didr0`, addresses.
    ///
    /// # Errors
    /// `irq` is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Adc, String> {
        let mut triggers = [0; 8];
        for (number, vector) in triggers.iter_mut().enumerate().skip(2) {
            let setting = spec.settings.get(&format!("trigger{number}"));
            *vector = setting.and_then(|vector| u8::try_from(*vector).ok()).unwrap_or(0);
        }
        let setting = |name: &str| spec.settings.get(name).copied();
        let volts = |name: &str| setting(name).map(|millivolts| millivolts as f64 / 1e3);
        let channels = Channels {
            mux: setting("mux").unwrap_or(0x0F) as u8 & 0x1F,
            mux5: setting("mux5").unwrap_or(0) as u8,
            bandgap: setting("bandgap").unwrap_or(14) as u8,
            ground: setting("ground").unwrap_or(15) as u8,
            inputs: setting("inputs").unwrap_or(0xFF) as u16,
            refs2: setting("refs2").unwrap_or(0) as u8,
            temperature: setting("temperature").zip(setting("temperature_uv")).map(
                |(channel, microvolts)| TemperatureSensor {
                    channel: channel as u8,
                    at_25_v: microvolts as f64 / 1e6,
                    reference_v: volts("temperature_reference_mv").unwrap_or(BANDGAP_V),
                },
            ),
            differential: setting("differential") == Some(1),
            references_v: [volts("reference2_mv"), volts("reference3_mv").or(Some(BANDGAP_V))],
        };
        Ok(Adc {
            channels,
            name: spec.name.clone(),
            base: spec.base,
            others: [("adcsrb", ADCSRB), ("admux", ADMUX), ("didr0", DIDR0)]
                .map(|(name, offset)| setting(name).map_or(spec.base + offset, |address| address as u32)),
            irq: spec.irq.ok_or_else(|| format!("{}: irq is missing", spec.name))?,
            triggers,
            clock_hz: 1,
            control_a: 0,
            control_b: 0,
            channel: 0,
            digital: 0,
            result: 0,
            locked: false,
            edge: 0,
            first: true,
            conversion: None,
            failure: None,
        })
    }

    /// The register at an address.
    fn register(&self, address: u32) -> u32 {
        let other = self.others.iter().position(|at| *at == address);
        other.map_or_else(|| address - self.base, |index| [ADCSRB, ADMUX, DIDR0][index])
    }

    /// Core clocks of one of the converter's: table 24-5.
    fn divider(&self) -> u64 {
        1 << (self.control_a & ADPS).max(1)
    }

    /// True where ADMUX and ADCSRB choose a differential channel now.
    fn is_differential(&self) -> bool {
        let mux = self.channel & self.channels.mux | u8::from(self.control_b & self.channels.mux5 != 0) << 5;
        self.channels.differential && gain_stage::inputs(mux).is_some()
    }

    /// Begins a conversion at an edge of the converter's clock.
    fn begin(&mut self, start: u64, clocks: [u64; 2]) {
        let [sample, end] = if std::mem::take(&mut self.first) { FIRST } else { clocks };
        let late = if self.is_differential() {
            if clocks == TRIGGERED {
                self.failure =
                    Some("a differential channel whose conversions triggers start is not modelled".into());
            }
            // An edge that finds half the clock high waits for one more.
            let clocks = (start - self.edge) / self.divider();
            2 * (clocks % 2).max(u64::from(self.is_free_running()))
        } else {
            0
        };
        let [sample, end] = [sample + late, end + late];
        let divider = self.divider();
        self.control_a |= ADSC;
        self.conversion = Some(Conversion {
            channel: self.channel,
            mux5: self.control_b & self.channels.mux5 != 0,
            settled: start + divider,
            sample: start + sample * divider / 2,
            end: start + end * divider / 2,
        });
        let hz = self.clock_hz / divider;
        if !(SLOWEST_HZ..=FASTEST_HZ).contains(&hz) {
            self.failure =
                Some(format!("a conversion at {hz} Hz; it allows {SLOWEST_HZ} to {FASTEST_HZ} Hz"));
        }
    }

    /// Begins a conversion that the program asked for, at the first edge from `now` on.
    fn start(&mut self, now: u64) {
        let edge = self.edge + (now - self.edge).next_multiple_of(self.divider());
        self.begin(edge, SINGLE);
    }

    fn reference_v(&self, channel: u8, board: &Board) -> Result<f64, &'static str> {
        let refs = channel >> 6;
        if self.channels.refs2 != 0 && refs < 2 {
            return if refs == 0 { Ok(board.supply_v) } else { board.reference_v.ok_or(NO_AREF) };
        }
        if channel & self.channels.refs2 != 0 {
            return Ok(BYPASSED_V);
        }
        match refs {
            0 => board.reference_v.ok_or(NO_AREF),
            1 => Ok(board.supply_v),
            refs => {
                self.channels.references_v[usize::from(refs - 2)].ok_or("this setting of REFS is reserved")
            }
        }
    }

    fn convert(&self, conversion: Conversion, board: &Board) -> Result<u16, &'static str> {
        let reference_v = self.reference_v(conversion.channel, board)?;
        let Channels { mux, bandgap, ground, temperature, .. } = self.channels;
        let chosen = conversion.channel & mux | u8::from(conversion.mux5) << 5;
        if let Some((positive, negative, gain)) =
            gain_stage::inputs(chosen).filter(|_| self.channels.differential)
        {
            let [positive_v, negative_v] =
                [positive, negative].map(|input| board.analog_v(input, conversion.sample));
            // 24.8: in two's complement, of ten bits.
            let steps = 512.0 * gain * (positive_v - negative_v) / reference_v;
            return Ok(steps.clamp(-512.0, 511.0) as i16 as u16 & 0x3FF);
        }
        let input_v = match chosen {
            channel @ 0..8 if self.channels.inputs >> channel & 1 == 1 => {
                board.analog_v(channel, conversion.sample)
            }
            // ADC8 and up.
            channel @ 32..40 if self.channels.inputs >> (channel - 24) & 1 == 1 => {
                board.analog_v(channel - 24, conversion.sample)
            }
            channel if channel == bandgap => BANDGAP_V,
            channel if channel == ground => 0.0,
            channel => match temperature.filter(|sensor| sensor.channel == channel) {
                Some(sensor) if reference_v == sensor.reference_v => sensor.at_25_v,
                Some(_) => {
                    return Err(
                        "the temperature sensor is read against the part's internal reference alone, of 1.1 V or on the ATmega32U4 2.56 V: choose \
                         that by REFS",
                    );
                }
                None => {
                    return Err(
                        "this channel (differential, reserved, or without a value in the target file) is not modelled",
                    );
                }
            },
        };
        // 24.7: Vin 1024 / Vref; 0x3FF is the reference less one step.
        Ok((1024.0 * input_v / reference_v).clamp(0.0, 1023.0) as u16)
    }

    /// Ends conversions that have ended by now.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some(conversion) = self.conversion.filter(|conversion| conversion.end <= context.now) {
            self.conversion = None;
            self.control_a &= !ADSC;
            match self.convert(conversion, context.board) {
                Ok(result) if !self.locked => self.result = result,
                Ok(_) => {}
                Err(what) => self.failure = Some(what.into()),
            }
            self.control_a |= ADIF;
            if self.is_free_running() {
                self.begin(conversion.end, SINGLE);
            }
        }
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.control_a & (ADIE | ADIF) == ADIE | ADIF {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }

    /// True where flags of others start conversions.
    fn listens(&self) -> bool {
        let on = ADEN | ADATE;
        self.control_a & on == on && self.control_b & ADTS != 0
    }

    fn write_control(&mut self, value: u8, now: u64) -> Result<(), &'static str> {
        let before = self.control_a;
        // "Turning the ADC off while a conversion is in progress, will terminate this conversion"
        // (24.9.2), whatever else is written.
        if value & ADEN != 0 && self.conversion.is_some() && (before ^ value) & ADPS != 0 {
            return Err("the prescaler changes during a conversion");
        }
        let kept = (before & ADIF & !value) | before & ADSC;
        self.control_a = value & !(ADSC | ADIF) | kept;
        if value & ADEN == 0 {
            self.conversion = None;
            self.control_a &= !ADSC;
            return Ok(());
        }
        if before & ADEN == 0 {
            self.edge = now;
            self.first = true;
        }
        if value & ADSC != 0 && self.conversion.is_none() {
            self.start(now);
        }
        Ok(())
    }

    fn is_free_running(&self) -> bool {
        self.control_a & ADATE != 0 && self.control_b & ADTS == 0
    }

    /// A conversion was asked for, and its first clock is not over.
    fn is_settling(&self, now: u64) -> bool {
        !self.is_free_running() && self.conversion.is_some_and(|conversion| now < conversion.settled)
    }

    fn write_register(&mut self, offset: u32, value: u8, now: u64) -> Result<(), &'static str> {
        match offset {
            ADCSRA => return self.write_control(value, now),
            ADCSRB if value & !(ADTS | self.channels.mux5) != 0 => {
                return Err("the comparator's multiplexer is not modelled");
            }
            ADCSRB if value & ADTS != 0 && self.triggers[usize::from(value & ADTS)] == 0 => {
                return Err("this trigger is not modelled");
            }
            ADCSRB => self.control_b = value,
            ADMUX if value != self.channel && self.is_settling(now) => {
                return Err(
                    "ADMUX changes within the first clock of a conversion: the data sheet does not say what it converts",
                );
            }
            ADMUX => self.channel = value,
            DIDR0 => self.digital = value,
            // The result is read-only.
            _ => {}
        }
        Ok(())
    }

    fn on_flag_raised(&mut self, irq: u8, at: u64, context: &mut Context<'_, '_>) {
        self.advance(context);
        // "If another positive edge occurs on the trigger signal during conversion, the edge will
        // be ignored."
        if irq == self.triggers[usize::from(self.control_b & ADTS)] && self.conversion.is_none() {
            self.edge = at + SYNCHRONISATION;
            self.begin(self.edge, TRIGGERED);
        }
    }
}

impl Peripheral for Adc {
    fn spec(&self) -> Spec {
        let [adcsrb, admux, didr0] = self.others.map(|address| address..address + 1);
        Spec {
            interrupts: 1 << self.irq,
            ..Spec::with_ranges(&self.name, [self.base..self.base + ADCSRA + 1, adcsrb, admux, didr0])
        }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        if let Some(what) = &self.failure {
            return context.refuse(&self.name, address, what);
        }
        let result = if self.channel & ADLAR == 0 { self.result } else { self.result << 6 };
        let value = match self.register(address) {
            ADCL => {
                self.locked = true;
                result as u8
            }
            ADCH => {
                self.locked = false;
                (result >> 8) as u8
            }
            ADCSRA => self.control_a,
            ADCSRB => self.control_b,
            ADMUX => self.channel,
            _ => self.digital,
        };
        self.update(context);
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let (subscribed, source) = (self.listens(), self.control_b & ADTS);
        let done = self.write_register(self.register(address), value as u8, context.now + 1);
        done.map_err(|what| context.fault(&self.name, address, what))?;
        if let Some(what) = &self.failure {
            return context.refuse(&self.name, address, what);
        }
        // "Switching from a trigger source that is cleared to a trigger source that is set will
        // generate a positive edge on the trigger signal" (24.9.4).
        let switched = subscribed && self.control_b & ADTS != source;
        let vector = self.triggers[usize::from(self.control_b & ADTS)];
        context.events.subscribe(if self.listens() { 1 << vector } else { 0 }, switched);
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        self.conversion.map(|_| "clkADC")
    }

    fn due(&self) -> Option<u64> {
        self.conversion.map(|conversion| conversion.end)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InterruptAcknowledged(_) => self.control_a &= !ADIF,
            Event::FlagRaised { irq, at } => self.on_flag_raised(irq, at, context),
            // 24.6: entering ADC noise reduction starts a conversion.
            Event::Sleep("adc-noise-reduction")
                if self.control_a & ADEN != 0 && self.conversion.is_none() =>
            {
                self.start(context.now);
            }
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.control_a = 0;
        self.control_b = 0;
        self.channel = 0;
        self.digital = 0;
        self.result = 0;
        self.locked = false;
        self.edge = 0;
        self.first = true;
        self.conversion = None;
        self.failure = None;
    }
}
