//! The folder of key files: who may read it, that it is written whole, and that a running service
//! sees what changes.

use collector::registry::{Change, KeyStore, MeterFile, Registry, RegistryError};
use rand::TryRngCore;
use rand::rngs::OsRng;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use wire::meter::{Channel, Identity, MessageKind, Setup, Suite};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
}

/// A registry in a fresh folder, and a folder for images.
fn fresh() -> (tempfile::TempDir, Registry) {
    let folder = tempfile::tempdir().expect("a folder");
    let registry = Registry::open(&folder.path().join("keys")).expect("made");
    (folder, registry)
}

#[test]
fn first_start_creates_private_files_that_the_second_finds() {
    let (folder, registry) = fresh();
    let public = *registry.identity().public();
    let (file, images) =
        registry.provision(Setup::usual(258), 0, &folder.path().join("images")).expect("a meter");
    assert_eq!(file.epoch, 1);
    let keys = folder.path().join("keys");
    for path in [keys.clone(), keys.join("meters"), keys.join("revoked"), folder.path().join("images")] {
        assert_eq!(mode(&path), 0o700, "{}", path.display());
    }
    for path in [
        keys.join("collector.toml"),
        keys.join("meters/00258.toml"),
        images.flash,
        images.eeprom,
        images.eeprom_hex,
    ] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    let again = Registry::open(&keys).expect("there");
    assert_eq!(*again.identity().public(), public);
    assert_eq!(again.load().expect("all are good")[&258], file);
}

/// The images make a meter that understands this collector: the flash is read by docs/reference/protocol.md's
/// table.
#[test]
fn the_images_are_the_meter_that_is_registered() {
    let (folder, registry) = fresh();
    let (file, images) =
        registry.provision(Setup::usual(258), 0, &folder.path().join("images")).expect("a meter");
    let flash = fs::read(&images.flash).expect("flash");
    assert_eq!(flash.len(), 176);
    assert_eq!(flash[..4], [0, 1, 1, 2]);
    let private = Identity::from_private_bytes(flash[80..112].try_into().expect("32")).expect("a key");
    assert_eq!(*private.public(), file.record.public);
    assert_eq!(flash[112..], registry.identity().public().to_bytes());
    let mut rng = OsRng.unwrap_err();
    let meter =
        Channel { meter: 258, keys: &file.record.keys, own: &private, peer: registry.identity().public() };
    let sealed = meter.seal(MessageKind::Report, Suite::EciesEcdsa, 7, &[9; 16], &mut rng);
    let own = Channel { own: registry.identity(), peer: &file.record.public, ..meter };
    assert_eq!(
        own.open(MessageKind::Report, Suite::EciesEcdsa, &sealed).expect("authentic").plaintext[..],
        [9; 16]
    );

    let eeprom = fs::read(&images.eeprom).expect("EEPROM");
    assert_eq!(eeprom.len(), 1024);
    let hex = fs::read_to_string(&images.eeprom_hex).expect("hex");
    assert_eq!(unhexed(&hex), eeprom);
}

/// The data of Intel hex, by its specification: count, address, type, data, check sum that makes
/// the sum 0.
fn unhexed(text: &str) -> Vec<u8> {
    let mut all = Vec::new();
    for line in text.lines() {
        let digits = line.strip_prefix(':').expect("a record");
        let bytes: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal"))
            .collect();
        assert_eq!(bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)), 0, "{line}");
        if bytes[3] == 0 {
            assert_eq!(usize::from(bytes[1]) << 8 | usize::from(bytes[2]), all.len());
            all.extend(&bytes[4..bytes.len() - 1]);
        }
    }
    all
}

#[test]
fn keys_readable_by_others_are_refused_with_the_remedy() {
    let (folder, registry) = fresh();
    registry.provision(Setup::usual(1), 0, &folder.path().join("images")).expect("a meter");
    let keys = folder.path().join("keys");
    for (name, mode, wanted) in [
        ("", 0o750, "chmod 700"),
        ("meters", 0o701, "chmod 700"),
        ("collector.toml", 0o640, "chmod 600"),
        ("meters/00001.toml", 0o604, "chmod 600"),
    ] {
        let path = if name.is_empty() { keys.clone() } else { keys.join(name) };
        let before = self::mode(&path);
        chmod(&path, mode);
        let error = Registry::open(&keys).and_then(|registry| registry.load()).expect_err("open to others");
        assert!(matches!(error, RegistryError::Open { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("{wanted} '{}'", path.display())), "{text}");
        chmod(&path, before);
        Registry::open(&keys).and_then(|registry| registry.load()).expect("mended");
    }
}

#[test]
fn damaged_file_is_named_by_line_without_its_keys() {
    let (folder, registry) = fresh();
    let (file, _) = registry.provision(Setup::usual(1), 0, &folder.path().join("images")).expect("a meter");
    let path = registry.path().expect("files").join("meters/00001.toml");
    let text = fs::read_to_string(&path).expect("there");
    let key = text.lines().find_map(|line| line.strip_prefix("keys = ")).expect("keys").trim_matches('"');
    for (wrong, line) in [
        (text.replace(key, &key[1..]), true),
        (text.replace("keys = \"", "keys = "), true),
        (text.replace("epoch = 1", "epoch = 0"), false),
        (text.replace("meter = 1", "meter = 2"), false),
        (text.replace("interval_s = 10", "interval_s = 0"), false),
        (text[..text.len() / 2].to_owned(), true),
        ("x".repeat(20_000), false),
    ] {
        fs::write(&path, wrong).expect("written");
        let text = registry.load().expect_err("damaged").to_string();
        assert!(text.contains("00001.toml"), "{text}");
        assert!(!line || text.contains("line "), "{text}");
        for part in key.as_bytes().windows(8) {
            assert!(!text.contains(std::str::from_utf8(part).expect("ASCII")), "{text}");
        }
    }
    fs::write(&path, text).expect("written");
    assert_eq!(registry.load().expect("whole")[&1], file);
    fs::remove_file(registry.path().expect("files").join("collector.toml")).expect("there");
    let error =
        Registry::open(registry.path().expect("files")).expect_err("meters know no other key").to_string();
    assert!(error.contains("collector.toml") && error.contains("backup"), "{error}");
}

/// That they raise the epoch is in `keys::both`.
#[test]
fn the_file_of_revoked_keys_has_no_secret() {
    let (folder, registry) = fresh();
    let (file, _) = registry.provision(Setup::usual(5), 0, &folder.path().join("images")).expect("a meter");
    registry.revoke(5).expect("revoked");
    let left =
        fs::read_to_string(registry.path().expect("files").join("revoked/00005-1.toml")).expect("there");
    let (key128, key256) = file.record.keys.expose();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(!left.contains(&hex(key128)) && !left.contains(&hex(key256)) && !left.contains("keys"), "{left}");
}

#[test]
fn a_setup_that_no_meter_works_with_is_refused() {
    let (folder, registry) = fresh();
    for wrong in [
        Setup { meter: 0, ..Setup::usual(1) },
        Setup { address: 0, ..Setup::usual(1) },
        Setup { address: 0x4f, ..Setup::usual(1) },
        Setup { interval_s: 0, ..Setup::usual(1) },
        Setup { voltage_uv: 1, current_ua: 4_000_000, ..Setup::usual(1) },
        Setup { phase: 257, ..Setup::usual(1) },
    ] {
        let error = registry.provision(wrong, 0, &folder.path().join("images")).expect_err("refused");
        assert!(error.is_usage(), "{error}");
    }
    assert!(registry.load().expect("none").is_empty());
}

#[test]
fn running_service_sees_changes_and_ignores_a_damaged_file() {
    let (folder, registry) = fresh();
    let images = folder.path().join("images");
    let (one, _) = registry.provision(Setup::usual(1), 0, &images).expect("a meter");
    let mut poller = registry.poller(&registry.load().expect("one"));
    let poll = |poller: &mut collector::registry::RegistryPoller| {
        let (changes, problems) = poller.poll();
        assert!(problems.is_empty(), "{problems:?}");
        changes
    };
    assert_eq!(poll(&mut poller), []);

    let (two, _) = registry.provision(Setup::usual(2), 0, &images).expect("a meter");
    assert_eq!(poll(&mut poller), [Change::Added(two)]);
    assert_eq!(poll(&mut poller), []);

    let (new, _) = registry.rotate(1, 0, &images).expect("new keys");
    let rotated = Change::Rotated { file: new.clone(), old_epoch: 1 };
    assert_eq!(poll(&mut poller), [rotated]);

    // Damaged: said once, and the meter stays.
    let path = registry.path().expect("files").join("meters/00001.toml");
    let good = fs::read_to_string(&path).expect("there");
    fs::write(&path, "epoch = ").expect("written");
    let (changes, problems) = poller.poll();
    assert_eq!((changes.len(), problems.len()), (0, 1), "{problems:?}");
    assert_eq!(poll(&mut poller), []);
    // Other keys in the same epoch: readings could not be told apart.
    fs::write(&path, toml::to_string(&MeterFile { epoch: 2, ..one }).expect("TOML")).expect("written");
    let (changes, problems) = poller.poll();
    assert_eq!((changes.len(), problems.len()), (0, 1), "{problems:?}");
    // The same keys in a later epoch: what was sent before could come again.
    fs::write(&path, good.replace("epoch = 2", "epoch = 3")).expect("written");
    let (changes, problems) = poller.poll();
    assert_eq!((changes.len(), problems.len()), (0, 1), "{problems:?}");
    fs::write(&path, good).expect("written");
    assert_eq!(poll(&mut poller), []);

    registry.revoke(1).expect("revoked");
    assert_eq!(poll(&mut poller), [Change::Revoked { meter: 1.into(), epoch: 2 }]);
    assert_eq!(poll(&mut poller), []);
    let (again, _) = registry.provision(Setup::usual(1), 0, &images).expect("again");
    assert_eq!((again.epoch, poll(&mut poller)), (3, vec![Change::Added(again)]));

    // A folder that went away revokes nobody.
    fs::rename(registry.path().expect("files"), folder.path().join("elsewhere")).expect("moved");
    assert!(poller.poll().0.is_empty());
    fs::create_dir_all(registry.path().expect("files").join("meters")).expect("an empty one");
    assert_eq!(poller.poll().0, []);
    fs::remove_dir_all(registry.path().expect("files")).expect("gone");
    fs::rename(folder.path().join("elsewhere"), registry.path().expect("files")).expect("back");
    assert_eq!(poll(&mut poller), []);
}

#[test]
fn a_meter_comes_over_from_another_folder_with_its_file() {
    let (folder, registry) = fresh();
    let images = folder.path().join("images");
    let (file, _) = registry.provision(Setup::usual(3), 0, &images).expect("a meter");
    let saved = folder.path().join("saved.toml");
    fs::copy(registry.path().expect("files").join("meters/00003.toml"), &saved).expect("copied");
    assert!(matches!(registry.add(&saved), Err(RegistryError::Exists(meter)) if meter == 3.into()));
    fs::remove_file(registry.path().expect("files").join("meters/00003.toml")).expect("lost");
    assert_eq!(registry.add(&saved).expect("restored"), file);
    registry.revoke(3).expect("there");
    assert_eq!(registry.add(&saved).expect("taken back"), file);
    registry.revoke(3).expect("there");
    // Its keys under a later epoch: what it sent before would be new again. Other keys in an epoch
    // that is over.
    let registry_elsewhere = fresh();
    let (other, _) =
        registry_elsewhere.1.provision(Setup::usual(3), 0, &folder.path().join("other")).expect("a meter");
    for (wrong, from) in [(2, &file), (1, &other)] {
        let wrong = MeterFile { epoch: wrong, ..from.clone() };
        fs::write(&saved, toml::to_string(&wrong).expect("TOML")).expect("written");
        assert!(matches!(registry.add(&saved), Err(RegistryError::Bad { .. })));
    }
    let later = MeterFile { epoch: 2, ..other };
    fs::write(&saved, toml::to_string(&later).expect("TOML")).expect("written");
    assert_eq!(registry.add(&saved).expect("new keys"), later);
    let listed = || KeyStore::Folder(registry.path().expect("files").to_owned()).list(&[]).expect("one");
    let listed_now = listed();
    assert_eq!((listed_now.len(), listed_now[0].state, listed_now[0].epoch), (1, "registered", 2));
    registry.revoke(3).expect("there");
    assert_eq!(listed()[0].state, "revoked");
    chmod(&saved, 0o644);
    assert!(matches!(registry.add(&saved), Err(RegistryError::Open { .. })));
}

#[test]
fn file_written_by_the_superuser_belongs_to_the_service() {
    use std::os::unix::fs::{MetadataExt, chown};
    let (folder, registry) = fresh();
    let (keys, meters) =
        (registry.path().expect("files").to_owned(), registry.path().expect("files").join("meters"));
    // Only the superuser can give files away.
    if chown(&meters, Some(1234), Some(1235)).is_err() {
        return;
    }
    registry.provision(Setup::usual(9), 0, &folder.path().join("images")).expect("a meter");
    let owned = fs::metadata(meters.join("00009.toml")).expect("there");
    assert_eq!((owned.uid(), owned.gid(), owned.mode() & 0o777), (1234, 1235, 0o600));
    assert_eq!(fs::metadata(keys.join("collector.toml")).expect("there").uid(), 0);
}
