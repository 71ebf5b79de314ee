//! The behaviour of a collector, in every role.

use crate::failure::CommandError;
use crate::files::Files;
use clap::Args;
use collector::registry::AfterWrongPin;
use collector::service::Config;
use jiff::tz::TimeZone;

#[derive(Args)]
pub(crate) struct ServiceArgs {
    /// Time zone of days, such as Europe/Prague [default: this machine's zone]
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    zone: Option<TimeZone>,
    /// Days after which readings go; sums by quarter-hour, hour and day stay
    #[arg(long, value_name = "DAYS", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    keep: u32,
    /// Threads that open messages of suites with curves, for each network [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    verifiers: Option<u16>,
    /// Take nothing that is not sealed, and tell no meter to seal nothing [default: true as soon as
    /// a meter is provisioned to seal]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    require_sealed: Option<bool>,
    /// Renew keys of the suite aes256-gcm-rekeyed that are older, or were never renewed, when their
    /// meter is heard [default: by command alone]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=36_500))]
    renew_keys: Option<u16>,
}

impl ServiceArgs {
    /// A service with these files, and no gateway.
    pub(crate) fn config(self, files: Files) -> Result<Config, CommandError> {
        let keks = files.keks(AfterWrongPin::Refuse)?;
        let mut service = Config::new(files.database.place()?, files.keys);
        service.keks = keks;
        service.store.zone = self.zone.unwrap_or_else(zone_here);
        service.store.keep_days = self.keep;
        service.require_sealed = self.require_sealed;
        service.policy.renew_keys_after_s = self.renew_keys.map(|days| u32::from(days) * 86_400);
        service.verifiers = self.verifiers.map_or(0, usize::from);
        Ok(service)
    }
}

fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| "write a zone of the IANA database, such as Europe/Prague or UTC".into())
}

/// Returns the default zone of days: this machine's, if it has a name.
fn zone_here() -> TimeZone {
    let here = TimeZone::system();
    if here.iana_name().is_some() { here } else { TimeZone::UTC }
}
