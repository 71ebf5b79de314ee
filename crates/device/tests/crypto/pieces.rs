//! Messages and outputs cut into pieces at random.

/// Places at which `len` bytes are cut.
pub fn cuts(random: &mut fastrand::Rng, len: usize, longest: usize) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut left = len;
    while left > 0 {
        let length = random.usize(0..=left.min(longest));
        lengths.push(length);
        left -= length;
    }
    lengths
}

/// The pieces of a message.
pub fn pieces<'a>(random: &mut fastrand::Rng, mut message: &'a [u8], longest: usize) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in cuts(random, message.len(), longest) {
        let (piece, rest) = message.split_at(length);
        pieces.push(piece);
        message = rest;
    }
    pieces
}
