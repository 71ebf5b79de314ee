//! Capacitor and panel by hand calculation: days of twelve hours of even sun, twelve of none.

use energy::autonomy::{Node, course, least_panel_w, smallest_capacitor, smallest_panel};
use energy::storage::Capacitor;
use energy::sun::{Irradiance, Panel};

fn days(suns: &[f64]) -> Irradiance {
    let w_per_m2 =
        suns.iter().flat_map(|&sun| (0..24).map(move |hour| if (6..18).contains(&hour) { sun } else { 0.0 }));
    Irradiance { step_s: 3600.0, w_per_m2: w_per_m2.collect(), source: "by hand".into() }
}

const CAPACITOR: Capacitor = Capacitor { capacitance_f: 1.0, max_v: 5.0, esr_ohm: 0.0, leakage_a: 0.0 };

/// 10 µA through a linear regulator, at least 2.7 V, no more than that needed for a message.
const NODE: Node = Node { mean_a: 10e-6, supply_v: 2.7, required_j: 0.0, message_j: 0.0 };

fn panel(rated_w: f64) -> Panel {
    Panel { rated_w, charger_efficiency: 1.0 }
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} is not {expected}");
}

/// A panel that fills the store in every hour of sun: the night of 12 h decides. 10 µA x 43,200 s =
/// 0.432 C, over 5 V
/// - 2.7 V = 2.3 V: 0.18783 F.
#[test]
fn a_night_decides_the_capacitor() {
    let found =
        smallest_capacitor(&NODE, &CAPACITOR, &panel(1.0), &days(&[1000.0; 5])).expect("large enough");
    near(found.part.capacitance_f, 0.432 / 2.3, 2e-3);
    near(found.course.dark_s, 43_200.0, 1e-9);
    near(found.course.lowest_v, 2.7, 2e-3);
    assert!(found.course.refused > 0.99);
}

/// One day without sun: from 18 h to 6 h on the day after next, 36 h: three times as much.
#[test]
fn a_dark_day_decides_the_capacitor() {
    let sun = days(&[1000.0, 1000.0, 0.0, 1000.0, 1000.0]);
    let found = smallest_capacitor(&NODE, &CAPACITOR, &panel(1.0), &sun).expect("large enough");
    near(found.part.capacitance_f, 3.0 * 0.432 / 2.3, 2e-3);
    near(found.course.dark_s, 3.0 * 43_200.0, 1e-9);
    near(found.course.lowest_at_s, (3.0 * 24.0 + 6.0) * 3600.0, 1e-9);
}

/// (6.1) above the supply: 125 mJ in 0.02 F are √(2 · 0.125 / 0.02) = 3.5355 V, so that 0.432 C do
/// not fit into 5 V - 3.54 V. With C unknown: C (5 - √(0.25/C)) = 0.432 gives 5 C - 0.5 √C -
/// 0.432 = 0, √C = (0.5 + √(0.25 + 8.64)) / 10 = 0.348161, C = 0.121216 F; there √(0.25/C) = 1.436
/// V is below 2.7 V, which decides: 0.18783 F again. With 2 J instead: 5 C - 2 √C - 0.432 = 0, √C =
/// (2 + √(4 + 8.64)) / 10 = 0.555528, C = 0.308611 F at 3.600 V.
#[test]
fn equation_6_1_decides_where_it_asks_for_more_than_the_supply() {
    let sun = days(&[1000.0; 5]);
    let little = Node { required_j: 0.125, ..NODE };
    let found = smallest_capacitor(&little, &CAPACITOR, &panel(1.0), &sun).expect("large enough");
    near(found.part.capacitance_f, 0.432 / 2.3, 2e-3);
    let much = Node { required_j: 2.0, ..NODE };
    let found = smallest_capacitor(&much, &CAPACITOR, &panel(1.0), &sun).expect("large enough");
    near(found.part.capacitance_f, 0.308611, 2e-3);
    near(much.threshold_v(&found.part), 3.600, 2e-3);
}

/// A message of 2.7 mJ takes 1 mC from 0.1 F at 2.7 V: 10 mV, which must lie above the supply.
#[test]
fn the_charge_of_a_message_lies_above_the_supply() {
    let node = Node { message_j: 2.7e-3, ..NODE };
    near(node.threshold_v(&Capacitor { capacitance_f: 0.1, ..CAPACITOR }), 2.71, 1e-12);
}

/// 0.18 F do not last the night, whatever the panel. 0.19 F at 2.7 V at sunrise must come to 2.7
/// V + 0.432 C / 0.19 F = 4.9737 V by sunset. C dV/dt = P/V - I gives t = C/I (-(b - a) + P/I
/// ln((P/I - a) / (P/I - b))) from a to b; with P/I = 7.888 V that is 19,000 (-2.2737 + 7.888
/// ln(5.188 / 2.9143)) s = 43,233 s, with 7.892 V 43,187 s: 78.9 µW.
#[test]
fn a_day_of_charging_decides_the_panel() {
    let sun = days(&[1000.0; 5]);
    let small = Capacitor { capacitance_f: 0.18, ..CAPACITOR };
    assert_eq!(smallest_panel(&NODE, &small, &panel(1.0), &sun), None);
    let enough = Capacitor { capacitance_f: 0.19, ..CAPACITOR };
    let found = smallest_panel(&NODE, &enough, &panel(1.0), &sun).expect("the night fits");
    near(found.part.rated_w, 78.9e-6, 3e-3);
    let charger = Panel { rated_w: 1.0, charger_efficiency: 0.5 };
    let found = smallest_panel(&NODE, &enough, &charger, &sun).expect("the night fits");
    near(found.part.rated_w, 2.0 * 78.9e-6, 3e-3);
}

/// At 5 V 10 µA are 50 µW all day; sun of 1000 W/m² for half of it: 100 µW at least.
#[test]
fn the_mean_sun_is_the_least_panel() {
    near(least_panel_w(&NODE, &CAPACITOR, 1.0, &days(&[1000.0; 5])), 100e-6, 1e-9);
    near(least_panel_w(&NODE, &CAPACITOR, 0.8, &days(&[500.0; 5])), 250e-6, 1e-9);
}

/// 5 V cannot be what a capacitor of 2.5 V stores.
#[test]
fn a_supply_above_the_capacitor_is_never_met() {
    let low = Capacitor { max_v: 2.5, ..CAPACITOR };
    assert_eq!(course(&NODE, &low, &panel(1.0), &days(&[1000.0; 2])), None);
}

/// 10 µA at no less than 2.7 V and 12 h of sun a day ask for 54 µW of panel at least. With 50 µW a
/// store of 100 F loses (10 µA - 25 µW / 2.7 V) x 864,000 s / 100 F = 6 mV or more in ten days:
/// full at first, it is empty after a year or two.
#[test]
fn deficit_behind_a_large_store_is_found() {
    let sun = days(&[1000.0; 5]);
    let large = Capacitor { capacitance_f: 100.0, ..CAPACITOR };
    assert_eq!(course(&NODE, &large, &panel(50e-6), &sun), None);
    assert_eq!(smallest_capacitor(&NODE, &CAPACITOR, &panel(50e-6), &sun), None);
}

/// 80 µW in the sun: 1 F comes to rest where 12 h of it give back the 0.432 V of a night. From a up
/// to b = a + 0.432 V at P/I = 8 V (the formula above) 43,200 s = 100,000 s/V (-0.432 V + 8 V
/// ln((8 - a) / (8 - b))), so (8 - a) / (8 - b) = e^0.108 = 1.114048 and a = 8 - 0.432 · 1.114048 /
/// 0.114048 = 3.7801 V. (6.1) with 7.0 J asks for √14 = 3.742 V and is met, with 7.2 J for √14.4 =
/// 3.795 V, which the first ten days from a full store still have.
#[test]
fn store_settles_below_full_if_the_panel_feeds_the_node() {
    let sun = days(&[1000.0; 5]);
    let asks = |required_j| Node { required_j, ..NODE };
    let found = course(&asks(7.0), &CAPACITOR, &panel(80e-6), &sun).expect("it rests above");
    near(found.lowest_v, 3.7801, 1e-3);
    assert_eq!(found.refused, 0.0);
    assert_eq!(course(&asks(7.2), &CAPACITOR, &panel(80e-6), &sun), None);
}
