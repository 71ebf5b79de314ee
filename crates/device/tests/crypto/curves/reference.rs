//! OpenSSL's curves, and the nonces of RFC 6979.

use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::ec::{EcGroup, EcPoint, PointConversionForm};
use openssl::nid::Nid;

pub fn number(bytes: &[u8]) -> BigNum {
    BigNum::from_slice(bytes).expect("OpenSSL has memory")
}

pub fn small(value: u32) -> BigNum {
    BigNum::from_u32(value).expect("OpenSSL has memory")
}

pub fn power_of_two(exponent: i32) -> BigNum {
    let mut power = BigNum::new().expect("OpenSSL has memory");
    power.set_bit(exponent).expect("OpenSSL has memory");
    power
}

pub fn bytes<const N: usize>(number: &BigNumRef) -> [u8; N] {
    number.to_vec_padded(N as i32).expect("the number fits").try_into().expect("as many as were asked for")
}

/// OpenSSL's curve.
pub struct Reference {
    pub group: EcGroup,
    pub prime: BigNum,
    pub order: BigNum,
    pub context: BigNumContext,
}

impl Reference {
    pub fn new(name: Nid) -> Self {
        let group = EcGroup::from_curve_name(name).expect("OpenSSL has the curve");
        let mut context = BigNumContext::new().expect("OpenSSL has memory");
        let (mut prime, mut order) = (small(0), small(0));
        let (mut a, mut b) = (small(0), small(0));
        group.components_gfp(&mut prime, &mut a, &mut b, &mut context).expect("a prime curve");
        group.order(&mut order, &mut context).expect("it has one");
        Self { group, prime, order, context }
    }

    /// A number below the order and not 0.
    pub fn scalar(&self, random: &mut fastrand::Rng) -> BigNum {
        let wide: [u8; 64] = std::array::from_fn(|_| random.u8(..));
        &(&number(&wide) % &(&self.order - &small(1))) + &small(1)
    }

    /// `scalar` times the base point.
    pub fn base(&mut self, scalar: &BigNumRef) -> EcPoint {
        let mut point = EcPoint::new(&self.group).expect("OpenSSL has memory");
        point.mul_generator2(&self.group, scalar, &mut self.context).expect("any scalar will do");
        point
    }

    pub fn times(&mut self, point: &EcPoint, scalar: &BigNumRef) -> EcPoint {
        let mut product = EcPoint::new(&self.group).expect("OpenSSL has memory");
        product.mul2(&self.group, point, scalar, &mut self.context).expect("any scalar will do");
        product
    }

    pub fn plus(&mut self, a: &EcPoint, b: &EcPoint) -> EcPoint {
        let mut sum = EcPoint::new(&self.group).expect("OpenSSL has memory");
        sum.add(&self.group, a, b, &mut self.context).expect("any points will do");
        sum
    }

    /// The point in the form of SEC 1.
    pub fn encode(&mut self, point: &EcPoint, form: PointConversionForm) -> Vec<u8> {
        point.to_bytes(&self.group, form, &mut self.context).expect("not infinity")
    }

    /// x and y.
    pub fn coordinates<const N: usize>(&mut self, point: &EcPoint) -> [u8; N] {
        self.encode(point, PointConversionForm::UNCOMPRESSED)[1..].try_into().expect("two coordinates")
    }

    pub fn inverse(&mut self, scalar: &BigNumRef) -> BigNum {
        let mut inverse = small(0);
        inverse.mod_inverse(scalar, &self.order, &mut self.context).expect("the order is prime");
        inverse
    }

    pub fn product(&mut self, a: &BigNumRef, b: &BigNumRef) -> BigNum {
        let mut product = small(0);
        product.mod_mul(a, b, &self.order, &mut self.context).expect("OpenSSL has memory");
        product
    }

    /// Modulo the order, of any sign.
    pub fn reduced(&mut self, a: &BigNumRef) -> BigNum {
        let mut reduced = small(0);
        reduced.nnmod(a, &self.order, &mut self.context).expect("the order is not 0");
        reduced
    }

    /// Scalars that recodings or additions may get wrong, and others.
    pub fn scalars(&self, columns: i32, random: &mut fastrand::Rng) -> Vec<BigNum> {
        let mut all: Vec<BigNum> = (1..=64).map(small).collect();
        all.extend((1..=64).map(|below| &self.order - &small(below)));
        for exponent in 0..self.order.num_bits() - 1 {
            let power = power_of_two(exponent);
            all.push(&self.order - &power);
            all.push(power);
        }
        for half in [2 * columns, 4 * columns, 5 * columns, 6 * columns, 8 * columns] {
            // What the comb's tables take from one half repeats in the other, with equal and
            // opposite signs.
            let power = power_of_two(half);
            for low in [small(1), small(3), &(&power >> 1) + &small(1), &power - &small(1)] {
                for scalar in [&(&low * &power) + &low, &(&low * &power) - &low] {
                    all.push(&scalar % &self.order);
                }
            }
        }
        all.extend((0..60).map(|_| self.scalar(random)));
        all.retain(|scalar| scalar.num_bits() > 0);
        all
    }
}

/// Value of one column of the comb, with the signs of an index with 5 bits: the sum of 2^(2 columns
/// j), or less it.
pub fn column(columns: i32, signs: i32) -> BigNum {
    let mut sum = small(0);
    for j in 0..5 {
        let power = power_of_two(2 * columns * j);
        sum = if signs >> j & 1 == 1 { &sum + &power } else { &sum - &power };
    }
    sum
}

/// HMAC_DRBG of RFC 6979 section 3.2 steps b to h, without its tests: every output in turn.
pub struct Nonces<M> {
    key: Vec<u8>,
    v: Vec<u8>,
    hash: std::marker::PhantomData<M>,
}

impl<M: hmac::Mac + hmac::digest::KeyInit> Nonces<M> {
    fn hmac(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut mac = <M as hmac::Mac>::new_from_slice(&self.key).expect("any length");
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().to_vec()
    }

    pub fn new(digest_bytes: usize, seed: &[u8]) -> Self {
        let mut nonces =
            Self { key: vec![0; digest_bytes], v: vec![1; digest_bytes], hash: std::marker::PhantomData };
        for round in [0, 1] {
            nonces.key = nonces.hmac(&[&nonces.v, &[round], seed]);
            nonces.v = nonces.hmac(&[&nonces.v]);
        }
        nonces
    }

    pub fn draw(&mut self, len: usize) -> Vec<u8> {
        let mut output = Vec::new();
        while output.len() < len {
            self.v = self.hmac(&[&self.v]);
            output.extend(&self.v);
        }
        output.truncate(len);
        output
    }
}
