//! SysTick, the core's own timer (DDI 0403E, B3.3). Its state is worked out when somebody looks.

/// The timer. Cycles are those of the core clock since reset.
#[derive(Clone, Debug, Default)]
pub(super) struct SysTick {
    /// SYST_CSR bits 2 to 0: CLKSOURCE, TICKINT, ENABLE.
    control: u32,
    reload: u32,
    /// The counter at `since`.
    value: u32,
    since: u64,
    /// COUNTFLAG.
    flag: bool,
}

/// The reference clock: the STM32 families divide the core clock by eight (e.g. RM0090, 6.2).
const REFERENCE: u64 = 8;

impl SysTick {
    fn divider(&self) -> u64 {
        if self.control & 4 != 0 { 1 } else { REFERENCE }
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
    pub fn advance(&mut self, now: u64) -> bool {
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
        self.control = value & 7;
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
