//! Settings of peripherals in target files.

use mcu::{Part, new_machine};

#[test]
fn a_setting_that_the_model_does_not_know_is_refused() {
    let text = include_str!("../../../../targets/atmega328p.toml");
    let part = Part::from_toml(text).expect("a target file");
    assert!(new_machine(&part, 16_000_000).is_ok());
    for mistaken in part.peripherals.iter().filter(|spec| !spec.settings.is_empty()).map(|spec| &spec.name) {
        let mut part = part.clone();
        for spec in part.peripherals.iter_mut().filter(|spec| spec.name == *mistaken) {
            spec.settings.insert("wirte_us".into(), 1);
        }
        let said = new_machine(&part, 16_000_000).err().expect("refused");
        assert!(
            said.contains("has no setting wirte_us; it has") && said.contains(mistaken.as_str()),
            "{said}"
        );
    }
}
