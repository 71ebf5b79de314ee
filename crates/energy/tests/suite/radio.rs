//! The radios' files against hand calculation on their data sheets, and against the energy that
//! mane2014 measured.

use energy::radio::{Radio, RadioError, Setting};

const CC2500: &str = include_str!("../../../../radios/cc2500.toml");
const RFM12B: &str = include_str!("../../../../radios/rfm12b.toml");

fn cc2500() -> Radio {
    Radio::from_toml(CC2500).expect("radios/cc2500.toml")
}

fn rfm12b() -> Radio {
    Radio::from_toml(RFM12B).expect("radios/rfm12b.toml")
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() <= relative, "{found} is not {expected} within {relative}");
}

/// 4 + 4 + 1 + 64 + 2 = 75 bytes, 600 bits at 250 kbit/s: 2.4 ms. 2.4 ms · 21.2 mA · 2.7 V =
/// 137.376 µJ; the paper's Table 4.3 has 0.137 mJ.
#[test]
fn a_packet_on_the_air_takes_what_the_paper_measured() {
    let sent = cc2500().send(64, 2.7).unwrap();
    assert_eq!((sent.packets, sent.air_bytes), (1, 75));
    assert_close(sent.air_s, 2.4e-3, 1e-12);
    assert_close(sent.air_j, 137.376e-6, 1e-12);
    let ratio = sent.air_j / 0.137e-3;
    println!("transmitting alone / published: {ratio:.4}");
    assert!((ratio - 1.0).abs() < 0.005);
}

/// From sleep to sleep, in µA·s: crystal 150 µs · 1.5 mA = 0.225; time-out 152 µs · 1.5 mA = 0.228;
/// calibration 720.73 µs · 7.4 mA = 5.333402; settling 88.38 µs · 7.4 mA = 0.654012; 2.4 ms · 21.2
/// mA = 50.88; to idle 0.1 µs · 7.4 mA = 0.00074. Sum 57.321154 µA·s, times 2.7 V: 154.767 µJ, 13 %
/// more than the paper's figure.
#[test]
fn the_whole_transmission_takes_more() {
    let sent = cc2500().send(64, 2.7).unwrap();
    assert_close(sent.energy_j, 57.321_154e-6 * 2.7, 1e-9);
    assert_close(sent.time_s, (150.0 + 152.0 + 720.73 + 88.38 + 2400.0 + 0.1) * 1e-6, 1e-9);
    let states: Vec<&str> = sent.passages.iter().map(|passage| passage.state.as_str()).collect();
    assert_eq!(states, ["crystal", "idle", "calibrate", "settling", "tx", "settling"]);
    let ratio = sent.energy_j / 0.137e-3;
    println!("sleep to sleep / published: {ratio:.4}");
    assert!((ratio - 1.1297).abs() < 1e-3);
}

/// 130 bytes are 64 + 64 + 2: three packets, 130 + 3 · 11 bytes on the air. The crystal starts
/// once, the rest three times.
#[test]
fn a_long_message_takes_packets() {
    let radio = cc2500();
    let sent = radio.send(130, 2.7).unwrap();
    assert_eq!((sent.packets, sent.air_bytes), (3, 163));
    let charge_c = 0.453e-6 + 3.0 * (5.333_402e-6 + 0.654_012e-6 + 0.000_74e-6) + 163.0 * 32e-6 * 21.2e-3;
    assert_close(sent.energy_j, charge_c * 2.7, 1e-9);
    assert_eq!(radio.send(128, 2.7).unwrap().packets, 2);
    let nothing = radio.send(0, 2.7).unwrap();
    assert_eq!((nothing.packets, nothing.energy_j, nothing.time_s), (0, 0.0, 0.0));
}

/// 10 ms · 18.8 mA = 188 µA·s beside the 6.440414 + 0.00074 µA·s of going there and back.
#[test]
fn listening_costs_the_receiver_s_current() {
    let heard = cc2500().listen(10e-3, 2.7).unwrap();
    assert_close(heard.energy_j, (188e-6 + 6.440_414e-6 + 0.000_74e-6) * 2.7, 1e-9);
    let setting = Setting { receive_mode: Some("current".into()), ..Setting::default() };
    assert_eq!(cc2500().set(&setting).unwrap().rx_a(), Ok(16.6e-3));
    assert!(matches!(cc2500().listen(-1.0, 2.7), Err(RadioError::OutOfRange(_))));
}

#[test]
fn the_states_are_those_that_a_chip_reports() {
    let radio = cc2500();
    let expected = [
        ("sleep", 400e-9),
        ("wor", 900e-9),
        ("xoff", 160e-6),
        ("crystal", 1.5e-3),
        ("idle", 1.5e-3),
        ("calibrate", 7.4e-3),
        ("settling", 7.4e-3),
        ("fstxon", 7.4e-3),
        ("rx", 18.8e-3),
        ("tx", 21.2e-3),
    ];
    for (name, current_a) in expected {
        assert_eq!(radio.state_a(name), Ok(current_a), "{name}");
    }
    let quieter = radio.set(&Setting { output_dbm: Some(-12.0), ..Setting::default() }).unwrap();
    assert_eq!(quieter.state_a("tx"), Ok(11.1e-3));
}

/// 5 + 2 + 2 + 66 + 2 = 77 bytes at 10 MHz / 29 / 7 = 49,261 bit/s: 12.5048 ms; at 22 mA and 3.3 V
/// 907.8 µJ. Before it 2 ms of crystal at 0.6 mA and 250 µs of synthesizer at 12 mA: 4.2 µA·s.
#[test]
fn the_meters_radio_at_its_largest_packet() {
    let sent = rfm12b().send(66, 3.3).unwrap();
    assert_eq!((sent.packets, sent.air_bytes), (1, 77));
    let air_s = 616.0 * 29.0 * 7.0 / 10e6;
    assert_close(sent.air_s, air_s, 1e-5);
    assert_close(sent.air_j, air_s * 22e-3 * 3.3, 1e-5);
    assert_close(sent.energy_j, (air_s * 22e-3 + 4.2e-6) * 3.3, 1e-5);
    let band = Setting { band_hz: Some(868e6), ..Setting::default() };
    assert_eq!(rfm12b().set(&band).unwrap().state_a("tx"), Ok(23e-3));
}

/// Mode C: 4 bytes of preamble and 4 of synchronisation before a frame of 54 bytes, at 100 kbit/s
/// 4.96 ms. At 3 V the CC1101 takes 32.8 mA; before it 302 us of 1.7 mA and 799 us of 8.4 mA, and
/// behind it 2.5 us of these. The RFM69CW takes 33 mA; before it 250 us of 1.25 mA and 140 us of
/// 9 mA.
#[test]
fn telegram_of_wireless_m_bus_on_the_air() {
    for (file, charge) in [
        (
            include_str!("../../../../radios/cc1101.toml"),
            4.96e-3 * 32.8e-3 + 302e-6 * 1.7e-3 + 801.5e-6 * 8.4e-3,
        ),
        (include_str!("../../../../radios/rfm69cw.toml"), 4.96e-3 * 33e-3 + 250e-6 * 1.25e-3 + 140e-6 * 9e-3),
    ] {
        let sent = Radio::from_toml(file).expect("a radio").send(54, 3.0).expect("it fits");
        assert_eq!((sent.packets, sent.air_bytes), (1, 62));
        assert_close(sent.air_s, 4.96e-3, 1e-9);
        assert_close(sent.energy_j, charge * 3.0, 1e-9);
    }
}

#[test]
fn unknown_radio_settings_are_refused_with_the_known_ones() {
    let radio = cc2500();
    let error = radio.send(1, 1.7).unwrap_err().to_string();
    assert_eq!(error, "1.7 V is outside the 1.8 V to 3.6 V that SWRS040C allows for cc2500");
    assert!(radio.send(1, f64::NAN).is_err());
    let error = radio.state_a("doze").unwrap_err().to_string();
    assert_eq!(
        error,
        "cc2500 has no state 'doze'; it has sleep, wor, xoff, crystal, idle, calibrate, settling, fstxon, rx, tx"
    );
    let error =
        rfm12b().set(&Setting { output_dbm: Some(3.0), ..Setting::default() }).unwrap_err().to_string();
    assert!(error.contains("no output power '3 dBm 433 MHz'; it has 0 dBm 433 MHz, "), "{error}");
    let error = radio.set(&Setting { bit_rate_hz: Some(1e6), ..Setting::default() }).unwrap_err().to_string();
    assert!(error.contains("no receiver setting '1000 kbit/s sensitivity'"), "{error}");
    // The RFM12B's current does not depend on the bit rate, so that any would do that is one.
    for bit_rate_hz in [0.0, -1.0, f64::NAN] {
        let setting = Setting { bit_rate_hz: Some(bit_rate_hz), ..Setting::default() };
        assert!(matches!(rfm12b().set(&setting), Err(RadioError::OutOfRange(_))), "{bit_rate_hz}");
    }
    assert!(radio.change("sleep", "tx").unwrap_err().to_string().contains("sleep to idle"));
}

#[test]
fn a_file_that_cannot_send_is_refused() {
    let without_a_way = CC2500.replace("from = \"idle\"\nto = \"tx\"", "from = \"xoff\"\nto = \"tx\"");
    let error = Radio::from_toml(&without_a_way).unwrap_err().to_string();
    assert!(error.contains("no way from state to state 'idle to tx'"), "{error}");
    let unknown_state = CC2500.replace("name = \"settling\"", "name = \"setling\"");
    assert!(Radio::from_toml(&unknown_state).unwrap_err().to_string().contains("no state 'settling'"));
    let negative = CC2500.replace("current_a = 160e-6", "current_a = -160e-6");
    assert!(matches!(Radio::from_toml(&negative), Err(RadioError::OutOfRange(_))));
    let negative = CC2500.replace("current_a = 9.9e-3", "current_a = -9.9e-3");
    assert!(matches!(Radio::from_toml(&negative), Err(RadioError::OutOfRange(_))));
    assert!(matches!(Radio::from_toml("name = 3"), Err(RadioError::File(_))));
}
