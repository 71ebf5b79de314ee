//! A meter in its household: what it draws, and when its supply fails.

use super::air::{Hearing, Inbox};
use super::chance::{Chance, For};
use super::load::LoadProfile;
use super::station::{AirByte, Station};
use crate::node::SECOND_NS;
use lab::LabError;
use meter::Status;
use serde::Deserialize;

/// Losses of power, as a scenario says it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutSettings {
    /// Cuts a day, of each meter, at random times.
    #[serde(default)]
    pub per_day: f64,
    /// Share of them that wait for a byte of non-volatile memory to be written, and hit that.
    #[serde(default)]
    pub while_writing: f64,
    /// How long the power stays away: least and most, in seconds.
    #[serde(default = "a_while")]
    pub off_s: [f64; 2],
}

fn a_while() -> [f64; 2] {
    [0.05, 5.0]
}

/// What has happened to a meter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// Its power came.
    PowerUp,
    /// It was cut, while its memory was written or not.
    Cut {
        /// A byte was being written.
        while_writing: bool,
    },
    /// It says something new of itself.
    Status(Status),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supply {
    Off {
        until_ns: u64,
    },
    On {
        cut_ns: u64,
    },
    /// Cut as soon as a byte is written.
    Armed {
        cut_ns: u64,
    },
}

/// A meter in its household.
pub struct Household {
    /// The meter.
    pub station: Box<dyn Station>,
    /// What is drawn.
    pub profile: LoadProfile,
    settings: CutSettings,
    chance: Chance,
    supply: Supply,
    load_ns: u64,
    now_ns: u64,
    status: Status,
    /// What it has sent.
    pub on_air: Vec<AirByte>,
    /// What has happened, and when.
    pub happened: Vec<(u64, Happening)>,
    /// The fewest bytes of stack that were never touched, at any loss of power.
    pub stack_untouched: Option<u32>,
}

impl Household {
    /// A household whose power comes at `from_ns`.
    #[must_use]
    pub fn new(
        station: Box<dyn Station>,
        profile: LoadProfile,
        settings: CutSettings,
        (seed, index): (u64, u64),
        from_ns: u64,
    ) -> Household {
        Household {
            station,
            profile,
            settings,
            chance: Chance::new(seed, For::Cuts, index, 0),
            supply: Supply::Off { until_ns: from_ns },
            load_ns: 0,
            now_ns: 0,
            status: Status::default(),
            on_air: Vec::new(),
            happened: Vec::new(),
            stack_untouched: None,
        }
    }

    /// How it hears now.
    #[must_use]
    pub fn hearing(&self) -> Hearing {
        if self.has_power() { self.station.hearing() } else { Hearing::Nothing }
    }

    fn has_power(&self) -> bool {
        !matches!(self.supply, Supply::Off { .. })
    }

    /// From now on its power stays.
    pub fn calm(&mut self) {
        self.settings.per_day = 0.0;
        if let Supply::On { cut_ns } | Supply::Armed { cut_ns } = &mut self.supply {
            *cut_ns = u64::MAX;
            self.supply = Supply::On { cut_ns: u64::MAX };
        }
    }

    /// When something comes about next.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        match self.supply {
            Supply::Off { until_ns } => until_ns,
            Supply::On { cut_ns } | Supply::Armed { cut_ns } => {
                cut_ns.max(self.now_ns).min(self.load_ns).min(self.station.next_ns())
            }
        }
    }

    /// Whether it has anything to do before `until_ns`.
    #[must_use]
    pub fn is_due(&self, until_ns: u64) -> bool {
        self.next_ns() < until_ns
    }

    /// Hands over what comes to it, while it has power.
    pub fn hear(&mut self, inbox: &mut Inbox) {
        let powered = self.has_power();
        for heard in inbox.bytes.drain(..).filter(|_| powered) {
            self.station.hear_byte(heard);
        }
        for arrival in inbox.packets.drain(..).filter(|_| powered) {
            self.station.hear_packet(arrival);
        }
    }

    /// Lives up to `until_ns`.
    ///
    /// # Errors
    /// What its model cannot execute.
    pub fn live(&mut self, until_ns: u64) -> Result<(), LabError> {
        while self.now_ns < until_ns {
            match self.supply {
                Supply::Off { until_ns: up_ns } if up_ns >= until_ns => self.now_ns = until_ns,
                Supply::Off { until_ns: up_ns } => self.power_up(up_ns.max(self.now_ns))?,
                Supply::On { cut_ns } | Supply::Armed { cut_ns } => {
                    let to_ns = until_ns.min(self.load_ns).min(cut_ns.max(self.now_ns));
                    self.station.advance(to_ns)?;
                    self.now_ns = to_ns;
                    if to_ns >= cut_ns && to_ns < until_ns {
                        self.fail()?;
                    } else if to_ns >= self.load_ns {
                        self.change_load();
                    }
                }
            }
        }
        self.look()?;
        if matches!(self.supply, Supply::Armed { .. }) && self.station.is_writing() {
            self.cut(true);
        }
        self.station.take_on_air(&mut self.on_air);
        Ok(())
    }

    fn look(&mut self) -> Result<(), LabError> {
        if self.has_power() {
            let status = self.station.status()?;
            if status != self.status {
                self.status = status;
                self.happened.push((self.now_ns, Happening::Status(status)));
            }
        }
        Ok(())
    }

    fn change_load(&mut self) {
        let (power_w, until_ns) = self.profile.at(self.now_ns);
        self.load_ns = until_ns;
        self.station.set_load(power_w);
    }

    fn power_up(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.now_ns = now_ns;
        self.happened.push((now_ns, Happening::PowerUp));
        self.change_load();
        self.station.power_up(now_ns)?;
        self.status = Status::default();
        let cut_ns = if self.settings.per_day > 0.0 {
            now_ns + (self.chance.exponential(86_400.0 / self.settings.per_day) * SECOND_NS as f64) as u64
        } else {
            u64::MAX
        };
        self.supply = Supply::On { cut_ns };
        Ok(())
    }

    /// It is time for a cut: now, or when a byte is written.
    fn fail(&mut self) -> Result<(), LabError> {
        if self.chance.happens(self.settings.while_writing) {
            self.station.is_writing();
            self.supply = Supply::Armed { cut_ns: u64::MAX };
        } else {
            self.look()?;
            self.cut(false);
        }
        Ok(())
    }

    fn cut(&mut self, while_writing: bool) {
        let torn = self.chance.bits() as u8;
        if let Some(untouched) = self.station.stack_untouched() {
            self.stack_untouched = Some(self.stack_untouched.unwrap_or(u32::MAX).min(untouched));
        }
        self.station.cut_power(torn);
        let [least_s, most_s] = self.settings.off_s;
        let off_s = self.chance.between(least_s, most_s);
        self.supply = Supply::Off { until_ns: self.now_ns + (off_s * SECOND_NS as f64) as u64 + 1 };
        self.happened.push((self.now_ns, Happening::Cut { while_writing }));
    }
}
