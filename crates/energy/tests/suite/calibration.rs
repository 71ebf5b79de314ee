//! Calibrations: what they do to a current, and what they refuse.

use energy::{Calibration, CalibrationError, Fetch, Supply, SupplyError};

/// 1 mA at 1 MHz, 8 mA at 8 MHz; half of that from RAM.
fn supply() -> Supply {
    Supply::from_toml(
        r#"
        [supply]
        source = "a data sheet"
        note = ""
        default_v = 3.0
        max_v = 3.6
        limit = [{ supply_v = 2.0, clock_hz = 8e6 }]
        [[supply.level]]
        max_hz = 8e6
        points = [{ clock_hz = 1e6, supply_v = 3.0, current_a = 1e-3 }, { clock_hz = 8e6, supply_v = 3.0, current_a = 8e-3 }]
        ram_points = [{ clock_hz = 8e6, supply_v = 3.0, current_a = 4e-3 }]
        [[supply.sleep]]
        name = "stop"
        current_a = 1e-6
        what = "All off."
        source = "a data sheet"
        "#,
    )
    .expect("a well-formed table")
}

fn calibration(points: &str) -> Calibration {
    let text = format!("target = \"a part\"\nsource = \"a bench\"\n{points}");
    Calibration::from_toml(&text).expect("a well-formed file")
}

fn rejection(points: &str) -> CalibrationError {
    calibration(points).correction(&supply()).expect_err("it is to be refused")
}

#[test]
fn one_point_gives_a_gain_alone() {
    let calibration = calibration("[[point]]\nclock_hz = 4e6\nsupply_v = 3.0\ncurrent_a = 5e-3");
    let correction = calibration.correction(&supply()).expect("it fits");
    assert!((correction.gain - 1.25).abs() < 1e-12 && correction.offset_a == 0.0);
    assert!((correction.deviations[0].before + 0.2).abs() < 1e-12);
    assert!(correction.deviations[0].after.abs() < 1e-12);
    let calibrated = supply().calibrated(&calibration).expect("it fits");
    assert!((calibrated.current_a(2e6, 3.0).unwrap() - 2.5e-3).abs() < 1e-12);
    assert!((calibrated.current_at(8e6, 3.0, Fetch::Ram).unwrap() - 5e-3).abs() < 1e-12);
    assert!((calibrated.power_w(2e6, 3.0).unwrap() - 7.5e-3).abs() < 1e-12);
    assert_eq!(calibrated.sleep_a("stop"), Some(1e-6));
}

/// A current, an energy with cycles and one with a time: 1.5 times the data sheet's and 0.5 mA, so
/// 3.5, 6.5 and 9.5 mA at 2, 4 and 6 MHz. A million cycles at 4 MHz and 2.5 V: 0.25 s * 2.5 V * 6.5
/// mA = 4.0625 mJ. 2 s at 3 V and 9.5 mA: 57 mJ.
#[test]
fn points_at_several_clocks_give_gain_and_offset() {
    let calibration = calibration(
        "[[point]]\nclock_hz = 2e6\nsupply_v = 3.0\ncurrent_a = 3.5e-3\n\
         [[point]]\nclock_hz = 4e6\nsupply_v = 2.5\ncycles = 1_000_000\nenergy_j = 4.0625e-3\n\
         [[point]]\nclock_hz = 6e6\nsupply_v = 3.0\ntime_s = 2.0\nenergy_j = 57e-3",
    );
    let correction = calibration.correction(&supply()).expect("it fits");
    assert!((correction.gain - 1.5).abs() < 1e-9, "{correction:?}");
    assert!((correction.offset_a - 0.5e-3).abs() < 1e-12, "{correction:?}");
    assert!(correction.deviations.iter().all(|point| point.after.abs() < 1e-9));
    // A calibrated supply calibrated again is not corrected twice.
    let once = supply().calibrated(&calibration).expect("it fits");
    assert_eq!(once.calibrated(&calibration).expect("it fits"), once);
}

/// Twice the data sheet at one supply, the same as it at the other: between 1 and 2, nearer the
/// smaller by weight.
#[test]
fn points_at_one_clock_give_a_gain_between_them() {
    let correction = calibration(
        "[[point]]\nclock_hz = 4e6\nsupply_v = 3.0\ncurrent_a = 8e-3\n\
         [[point]]\nclock_hz = 4e6\nsupply_v = 2.5\ncurrent_a = 4e-3",
    )
    .correction(&supply())
    .expect("it fits");
    // Model over measured is 0.5 and 1: (0.5 + 1) / (0.25 + 1) = 1.2.
    assert!((correction.gain - 1.2).abs() < 1e-12 && correction.offset_a == 0.0);
}

#[test]
fn points_that_fall_where_the_data_sheet_rises_are_refused() {
    let error = rejection(
        "[[point]]\nclock_hz = 2e6\nsupply_v = 3.0\ncurrent_a = 6e-3\n\
         [[point]]\nclock_hz = 6e6\nsupply_v = 3.0\ncurrent_a = 4e-3",
    );
    assert_eq!(
        error.to_string(),
        "the calibration points contradict the data sheet: fitted to them, the current falls by 0.50 A for each \
         ampere that it should rise by; check their clocks, supplies and units"
    );
}

#[test]
fn incomplete_or_contradictory_point_is_refused_by_number() {
    let good = "[[point]]\nclock_hz = 2e6\nsupply_v = 3.0\ncurrent_a = 6e-3\n";
    for (fields, problem) in [
        ("", "neither a current nor an energy"),
        ("cycles = 5", "neither a current nor an energy"),
        ("energy_j = 1e-3", "lacks the cycles or the time"),
        ("energy_j = 1e-3\ncycles = 5\ntime_s = 1.0", "both cycles and a time"),
        ("current_a = 1e-3\nenergy_j = 1e-3", "more than a current"),
        ("current_a = -1e-3", "not above zero"),
        ("energy_j = 1e-3\ncycles = 0", "not above zero"),
        ("current_a = nan", "not above zero"),
    ] {
        let error =
            rejection(&format!("{good}[[point]]\nclock_hz = 2e6\nsupply_v = 3.0\n{fields}")).to_string();
        assert!(error.starts_with("calibration point 2: ") && error.contains(problem), "{fields}: {error}");
    }
    let error = rejection("[[point]]\nclock_hz = 9e6\nsupply_v = 3.0\ncurrent_a = 6e-3").to_string();
    assert!(error.starts_with("calibration point 1: 9 MHz is too fast at 3 V"), "{error}");
    let error = rejection("[[point]]\nclock_hz = 0\nsupply_v = 3.0\ncurrent_a = 6e-3").to_string();
    assert_eq!(error, "calibration point 1: a clock of 0 Hz is none; give one above zero");
}

#[test]
fn a_file_without_points_or_with_a_wrong_word_is_refused() {
    let read = |text: &str| Calibration::from_toml(text).expect_err("it is to be refused").to_string();
    assert!(read("target = \"a\"\nsource = \"b\"\npoint = []").contains("give at least one"));
    assert!(read("target = \"a\"\nsource = \"b\"").contains("missing field `point`"));
    let error = read("target = \"a\"\nsource = \"b\"\n[[point]]\nclock = 1e6\nsupply_v = 3.0");
    assert!(error.contains("unknown field `clock`") && error.contains("clock_hz"), "{error}");
}

/// Gain 2 and -3 mA: nothing is left of 1 mA.
#[test]
fn calibration_without_a_positive_current_is_refused() {
    let calibration = calibration(
        "[[point]]\nclock_hz = 4e6\nsupply_v = 3.0\ncurrent_a = 5e-3\n\
         [[point]]\nclock_hz = 6e6\nsupply_v = 3.0\ncurrent_a = 9e-3",
    );
    let calibrated = supply().calibrated(&calibration).expect("it fits");
    let error = calibrated.current_a(1e6, 3.0).expect_err("-1 mA is no current");
    assert!(matches!(error, SupplyError::Calibrated { .. }), "{error}");
    assert!(error.to_string().contains("make -1.000 mA of the current at 1 MHz, 3 V"), "{error}");
    assert!((calibrated.current_a(4e6, 3.0).unwrap() - 5e-3).abs() < 1e-12);
}
