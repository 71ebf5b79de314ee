//! SysTick, the core's own timer (DDI 0403E, B3.3). Its state is worked out when somebody looks.

/// The timer. Cycles are those of the core clock since reset.
#[derive(Clone, Debug)]
pub(super) struct SysTick {
    /// SYST_CALIB.
    calibration: u32,
    /// Cycles of one of the reference clock; `None` where there is none.
    reference: Option<u64>,
    /// SYST_CSR bits 2 to 0: CLKSOURCE, TICKINT, ENABLE.
    control: u32,
    reload: u32,
    /// The counter at `since`.
    value: u32,
    since: u64,
    /// COUNTFLAG.
    flag: bool,
}

/// SYST_CSR.CLKSOURCE: the core's clock.
const CLKSOURCE: u32 = 4;
/// SYST_CALIB.NOREF: the part has no reference clock.
const NOREF: u32 = 1 << 31;

impl SysTick {
    /// The timer after a reset, on a part with this SYST_CALIB and a reference clock of this many
    /// core cycles a period.
    pub fn new(calibration: u32, reference: Option<u8>) -> SysTick {
        let mut timer = SysTick {
            calibration,
            reference: reference.map(u64::from),
            control: 0,
            reload: 0,
            value: 0,
            since: 0,
            flag: false,
        };
        timer.write_control(0);
        timer
    }

    fn divider(&self) -> u64 {
        if self.control & CLKSOURCE != 0 { 1 } else { self.reference.unwrap_or(1) }
    }

    /// SYST_CALIB.
    pub fn calibration(&self) -> u32 {
        self.calibration
    }

    /// Returns true if a write to SYST_CSR starts the timer on a reference clock that is not
    /// modelled.
    pub fn lacks_reference(&self, value: u32) -> bool {
        value & (CLKSOURCE | 1) == 1 && self.reference.is_none() && self.calibration & NOREF == 0
    }

    /// Ticks until the counter next reaches zero.
    fn ahead(&self) -> Option<u64> {
        match (self.value, self.reload) {
            (0, 0) => None,
            (0, reload) => Some(u64::from(reload) + 1),
            (value, _) => Some(u64::from(value)),
        }
    }

    /// Brings the counter up to `now`; true when the exception is to be pended.
    pub fn update_until(&mut self, now: u64) -> bool {
        if self.control & 1 == 0 {
            self.since = now;
            return false;
        }
        let ticks = (now - self.since) / self.divider();
        self.since += ticks * self.divider();
        let Some(ahead) = self.ahead() else { return false };
        let period = u64::from(self.reload) + 1;
        if ticks < ahead {
            self.value = if ticks == 0 { self.value } else { (ahead - ticks) as u32 };
            return false;
        }
        let past = (ticks - ahead) % period;
        self.value = if past == 0 { 0 } else { (period - past) as u32 };
        self.flag = true;
        self.control & 2 != 0
    }

    /// The cycle at which the exception is next to be pended.
    pub fn due(&self) -> Option<u64> {
        if self.control & 3 != 3 {
            return None;
        }
        self.ahead().map(|ahead| self.since + ahead * self.divider())
    }

    /// SYST_CSR; reading clears COUNTFLAG.
    pub fn read_control(&mut self) -> u32 {
        self.control | u32::from(std::mem::take(&mut self.flag)) << 16
    }

    /// SYST_CSR.
    pub fn write_control(&mut self, value: u32) {
        // Without a reference clock CLKSOURCE reads as one and ignores writes (DDI 0403E, B3.3.3).
        let fixed = if self.calibration & NOREF != 0 { CLKSOURCE } else { 0 };
        self.control = value & 7 | fixed;
    }

    /// SYST_RVR.
    pub fn reload(&self) -> u32 {
        self.reload
    }

    /// SYST_RVR.
    pub fn write_reload(&mut self, value: u32) {
        self.reload = value & 0xff_ffff;
    }

    /// SYST_CVR.
    pub fn value(&self) -> u32 {
        self.value
    }

    /// SYST_CVR: any write clears the counter and COUNTFLAG.
    pub fn clear(&mut self) {
        self.value = 0;
        self.flag = false;
    }
}
