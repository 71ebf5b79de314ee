//! Keys and images on the host: no leaf signs twice, whatever happens to the file's writer.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use update::image::{Header, pack, program, verify};
use update::key::{Height, PrivateKey};

fn leaf(signature: &[u8]) -> u32 {
    u32::from_be_bytes(signature[..4].try_into().expect("4 bytes"))
}

#[test]
fn each_leaf_signs_once_and_then_the_key_is_used_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("maker.key");
    let (_, public) = PrivateKey::generate(&path, Height::H5).expect("a new key");
    for expected in 0..32 {
        // As another process has it.
        let (signature, left) = PrivateKey::at(&path).sign(b"an image").expect("a leaf");
        assert_eq!((leaf(&signature), left), (expected, 31 - u64::from(expected)));
        assert!(public.verifies(b"an image", &signature) && !public.verifies(b"another", &signature));
    }
    let error = PrivateKey::at(&path).sign(b"an image").expect_err("used up").to_string();
    assert!(error.contains("leaves are all used"), "{error}");
}

#[test]
fn a_seed_decides_pair_and_signatures() {
    let folder = tempfile::tempdir().expect("a folder");
    let signed = |name: &str, seed: u8| {
        let (key, public) =
            PrivateKey::from_seed(&folder.path().join(name), Height::H5, &[seed; 32]).expect("a new key");
        (public, [b"one", b"two"].map(|message| key.sign(message).expect("a leaf").0))
    };
    let (first, again, other) = (signed("first", 1), signed("again", 1), signed("other", 2));
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
}

#[test]
fn signers_at_once_take_leaves_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("maker.key");
    PrivateKey::generate(&path, Height::H5).expect("a new key");
    let signers: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || leaf(&PrivateKey::at(&path).sign(b"an image").expect("a leaf").0))
        })
        .collect();
    let mut leaves: Vec<u32> = signers.into_iter().map(|signer| signer.join().expect("no panic")).collect();
    leaves.sort_unstable();
    assert_eq!(leaves, (0..8).collect::<Vec<_>>());
}

/// If the file cannot be written anew, there is no signature. If a writer crashed before its file
/// took the other's place, the next one writes it anew.
#[test]
fn nothing_is_signed_that_the_file_does_not_know_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("maker.key");
    PrivateKey::generate(&path, Height::H5).expect("a new key");
    let before = fs::read(&path).expect("a file");
    let beside = folder.path().join("maker.key.new");
    // A folder in its way cannot be removed as a file is.
    fs::create_dir(&beside).expect("a folder");
    PrivateKey::at(&path).sign(b"an image").expect_err("it is not kept");
    assert_eq!(fs::read(&path).expect("a file"), before);
    fs::remove_dir(&beside).expect("it was empty");
    fs::write(&beside, "what a crash left").expect("a file");
    let (signature, _) = PrivateKey::at(&path).sign(b"an image").expect("a leaf");
    assert_eq!(leaf(&signature), 0);
    assert_ne!(fs::read(&path).expect("a file"), before);
    // Nor by another name: the two would be different files afterwards.
    let other = folder.path().join("other.key");
    fs::copy(folder.path().join("maker.key.pub"), folder.path().join("other.key.pub")).expect("a file");
    symlink(&path, &other).expect("a link");
    PrivateKey::at(&other).sign(b"an image").expect_err("a link");
    fs::remove_file(&other).expect("a link");
    fs::hard_link(&path, &other).expect("a second name");
    PrivateKey::at(&other).sign(b"an image").expect_err("two names");
    PrivateKey::at(&path).sign(b"an image").expect_err("two names");
}

#[test]
fn files_that_are_no_keys_are_named_and_none_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("maker.key");
    let (key, _) = PrivateKey::generate(&path, Height::H5).expect("a new key");
    let again = PrivateKey::generate(&path, Height::H5).expect_err("it is there").to_string();
    assert!(again.contains("is there already"), "{again}");
    let refused = |what: &str| {
        let error = key.sign(b"an image").expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
    refused("others may read it");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    for text in [
        "",
        "WattSeal LMS private key 1\n",
        "WattSeal LMS private key 1\n00zz\n",
        "WattSeal LMS private key 1\n0\n",
    ] {
        fs::write(&path, text).expect("a file");
        refused("no private key");
    }
    // Another's public key beside it.
    let (_, other) = PrivateKey::generate(&folder.path().join("other.key"), Height::H5).expect("a new key");
    fs::copy(folder.path().join("other.key"), &path).expect("a file");
    refused("another key than the public one");
    assert!(!other.verifies(b"", &[0; 3]));
}

#[test]
fn images_are_read_back_and_changed_ones_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (key, public) =
        PrivateKey::generate(&folder.path().join("maker.key"), Height::H5).expect("a new key");
    let (start, bytes) = program([(0x0802_0204, &[3u8; 5][..]), (0x0802_0200, &[1, 2]), (0x0802_0300, &[])])
        .expect("a program");
    assert_eq!((start, bytes.as_slice()), (0x0802_0200, &[1, 2, 0xff, 0xff, 3, 3, 3, 3, 3][..]));
    program([(0, &[1u8, 2][..]), (1, &[3])]).expect_err("one over the other");
    program([(0, &[1u8][..]), (0x4000_0000, &[3])]).expect_err("too far apart");
    program(Vec::<(u32, &[u8])>::new()).expect_err("nothing");
    let mut image =
        pack("stm32f407", 7, start, &bytes, key.signature_bytes().expect("a key")).expect("an image");
    pack("stm32f407", 7, 0x100, &bytes, 0).expect_err("no room for the header");
    assert!(pack("a name that is too long", 7, start, &bytes, 0).expect_err("no name").is_usage());
    let (signature, _) = key.sign(&image).expect("a leaf");
    image.extend(signature);
    let header = verify(&image, &public).expect("a good one");
    assert_eq!(
        (header.target.as_str(), header.version, header.address, header.length),
        ("stm32f407", 7, 0x0802_0000, 524)
    );
    // All of the header, of the signature's head and of what is around the tree's type, and of the
    // rest some.
    let kind = image.len() - 5 * 32 - 4;
    let some = (0..40).chain(520..570).chain(kind - 1..kind + 5).chain((40..image.len()).step_by(37));
    for (at, bit) in some.flat_map(|at| [(at, 1), (at, 0x80)]) {
        let mut wrong = image.clone();
        wrong[at] ^= bit;
        verify(&wrong, &public).expect_err("a wrong bit");
    }
    for end in [0, 39, 40, 512, 524, image.len() - 1] {
        verify(&image[..end], &public).expect_err("a part of it");
    }
    assert_eq!(Header::read(&[image, vec![0]].concat()), None, "a byte more");
}
