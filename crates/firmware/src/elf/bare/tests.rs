use super::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The bytes 1, 2, 3 at 0x100 as Intel HEX has them.
const HEX: &str = ":03010000010203F6\n:00000001FF\n";
/// The same as S-records with addresses of two, three and four bytes.
const S_RECORDS: [&str; 3] = [
    "S0030000FC\nS1060100010203F2\nS9030000FC\n",
    "S207000100010203F1\nS804000000FB\n",
    "S30800000100010203F0\nS70500000000FA\n",
];

fn block(address: u32, payload: &[u8], number: u32, count: u32, flags: u32, family: u32) -> Vec<u8> {
    let mut block = Vec::new();
    let words = [0x0a32_4655, 0x9e5d_5157, flags, address, payload.len() as u32, number, count, family];
    words.iter().for_each(|word: &u32| block.extend(word.to_le_bytes()));
    block.extend(payload);
    block.resize(508, 0);
    block.extend(0x0ab1_6f30_u32.to_le_bytes());
    block
}

fn image(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let bare = read(bytes, None).expect("good").expect("a known format");
    bare.image.segments.into_iter().map(|segment| (segment.address, segment.bytes)).collect()
}

fn refused(bytes: &[u8]) -> String {
    read(bytes, None).err().expect("refused")
}

#[test]
fn every_format_gives_the_same_bytes_at_the_same_address() {
    let expected = vec![(0x100, vec![1, 2, 3])];
    assert_eq!(image(HEX.as_bytes()), expected);
    for text in S_RECORDS {
        assert_eq!(image(text.as_bytes()), expected, "{text}");
    }
    let uf2 =
        [block(0x100, &[1, 2], 0, 2, 0x2000, 0xe48b_ff56), block(0x102, &[3], 1, 2, 0x2000, 0xe48b_ff56)];
    let uf2 = uf2.concat();
    assert_eq!(image(&uf2), expected);
    assert_eq!(read(&uf2, None).unwrap().unwrap().family, Some("rp2040"));
    let raw = read(&[1, 2, 3], Some(0x100)).unwrap().unwrap().image;
    assert_eq!((raw.segments[0].address, &raw.segments[0].bytes), (0x100, &vec![1, 2, 3]));
}

#[test]
fn uf2_blocks_of_another_family_are_passed_over() {
    let ours = block(0x100, &[1], 0, 1, 0x2000, 0x68ed_2b88);
    let aside = block(0x200, &[2], 0, 1, 0x1, 0);
    let other = block(0x300, &[3], 0, 1, 0x2000, 0xada5_2840);
    assert_eq!(image(&[ours, aside, other].concat()), [(0x100, vec![1])]);
}

#[test]
fn damage_is_named_with_its_place() {
    assert!(refused(b":03010000010203F7\n").contains("record 1"));
    assert!(refused(b"S1060100010203F3\n").contains("line 1: a wrong checksum"));
    assert!(refused(b"S10601000102\n").contains("line 1: another length"));
    assert!(refused(b"S1zz\n").contains("line 1: a digit"));
    assert!(refused(b"S9030000FC\n").contains("nothing to load"));
    let whole = block(0x100, &[1], 0, 2, 0, 0);
    assert!(refused(&whole).contains("1 of 2 blocks; the file is cut short"));
    assert!(refused(&whole[..500]).contains("500 bytes"));
    let long = block(0x100, &[0; 476], 0, 1, 0, 0);
    let mut long = long;
    long[16..20].copy_from_slice(&477_u32.to_le_bytes());
    assert!(refused(&long).contains("block 0: 477 bytes"));
    assert!(read(HEX.as_bytes(), Some(0)).is_err_and(|said| said.contains("--base is for a raw binary")));
    assert!(read(&[0; 8], Some(0xffff_fffc)).is_err_and(|said| said.contains("past the last address")));
    assert!(read(&[1, 2, 3], None).is_ok_and(|bare| bare.is_none()));
}

/// Noise, and good files with some bytes changed, cut or doubled.
#[test]
fn any_bytes_are_read_without_panic() {
    let mut rng = StdRng::seed_from_u64(46);
    let mut good: Vec<Vec<u8>> = S_RECORDS.iter().map(|text| text.as_bytes().to_vec()).collect();
    good.push(HEX.as_bytes().to_vec());
    good.push([block(0, &[1; 256], 0, 2, 0, 0), block(256, &[2; 256], 1, 2, 0, 0)].concat());
    for _ in 0..4_000 {
        let mut bytes = good[rng.random_range(0..good.len())].clone();
        for _ in 0..rng.random_range(0..6) {
            let at = rng.random_range(0..bytes.len());
            bytes[at] = rng.random();
        }
        bytes.truncate(rng.random_range(0..=bytes.len()));
        let base = rng.random_bool(0.3).then(|| rng.random());
        let _ = read(&bytes, base);
        let noise: Vec<u8> = (0..rng.random_range(0..40)).map(|_| rng.random()).collect();
        let _ = read(&[&bytes[..bytes.len().min(4)], &noise].concat(), base);
        let _ = map::read(&String::from_utf8_lossy(&noise));
    }
}
