//! A meter on its models, watched while it lives.

use crate::household::{Household, Load};
use crate::ledger::{FUNCTIONS, Ledger, Spent};
use lab::LabError;
use sim::modelled::{Firmware, Modelled};
use sim::pair::{Moment, Watch};
use sim::street::air::HeardByte;
use sim::street::station::AirByte;
use std::sync::Arc;
use wire::meter::{Provision, Suite};

/// How long a meter may take to its first report: with curves its noise source is tested first, which takes 5.3 s.
const STARTS_WITHIN_NS: u64 = 30_000_000_000;
/// It is looked at so often until then: less than its radio takes from the order to send to the first bit.
const LOOK_NS: u64 = 100_000;

/// The meter of a household.
pub struct Meter {
    /// Where it is.
    pub household: Household,
    modelled: Modelled,
    watch: Watch,
    ledger: Ledger,
    load: Load,
    load_until_ns: u64,
    power_w: f64,
    joined: Moment,
}

impl Meter {
    /// Switches a meter on, and lets it live alone up to when its first report, that it has started, is sealed.
    ///
    /// seed: of what its converter reads beside the signals.
    ///
    /// # Errors
    /// What the model cannot execute; a meter that has nothing to say within 30 s.
    pub fn start(
        firmware: &Arc<Firmware>,
        household: Household,
        provision: &Provision,
        load: Load,
        seed: u64,
    ) -> Result<Meter, LabError> {
        let mut modelled = firmware.meter(provision, seed)?;
        modelled.power_up(0);
        let mut watch = Watch::new(firmware.image(), &FUNCTIONS)?;
        while modelled.status().alerts == 0 {
            if modelled.now_ns() > STARTS_WITHIN_NS {
                let what = format!("meter {}", household.meter);
                return Err(LabError::Protocol { what, problem: "it did not start within 30 s".into() });
            }
            let until_ns = modelled.now_ns() + LOOK_NS;
            watch.run(&mut modelled, until_ns)?;
        }
        watch.take_calls();
        let joined = Moment::of(&mut modelled);
        let ledger = Ledger::new(modelled.status(), joined);
        Ok(Meter { household, modelled, watch, ledger, load, load_until_ns: 0, power_w: 0.0, joined })
    }

    /// The time that it has lived to, in nanoseconds of the world.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.modelled.now_ns()
    }

    /// It joins a world whose time is `now_ns`, which is not below the time that it has lived alone. The ledger begins here.
    pub fn join(&mut self, now_ns: u64) {
        self.modelled.join(now_ns);
        self.joined = Moment::of(&mut self.modelled);
        self.ledger = Ledger::new(self.modelled.status(), self.joined);
        self.load_until_ns = now_ns;
    }

    /// Lives up to a time of the world. Appends the bytes that it put on the air.
    ///
    /// # Errors
    /// What the model cannot execute.
    pub fn live(&mut self, until_ns: u64, on_air: &mut Vec<AirByte>) -> Result<(), LabError> {
        while self.modelled.now_ns() < until_ns {
            if self.modelled.now_ns() >= self.load_until_ns {
                (self.power_w, self.load_until_ns) = self.load.at(self.modelled.now_ns());
                self.modelled.set_load(self.power_w);
            }
            self.watch.run(&mut self.modelled, until_ns.min(self.load_until_ns))?;
        }
        for call in self.watch.take_calls() {
            self.ledger.called(&call);
        }
        self.ledger.look(self.modelled.status());
        self.modelled.take_on_air(on_air);
        Ok(())
    }

    /// A byte arrives.
    pub fn hear(&mut self, heard: HeardByte) {
        self.modelled.hear(heard.at, heard.readable);
    }

    /// What is known of its readings.
    pub fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// What its household draws now, in watts.
    #[must_use]
    pub fn power_w(&self) -> f64 {
        self.power_w
    }

    /// What the firmware says of itself.
    #[must_use]
    pub fn status(&self) -> meter::Status {
        self.modelled.status()
    }

    /// How it seals now.
    #[must_use]
    pub fn suite(&self) -> Suite {
        Suite::from_code(self.status().suite).unwrap_or(self.household.suite)
    }

    /// All that it took since it joined the world.
    pub fn spent(&mut self) -> Spent {
        Spent::between(&self.joined, &Moment::of(&mut self.modelled))
    }
}
