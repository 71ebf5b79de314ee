//! The sizing equations of Mane (2014), chapter 6, and the life of a battery.

/// E_ov of (6.1): what the paper's harvester needs for itself, 125 mJ.
pub const HARVESTER_OVERHEAD_J: f64 = 0.125;

/// The energy of a capacitor, C V² / 2, in joules.
#[must_use]
pub fn stored_j(capacitance_f: f64, voltage_v: f64) -> f64 {
    capacitance_f * voltage_v * voltage_v / 2.0
}

/// The right side of (6.1): what must be stored before a message is begun, twice its energy and the
/// overhead, in joules.
#[must_use]
pub fn required_j(compute_j: f64, radio_j: f64, overhead_j: f64) -> f64 {
    2.0 * (compute_j + radio_j) + overhead_j
}

/// (6.1): the voltage at which a capacitor holds [`required_j`], in volts.
#[must_use]
pub fn required_v(compute_j: f64, radio_j: f64, overhead_j: f64, capacitance_f: f64) -> f64 {
    (2.0 * required_j(compute_j, radio_j, overhead_j) / capacitance_f).sqrt()
}

/// (6.1) the other way: the capacitance that holds [`required_j`] at a voltage, in farads.
#[must_use]
pub fn required_f(compute_j: f64, radio_j: f64, overhead_j: f64, voltage_v: f64) -> f64 {
    2.0 * required_j(compute_j, radio_j, overhead_j) / (voltage_v * voltage_v)
}

/// The right side of (6.2): mean power of a node that sends `rate_hz` messages a second, in watts.
///
/// `message_j` is what a message takes beyond sleeping. Sleeping counts all the time, as in the
/// paper: a part that is awake for a share of the time would sleep for less, and the difference is
/// below that share of `sleep_w`.
#[must_use]
pub fn mean_w(sleep_w: f64, message_j: f64, rate_hz: f64) -> f64 {
    sleep_w + message_j * rate_hz
}

/// (6.2) solved for the duty cycle: how many messages a second a source of `source_w` keeps up, in
/// hertz; none where it does not even keep the node asleep.
#[must_use]
pub fn sustainable_hz(source_w: f64, sleep_w: f64, message_j: f64) -> Option<f64> {
    (source_w > sleep_w).then(|| (source_w - sleep_w) / message_j)
}

/// (6.3): how long a node runs on what is stored, without sun, in seconds.
#[must_use]
pub fn dark_s(stored_j: f64, sleep_w: f64, message_j: f64, rate_hz: f64) -> f64 {
    stored_j / mean_w(sleep_w, message_j, rate_hz)
}

/// (6.3) behind a linear regulator, in seconds: of what is stored the charge counts, and only what
/// lies above the supply. The regulator passes the charge on and turns the rest of the energy to
/// heat; nothing is left for a node whose supply is above the full store.
#[must_use]
pub fn regulated_dark_s(capacitance_f: f64, full_v: f64, supply_v: f64, mean_w: f64) -> f64 {
    capacitance_f * (full_v - supply_v).max(0.0) * supply_v / mean_w
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    /// Ec = 1.9 mJ, Erf = 0.137 mJ, C = 0.1 F: 2 (1.9 + 0.137) + 125 = 129.074 mJ; by the paper's
    /// own form, V = √(129.074 / (500 · 0.1)) = √2.58148 = 1.606698... V.
    #[test]
    fn the_paper_s_form_of_6_1_gives_the_same_voltage() {
        let v = required_v(1.9e-3, 0.137e-3, HARVESTER_OVERHEAD_J, 0.1);
        assert!(close(v, (129.074f64 / 50.0).sqrt()));
        assert!((v - 1.6067).abs() < 1e-4);
        assert!(close(required_f(1.9e-3, 0.137e-3, HARVESTER_OVERHEAD_J, v), 0.1));
        assert!(close(stored_j(0.1, v), 129.074e-3));
    }

    /// Asleep at 5 µW, 2 mJ a message: 1 mW gives (1 mW − 5 µW) / 2 mJ = 0.4975 messages a second;
    /// and that rate takes the 1 mW. Half of the sleeping power keeps nothing up.
    #[test]
    fn the_duty_cycle_of_6_2_uses_up_the_panel() {
        let rate = sustainable_hz(1e-3, 5e-6, 2e-3).expect("enough to sleep");
        assert!(close(rate, 0.4975));
        assert!(close(mean_w(5e-6, 2e-3, rate), 1e-3));
        assert_eq!(sustainable_hz(2.5e-6, 5e-6, 2e-3), None);
    }

    /// 0.1 F from 5 V to 2.7 V give 0.23 C; 8.127 µW at 2.7 V are 3.01 µA: 76,412 s, 21.2 h.
    #[test]
    fn behind_a_regulator_the_charge_counts() {
        let dark_s = regulated_dark_s(0.1, 5.0, 2.7, 2.7 * 3.01e-6);
        assert!((dark_s - 76_412.0).abs() < 1.0, "{dark_s}");
        assert_eq!(regulated_dark_s(0.1, 2.5, 3.3, 1e-6), 0.0);
    }

    /// 0.1 F at 5 V holds 1.25 J; 5 µW asleep and 2 mJ every 100 s are 25 µW: 50,000 s.
    #[test]
    fn the_time_without_sun_of_6_3() {
        assert!(close(dark_s(stored_j(0.1, 5.0), 5e-6, 2e-3, 0.01), 50_000.0));
    }
}
