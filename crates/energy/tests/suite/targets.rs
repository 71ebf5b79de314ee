//! The target files' supply tables: whole, with a source at each figure, and as the data sheets
//! have them.

use energy::{Fetch, Supply};
use std::path::Path;

fn supplies() -> Vec<(String, Supply)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets");
    let mut found: Vec<(String, Supply)> = std::fs::read_dir(&folder)
        .expect("the project has targets")
        .map(|entry| {
            let path = entry.expect("a readable folder").path();
            let text = std::fs::read_to_string(&path).expect("a text file");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let supply = Supply::from_toml(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, supply)
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found.len(), 23);
    found
}

fn msp430f5438a() -> Supply {
    let target = |(name, supply)| (name == "msp430f5438a").then_some(supply);
    supplies().into_iter().find_map(target).expect("the target exists")
}

#[test]
fn every_figure_names_its_source() {
    for (name, supply) in supplies() {
        let timings = [&supply.change.level, &supply.change.clock, &supply.change.start];
        let sources = supply.sleeps.iter().map(|mode| (&mode.what, &mode.source));
        let sources = sources.chain(supply.modules.iter().map(|module| (&module.what, &module.source)));
        let sources = sources.chain(supply.brown_outs.iter().map(|row| (&row.what, &row.source)));
        let sources =
            sources.chain(timings.into_iter().flatten().map(|timing| (&timing.what, &timing.source)));
        for (what, source) in sources {
            assert!(what.ends_with('.') && source.len() > 8, "{name}: {what:?}, {source:?}");
        }
    }
}

#[test]
fn sleep_draws_less_and_brown_out_has_hysteresis() {
    for (name, supply) in supplies() {
        for mode in &supply.sleeps {
            let volts = mode.supply_v.unwrap_or(supply.default_v);
            let hertz = mode.clock_hz.unwrap_or_else(|| supply.max_clock_hz(volts));
            // A data sheet of two grades has sleep at a supply at which the part's own does not
            // run: it draws less there than at its own.
            let active_a = supply.current_a(hertz, volts).unwrap_or_else(|_| {
                let volts = supply.default_v;
                let active = supply.current_a(supply.max_clock_hz(volts), volts);
                active.unwrap_or_else(|error| panic!("{name}: {error}"))
            });
            assert!(mode.current_a > 0.0 && mode.current_a < active_a, "{name}: {}", mode.name);
            let there_a = mode.current_at(hertz, volts);
            assert!(
                (there_a / mode.current_a - 1.0).abs() < 1e-9,
                "{name}: {}: its points disagree",
                mode.name
            );
        }
        for row in &supply.brown_outs {
            assert!(row.falling_v < row.rising_v, "{name}: {}", row.name);
        }
        let deeper = supply.sleeps.windows(2).all(|pair| pair[0].current_a > pair[1].current_a);
        assert!(deeper, "{name}: sleep modes stand from the lightest down");
    }
}

#[test]
fn code_in_ram_draws_less_than_code_in_flash() {
    for (name, supply) in supplies() {
        for level in &supply.levels {
            for ram in &level.ram_points {
                let flash = level.points.iter().find(|flash| flash.clock_hz == ram.clock_hz);
                let flash = flash.unwrap_or_else(|| panic!("{name}: {} Hz from RAM alone", ram.clock_hz));
                assert!(ram.current_a < flash.current_a, "{name}: {} Hz", ram.clock_hz);
            }
        }
    }
}

/// SLAS655H, active mode supply current, row RAM, PMMCOREV 2 and 3.
#[test]
fn the_msp430_s_currents_from_ram_are_the_data_sheet_s() {
    let supply = msp430f5438a();
    for (clock_hz, current_a) in [(20e6, 2.82e-3), (25e6, 4.50e-3), (8e6, 0.88e-3), (12e6, 1.47e-3)] {
        let ours = supply.current_at(clock_hz, 3.0, Fetch::Ram).expect("a clock of the table");
        assert!((ours - current_a).abs() < 1e-12, "{clock_hz}: {ours}");
    }
    assert!((supply.current_at(25e6, 3.0, Fetch::Flash).expect("allowed") - 8.9e-3).abs() < 1e-12);
}

/// SLAS655H, low-power mode supply currents, 25 C typical.
#[test]
fn the_msp430_sleeps_as_its_data_sheet_says() {
    let supply = msp430f5438a();
    assert_eq!(supply.sleep_a("LPM0"), Some(73e-6));
    let lpm3 = supply.sleep("LPM3").expect("the data sheet has it");
    assert_eq!([0, 1, 2, 3].map(|level| lpm3.current_at_level(level)), [2.1e-6, 2.3e-6, 2.4e-6, 2.3e-6]);
    assert_eq!(supply.sleep("LPM1"), None);
    assert_eq!(supply.module("REFO").map(|module| module.current_a), Some(3e-6));
    assert!(supply.brown_out().expect("it has a supervisor").falling_v < supply.min_v());
}

#[test]
fn a_data_sheet_without_ram_currents_says_so() {
    let (_, supply) = supplies().into_iter().find(|(name, _)| name == "atmega328p").expect("it exists");
    let error = supply.current_at(8e6, 5.0, Fetch::Ram).expect_err("AVR does not execute from RAM");
    assert!(error.to_string().contains("no current for code in RAM"), "{error}");
}

/// A target of one's own with a slip in it: each is refused with what is wrong, not answered with a
/// current of NaN.
#[test]
fn a_table_from_which_no_current_comes_is_refused() {
    let good = r#"
        [supply]
        source = "a data sheet"
        note = ""
        default_v = 3.0
        max_v = 3.6
        limit = [{ supply_v = 1.8, clock_hz = 8e6 }, { supply_v = 2.0, clock_hz = 12e6 }]
        [[supply.level]]
        max_hz = 12e6
        points = [{ clock_hz = 1e6, supply_v = 3.0, current_a = 0.3e-3 }, { clock_hz = 8e6, supply_v = 3.0, current_a = 1.9e-3 }]
    "#;
    assert!(Supply::from_toml(good).is_ok());
    for (from, to, problem) in [
        (
            "clock_hz = 8e6, supply_v = 3.0",
            "clock_hz = 1e6, supply_v = 3.0",
            "two points of one table at 1 MHz, 3 V",
        ),
        ("current_a = 1.9e-3", "current_a = nan", "point at 8 MHz, 3 V with a figure that is not above zero"),
        ("current_a = 1.9e-3", "current_a = 0.0", "point at 8 MHz, 3 V with a figure that is not above zero"),
        ("supply_v = 2.0, clock_hz = 12e6", "supply_v = 1.6, clock_hz = 12e6", "limits that do not rise"),
        ("supply_v = 1.8, clock_hz", "supply_v = -1.8, clock_hz", "a limit that is not above zero"),
        ("max_v = 3.6", "max_v = 1.5", "a max_v of 1.5 V"),
        ("default_v = 3.0", "default_v = 5.0", "an impossible default_v: 5 V is outside the 1.8 V to 3.6 V"),
        (
            "limit = [{ supply_v = 1.8, clock_hz = 8e6 }, { supply_v = 2.0, clock_hz = 12e6 }]",
            "limit = []",
            "needs a limit",
        ),
    ] {
        let error = Supply::from_toml(&good.replace(from, to)).expect_err(problem).to_string();
        assert!(error.contains(problem), "{to}: {error}");
    }
}
