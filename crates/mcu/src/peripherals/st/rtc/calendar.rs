//! The RTC of the STM32F0, F4, F7 and L4: a calendar on RTCCLK with sub-seconds, two alarms, a
//! wake-up timer and backup registers.
//!
//! RM0090 section 26; RM0410 section 32 and RM0432 section 46, with more backup registers; RM0091
//! section 25, with one alarm, no wake-up timer (STM32F05x) and five backup registers.
//! Initialisation mode begins, and shadow registers are synchronised, two periods of RTCCLK after
//! they are asked for. Alarms and the wake-up timer reach lines 17 and 22 of EXTI (STM32L4: 18 and
//! 20), where the interrupts come from. A system reset leaves all of it. Whether PWR_CR.DBP allows
//! the writes is not looked at. Refused with a fault: calibration, shifts, time stamps, tamper
//! detection, summer time, the reference clock, alarms at sub-seconds.

use super::ticks::Ticks;
use super::time::Time;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::peripherals::st::exti::line_trigger;
use crate::{ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};

const TR: u32 = 0x00;
const DR: u32 = 0x04;
const CR: u32 = 0x08;
const ISR: u32 = 0x0c;
const PRER: u32 = 0x10;
const WUTR: u32 = 0x14;
const ALRMAR: u32 = 0x1c;
const ALRMBR: u32 = 0x20;
const WPR: u32 = 0x24;
const SSR: u32 = 0x28;
/// BKP0R and on.
const BKP: u32 = 0x50;
/// STM32F4 alone.
const CALIBR: u32 = 0x18;
/// SHIFTR, TSTR to TSSSR, CALR, TAFCR, ALRMASSR, ALRMBSSR: they read zero.
const ZEROS: [u32; 8] = [0x2c, 0x30, 0x34, 0x38, 0x3c, 0x40, 0x44, 0x48];
const TAFCR: u32 = 0x40;

/// CR. Alarm B's bits are one above alarm A's.
const BYPSHAD: u32 = 1 << 5;
const FMT: u32 = 1 << 6;
const ALRAE: u32 = 1 << 8;
const WUTE: u32 = 1 << 10;
const ALRAIE: u32 = 1 << 12;
const WUTIE: u32 = 1 << 14;
/// REFCKON, DCE, TSE, TSIE, ADD1H, SUB1H.
const CR_REFUSED: u32 = 0x0003_8890;
/// ISR. Alarm B's flag is one above alarm A's.
const WUTWF: u32 = 1 << 2;
const INITS: u32 = 1 << 4;
const RSF: u32 = 1 << 5;
const INITF: u32 = 1 << 6;
const INIT: u32 = 1 << 7;
const ALRAF: u32 = 1 << 8;
const WUTF: u32 = 1 << 10;
/// The flags that are cleared by writing zero, and those that are not protected.
const FLAGS: u32 = 0x3f00;

/// The differences of the families.
#[derive(Clone, Copy)]
struct Family {
    /// Alarm B and the wake-up timer.
    whole: bool,
    calibr: bool,
    backups: usize,
    /// Lines of EXTI.
    alarm_line: u8,
    wake_up_line: u8,
}

/// CR of a family without alarm B and the wake-up timer: what it does not have.
const WHOLE_ONLY: u32 = 1 << 9 | 1 << 10 | 1 << 13 | 1 << 14 | 7;

/// Periods of RTCCLK for which the program waits.
const WAIT: u64 = 2;

/// The clock.
#[derive(Clone)]
pub struct Rtc {
    name: String,
    base: u32,
    family: Family,
    ticks: Ticks,
    /// Keys that were written to WPR in their order; 2 where it is open.
    keys: u8,
    control: u32,
    /// ALRAF, ALRBF, WUTF, RSF.
    flags: u32,
    /// Periods until RSF rises.
    synchronising: u64,
    /// INIT, and periods until INITF.
    initialising: Option<u64>,
    time: Time,
    /// Periods since the second began.
    phase: u64,
    prescaler: u32,
    wake_up: u32,
    /// Counts of the wake-up timer's clock, in periods of RTCCLK or in seconds, that are left.
    wake_up_left: u64,
    alarms: [u32; 2],
    /// TR, DR and SSR as they are kept from the reading of one to that of DR.
    shadow: Option<[u32; 3]>,
    backup: Vec<u32>,
}

impl Rtc {
    /// The clock at `spec.base`, of the family `settings.layout`: 0, 7 or 8 (STM32L4); 4 where it
    /// is not set.
    ///
    /// # Errors
    /// No such family.
    pub fn new(spec: &PeripheralSpec) -> Result<Rtc, String> {
        let later = Family { whole: true, calibr: false, backups: 32, alarm_line: 17, wake_up_line: 22 };
        let family = match spec.settings.get("layout").copied().unwrap_or(4) {
            0 => Family { whole: false, backups: 5, ..later },
            4 => Family { calibr: true, backups: 20, ..later },
            7 => later,
            8 => Family { alarm_line: 18, wake_up_line: 20, ..later },
            layout => return Err(format!("{}: no layout {layout}; 0, 4, 7 or 8", spec.name)),
        };
        Ok(Rtc {
            name: spec.name.clone(),
            base: spec.base,
            family,
            ticks: Ticks::new(),
            keys: 0,
            control: 0,
            flags: 0,
            synchronising: WAIT,
            initialising: None,
            time: Time::default(),
            phase: 0,
            prescaler: 0x007f_00ff,
            wake_up: 0xffff,
            wake_up_left: 0,
            alarms: [0; 2],
            shadow: None,
            backup: vec![0; family.backups],
        })
    }

    /// The backup register at an offset.
    fn backup(&self, register: u32) -> Option<usize> {
        let index = register.checked_sub(BKP)? as usize / 4;
        (index < self.family.backups).then_some(index)
    }

    /// PREDIV_A + 1: periods of RTCCLK in a sub-second, and all of a second's.
    fn periods(&self) -> (u64, u64) {
        let (first, second) = (u64::from(self.prescaler >> 16) + 1, u64::from(self.prescaler & 0x7fff) + 1);
        (first, first * second)
    }

    /// The wake-up timer counts seconds: WUCKSEL.
    fn wakes_by_seconds(&self) -> bool {
        self.control & 4 != 0
    }

    /// Counts of its clock from one flag to the next, where that is not a second in periods of
    /// RTCCLK: 16, 8, 4 or 2 each.
    fn wake_up_period(&self) -> u64 {
        let counts = u64::from(self.wake_up) + 1;
        match self.control & 7 {
            select @ 0..4 => counts * (16 >> select),
            4 | 5 => counts,
            _ => counts + 0x1_0000,
        }
    }

    fn settle(&mut self, now: u64) -> u32 {
        let ticks = self.ticks.take(now);
        let before = self.flags;
        if let Some(left) = &mut self.initialising {
            *left = left.saturating_sub(ticks);
        }
        if self.flags & RSF == 0 && self.initialising.is_none() {
            self.synchronising = self.synchronising.saturating_sub(ticks);
            self.flags |= if self.synchronising == 0 { RSF } else { 0 };
        }
        let mut seconds = 0;
        if self.initialising != Some(0) {
            let (_, second) = self.periods();
            let phase = self.phase + ticks;
            seconds = phase / second;
            self.phase = phase % second;
            for _ in 0..seconds {
                self.time.advance();
                for (alarm, flag) in self.alarms.into_iter().zip([ALRAF, ALRAF << 1]) {
                    let on = self.control & (ALRAE * (flag / ALRAF)) != 0;
                    self.flags |=
                        if on && self.time.matches(alarm, self.control & FMT != 0) { flag } else { 0 };
                }
            }
        }
        if self.control & WUTE != 0 {
            let counts = if self.wakes_by_seconds() { seconds } else { ticks };
            if counts >= self.wake_up_left {
                self.flags |= WUTF;
                let period = self.wake_up_period();
                self.wake_up_left = period - (counts - self.wake_up_left) % period;
            } else {
                self.wake_up_left -= counts;
            }
        }
        self.flags & !before
    }

    /// Brings it up to now; flags that rise with their interrupts on reach EXTI.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        let risen = self.settle(context.now);
        let enabled = |flag: u32, enable: u32| risen & flag != 0 && self.control & enable != 0;
        if enabled(ALRAF, ALRAIE) || enabled(ALRAF << 1, ALRAIE << 1) {
            context.events.trigger(line_trigger(self.family.alarm_line), context.now);
        }
        if enabled(WUTF, WUTIE) {
            context.events.trigger(line_trigger(self.family.wake_up_line), context.now);
        }
    }

    /// TR, DR and SSR as the calendar has them.
    fn shown(&self) -> [u32; 3] {
        let (sub_second, _) = self.periods();
        let left = u64::from(self.prescaler & 0x7fff).saturating_sub(self.phase / sub_second);
        [self.time.time(self.control & FMT != 0), self.time.date(), left as u32]
    }

    fn status(&self) -> u32 {
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        // An alarm and the wake-up timer can be written while they are off.
        self.flags
            | bit(self.control & ALRAE == 0, 1)
            | bit(self.family.whole && self.control & ALRAE << 1 == 0, 2)
            | bit(self.family.whole && self.control & WUTE == 0, WUTWF)
            | bit(self.time.is_set(), INITS)
            | bit(self.initialising == Some(0), INITF)
            | bit(self.initialising.is_some(), INIT)
    }

    fn write_status(&mut self, value: u32) {
        self.flags &= value | !FLAGS;
        if self.keys < 2 {
            return;
        }
        if value & RSF == 0 && self.flags & RSF != 0 {
            self.flags &= !RSF;
            self.synchronising = WAIT;
            self.shadow = None;
        }
        match (self.initialising, value & INIT != 0) {
            (None, true) => self.initialising = Some(if self.ticks.runs() { WAIT } else { u64::MAX }),
            (Some(_), false) => {
                self.initialising = None;
                self.shadow = None;
            }
            _ => {}
        }
    }

    fn write_control(&mut self, value: u32) -> Result<(), &'static str> {
        if value & CR_REFUSED != 0 {
            return Err(
                "time stamps, summer time, coarse calibration and the reference clock are not modelled",
            );
        }
        if !self.family.whole && value & WHOLE_ONLY != 0 {
            return Err("this part's clock has neither an alarm B nor a wake-up timer");
        }
        let starts = value & !self.control & WUTE != 0;
        self.control = value & 0x00ff_ffff;
        if starts {
            self.wake_up_left = self.wake_up_period();
        }
        Ok(())
    }

    /// A protected register is written.
    fn write_register(&mut self, register: u32, value: u32) -> Result<(), &'static str> {
        let twelve = self.control & FMT != 0;
        match register {
            TR | DR | PRER if self.initialising != Some(0) => {}
            TR => {
                self.time.set_time(value, twelve);
                self.phase = 0;
            }
            DR => self.time.set_date(value),
            PRER => {
                self.prescaler = value & 0x007f_7fff;
                self.phase = 0;
            }
            CR => self.write_control(value)?,
            WUTR => self.wake_up = value & 0xffff,
            ALRMAR => self.alarms[0] = value,
            ALRMBR => self.alarms[1] = value,
            _ if (ZEROS.contains(&register) || register == CALIBR) && value == 0 => {}
            _ => return Err("calibration, shifts and alarms at sub-seconds are not modelled"),
        }
        Ok(())
    }

    fn exists(&self, register: u32) -> bool {
        match register {
            CALIBR => self.family.calibr,
            WUTR | ALRMBR => self.family.whole,
            _ => register <= SSR || ZEROS.contains(&register) || self.backup(register).is_some(),
        }
    }
}

impl Peripheral for Rtc {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let offset = address - self.base;
        let register = offset & !3;
        let word = match register {
            _ if !self.exists(register) => {
                return context.refuse(&self.name, address, "register not modelled");
            }
            TR | DR | SSR => {
                let shown = self.shadow.unwrap_or_else(|| self.shown());
                // What is read first keeps the others until DR is read (section 26.3.6).
                self.shadow = (register != DR && self.control & BYPSHAD == 0).then_some(shown);
                shown[[TR, DR, SSR].iter().position(|at| *at == register).unwrap_or(0)]
            }
            CR => self.control,
            ISR => self.status(),
            PRER => self.prescaler,
            WUTR => self.wake_up,
            ALRMAR => self.alarms[0],
            ALRMBR => self.alarms[1],
            _ => self.backup(register).map_or(0, |index| self.backup[index]),
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let offset = address - self.base;
        let register = offset & !3;
        match register {
            WPR => {
                self.keys = match (self.keys, value & 0xff) {
                    (0, 0xca) => 1,
                    (1, 0x53) => 2,
                    _ => 0,
                };
            }
            ISR => self.write_status(merged_word(self.status(), offset, size, value)),
            TAFCR if value != 0 => {
                return context.refuse(
                    &self.name,
                    address,
                    "tamper detection and time stamps are not modelled",
                );
            }
            _ if !self.exists(register) => {
                return context.refuse(&self.name, address, "register not modelled");
            }
            BKP.. => {
                if let Some(index) = self.backup(register) {
                    self.backup[index] = merged_word(self.backup[index], offset, size, value);
                }
            }
            // Protected: what is written is not taken.
            _ if self.keys < 2 => {}
            _ => {
                let [time, date, _] = self.shown();
                let old = match register {
                    TR => time,
                    DR => date,
                    CR => self.control,
                    PRER => self.prescaler,
                    WUTR => self.wake_up,
                    ALRMAR => self.alarms[0],
                    ALRMBR => self.alarms[1],
                    _ => 0,
                };
                let written = self.write_register(register, merged_word(old, offset, size, value));
                written.map_err(|what| context.fault(&self.name, address, what))?;
            }
        }
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let (_, second) = self.periods();
        let to_second = second - self.phase;
        let alarm = |index: u32| {
            let enables = (ALRAE | ALRAIE) << index;
            self.control & enables == enables && self.flags & ALRAF << index == 0
        };
        let wakes = self.control & (WUTE | WUTIE) == WUTE | WUTIE && self.flags & WUTF == 0;
        let by_second = alarm(0) || alarm(1) || wakes && self.wakes_by_seconds();
        let seconds = (by_second && self.initialising != Some(0)).then_some(to_second);
        let periods = (wakes && !self.wakes_by_seconds()).then_some(self.wake_up_left);
        self.ticks.cycle_of(seconds.into_iter().chain(periods).min()?)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => {
                self.settle(now);
                self.ticks.set_core_hz(clock_hz);
            }
            ClockUpdate::Rtc { clock_hz, in_reset } => {
                self.settle(now);
                if in_reset {
                    self.reset();
                }
                self.ticks.set_hz(clock_hz);
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.keys = 0;
        self.control = 0;
        self.flags = 0;
        self.synchronising = WAIT;
        self.initialising = None;
        self.time = Time::default();
        self.phase = 0;
        self.prescaler = 0x007f_00ff;
        self.wake_up = 0xffff;
        self.wake_up_left = 0;
        self.alarms = [0; 2];
        self.shadow = None;
        self.backup.fill(0);
    }

    /// A system reset leaves the backup domain alone, but for the shadow registers and some flags
    /// (section 26.3.8).
    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        if cause == ResetCause::PowerOn {
            self.reset();
            self.ticks = Ticks::new();
        } else {
            self.settle(now);
            self.keys = 0;
            self.flags &= !RSF;
            self.synchronising = WAIT;
            self.initialising = None;
            self.shadow = None;
        }
    }
}
