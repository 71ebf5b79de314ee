use super::*;

fn workspace() -> Workspace {
    Workspace::find().expect("the project's folder")
}

fn text(name: &str) -> String {
    workspace().read(format!("boards/{name}.toml")).expect("a board's file").1
}

/// Returns the error for a board whose file has something else in one place.
fn said(name: &str, from: &str, to: &str) -> String {
    let text = text(name);
    assert!(text.contains(from), "{name} has no {from}");
    workspace().board_from_toml(name, &text.replacen(from, to, 1)).expect_err("refused")
}

#[test]
fn all_boards_can_be_read_and_mounted() {
    let workspace = workspace();
    let names = workspace.board_names().expect("the folder");
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        let board = workspace.board(&name).expect("a board");
        let target = workspace.target(&board.target).expect("its target");
        let mut machine = mcu::new_machine(&target.part, board.clock_hz).expect("a model");
        board.mount(&mut *machine, board.meter.as_ref().map(|_| &[0x5a; 1024][..])).expect("room");
        assert_eq!(machine.board().supply_v, board.supply_v);
        let radio = board.radio().expect("a radio");
        assert!(machine.board().chip(radio.model.chip_name()).is_some());
        assert!(workspace.radio(radio.model.as_str()).is_ok());
    }
}

#[test]
fn chips_are_wired_as_the_file_says() {
    let board = workspace().board("msp430f5438a-cc2500").expect("a board");
    let radio = board.radio().expect("a CC2500");
    let outputs = vec![
        (Cc2500::GDO0, Pin::new("P1", 3)),
        (Cc2500::GDO2, Pin::new("P1", 5)),
        (Cc2500::SO, Pin::new("P3", 2)),
    ];
    assert_eq!(board.wiring(radio), Wiring { spi: "UCB0".into(), select: Pin::new("P3", 0), outputs });
    assert_eq!(board.channel_of(Quantity::MainsCurrent), Some(2));
    assert_eq!(board.sensor(Quantity::StoredVoltage).expect("one").divider, 4);
    let board = workspace().board("emontx").expect("a board");
    let radio = board.radio().expect("an RFM12B");
    let outputs = vec![(Rfm12b::NIRQ, Pin::new("PORTD", 2))];
    assert_eq!(board.wiring(radio), Wiring { spi: "SPI".into(), select: Pin::new("PORTB", 2), outputs });
    assert_eq!(board.channel_of(Quantity::StoredVoltage), None);
}

#[test]
fn the_meter_s_memory_is_where_the_board_has_one() {
    let workspace = workspace();
    let machine = |name: &str| {
        let board = workspace.board(name).expect("a board");
        let target = workspace.target(&board.target).expect("its target");
        (board.clone(), mcu::new_machine(&target.part, board.clock_hz).expect("a model"))
    };
    let (board, mut machine_with_eeprom) = machine("emontx");
    board.mount(&mut *machine_with_eeprom, Some(&[1, 2, 3])).expect("room");
    let mut bytes = [0; 4];
    assert!(machine_with_eeprom.peek(0x81_0000, &mut bytes));
    assert_eq!(bytes, [1, 2, 3, 0xff]);
    let (board, mut machine_with_chip) = machine("stm32f407-cc2500");
    board.mount(&mut *machine_with_chip, Some(&[1, 2, 3])).expect("room");
    let memory = machine_with_chip.board().chip("FM25L16B").and_then(|chip| chip.downcast_ref::<Fm25>());
    assert_eq!(memory.expect("mounted").memory()[..4], [1, 2, 3, 0xff]);
    let error = board.mount(&mut *machine_with_chip, Some(&[0; 2049])).expect_err("no room");
    assert!(error.to_string().contains("no memory with room for 2049 bytes"), "{error}");
}

#[test]
fn a_slip_of_the_finger_names_its_neighbour() {
    let error = workspace().board("emontex").expect_err("unknown");
    assert!(error.is_usage());
    assert!(error.to_string().contains("no board 'emontex'; did you mean emontx"), "{error}");
    for (from, to, wanted) in [
        ("\"atmega328p\"", "\"atmega382p\"", "no target 'atmega382p'; did you mean atmega328p"),
        ("\"small\"", "\"smal\"", "[meter]: there is no variant 'smal'; did you mean small"),
        ("select = \"PORTB.2\"", "select = \"PORTE.2\"", "select of rfm12b: atmega328p has no port 'PORTE'"),
        ("nIRQ =", "nIQR =", "chip rfm12b: there is no output 'nIQR'; did you mean nIRQ"),
        ("[[spi]]\nname = \"SPI\"", "[[spi]]\nname = \"SPI1\"", "atmega328p has no serial interface 'SPI1'"),
        ("role = \"radio\"\nspi = \"SPI\"", "role = \"radio\"\nspi = \"SPY\"", "there is no [[spi]] 'SPY'"),
    ] {
        let said = said("emontx", from, to);
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn board_file_refuses_impossible_boards() {
    for (from, to, wanted) in [
        ("supply_v", "suply_v", "unknown field `suply_v`"),
        ("phase", "fase", "unknown field `fase`"),
        ("quantity", "quality", "unknown field `quality`"),
        ("\"rfm12b\"", "\"rfm69\"", "unknown variant `rfm69`"),
        ("\"PORTB.2\"", "\"PB2\"", "'PB2' is no pin; write the port and the bit"),
        ("nIRQ = \"PORTD.2\"", "nIRQ = \"PORTD\"", "'PORTD' is no pin"),
        ("\"PORTB.2\"", "\"PORTB.8\"", "PORTB of atmega328p has no pin 8"),
        ("\"PORTC.0\"", "\"PORTC.7\"", "PORTC of atmega328p has no pin 7"),
        ("\"PORTB.2\"", "\"PORTB.3\"", "PORTB.3 is mosi of SPI and select of rfm12b"),
        ("role = \"radio\"", "role = \"memory\"", "chip rfm12b: its role is radio, not memory"),
        ("channel = 0", "channel = 8", "has 8 channels; 8 is none of them"),
        ("channel = 0", "channel = 1", "more than one channel 1"),
        ("\"mains-voltage\"", "\"mains-current\"", "more than one sensor mains-current"),
        ("channel = 0", "divider = 0\nchannel = 0", "divider must be at least 1"),
        ("beyond_data_sheet", "# ", "or say in beyond_data_sheet who runs it so all the same"),
        ("supply_v = 3.3", "supply_v = 5.0", "leave beyond_data_sheet out"),
    ] {
        let said = said("emontx", from, to);
        assert!(said.contains(wanted), "{said}");
    }
    let second =
        "[[chip]]\nmodel = \"rfm12b\"\nrole = \"radio\"\nspi = \"UCB0\"\nselect = \"P3.5\"\n\n[[chip]]";
    let said = said("msp430f5438a-cc2500", "[[chip]]", second);
    assert!(said.contains("more than one chip with role radio"), "{said}");
}

#[test]
fn of_builds_with_fewer_suites_one_with_the_suite_is_chosen() {
    let meter = |board: &str| workspace().board(board).expect("a board").meter.expect("a meter");
    let emontx = meter("emontx");
    let other = &emontx.builds[1].suites;
    assert!(other.iter().any(|suite| suite == "ascon-aead128"));
    for (suite, chosen) in [("none", &[][..]), ("ecies-ecdsa", &[]), ("ascon-aead128", other)] {
        assert_eq!(emontx.with_suite(suite), Ok(chosen));
        assert_eq!(meter("stm32f407-cc2500").with_suite(suite), Ok(&[][..]));
    }
    let none = emontx.with_suite("rot13").expect_err("no build has it");
    assert!(none.contains("ecies-ecdsa; or none"), "{none}");
}

#[test]
fn board_firmware_is_built_at_the_board_s_clock_by_default() {
    let workspace = workspace();
    let board = workspace.board("stm32f407-cc2500").expect("a board");
    let target = workspace.target(&board.target).expect("its target");
    let source = workspace.board_source(&board, &target, None).expect("a clock of the part");
    assert_eq!((source.clock_hz, source.wait_states), (168_000_000, 5));
    assert_eq!(source.board, Some("stm32f407-cc2500"));
    let source = workspace.board_source(&board, &target, Some(16_000_000)).expect("a clock of the part");
    assert_eq!((source.clock_hz, source.wait_states), (16_000_000, 0));
    let error = workspace.board_source(&board, &target, Some(500_000_000)).expect_err("too fast");
    assert!(error.is_usage(), "{error}");
}
