//! Curves y² = x³ - 3x + b over prime fields: points in affine coordinates, of numbers of any
//! length. Nothing in it is secret. A test compares them with OpenSSL.

use super::jacobian::Jacobian;
use super::octets;
use num_bigint::BigUint;

/// Parameters of a curve whose order is prime, in hexadecimal digits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Domain {
    /// Bytes of a coordinate.
    bytes: usize,
    prime: &'static str,
    b: &'static str,
    order: &'static str,
    /// The base point.
    base: (&'static str, &'static str),
}

/// SEC 2 version 1, section 2.4.2.
pub(super) static SECP160R1: Domain = Domain {
    bytes: 20,
    prime: "ffffffffffffffffffffffffffffffff7fffffff",
    b: "1c97befc54bd7a8b65acf89f81d4d4adc565fa45",
    order: "100000000000000000001f4c8f927aed3ca752257",
    base: ("4a96b5688ef573284664698968c38bb913cbfc82", "23a628553168947d59dcc912042351377ac5fb32"),
};

/// FIPS 186-4 section D.1.2.1.
pub(super) static P192: Domain = Domain {
    bytes: 24,
    prime: "fffffffffffffffffffffffffffffffeffffffffffffffff",
    b: "64210519e59c80e70fa7e9ab72243049feb8deecc146b9b1",
    order: "ffffffffffffffffffffffff99def836146bc9b1b4d22831",
    base: (
        "188da80eb03090f67cbf20eb43a18800f4ff0afd82ff1012",
        "07192b95ffc8da78631011ed6b24cdd573f977a11e794811",
    ),
};

/// SP 800-186 section 3.2.1.2.
pub(super) static P224: Domain = Domain {
    bytes: 28,
    prime: "ffffffffffffffffffffffffffffffff000000000000000000000001",
    b: "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
    order: "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
    base: (
        "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
        "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
    ),
};

/// SP 800-186 section 3.2.1.4.
pub(super) static P384: Domain = Domain {
    bytes: 48,
    prime: concat!(
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe",
        "ffffffff0000000000000000ffffffff"
    ),
    b: concat!(
        "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875a",
        "c656398d8a2ed19d2a85c8edd3ec2aef"
    ),
    order: concat!(
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf",
        "581a0db248b0a77aecec196accc52973"
    ),
    base: (
        concat!(
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a38",
            "5502f25dbf55296c3a545e3872760ab7"
        ),
        concat!(
            "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c0",
            "0a60b1ce1d7e819d7a431d7c90ea0e5f"
        ),
    ),
};

fn number(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default()
}

impl Domain {
    fn prime(&self) -> BigUint {
        number(self.prime)
    }

    /// The order of the base point.
    pub(super) fn order(&self) -> BigUint {
        number(self.order)
    }

    /// The base point.
    pub(super) fn base(&'static self) -> Point {
        Point { domain: self, x: number(self.base.0), y: number(self.base.1) }
    }

    /// The point of these coordinates, x and y; none where they are of no point.
    pub(super) fn point(&'static self, bytes: &[u8]) -> Option<Point> {
        if bytes.len() != 2 * self.bytes {
            return None;
        }
        let (x, y) = bytes.split_at(self.bytes);
        let point = Point { domain: self, x: BigUint::from_bytes_be(x), y: BigUint::from_bytes_be(y) };
        point.is_on_curve().then_some(point)
    }
}

/// A point of the curve but for the one at infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    domain: &'static Domain,
    x: BigUint,
    y: BigUint,
}

impl Point {
    /// Its coordinates, x and y.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.domain.bytes;
        [octets(&self.x, bytes), octets(&self.y, bytes)].concat()
    }

    /// y² = x³ - 3x + b, of coordinates below the prime.
    fn is_on_curve(&self) -> bool {
        let p = self.domain.prime();
        let Point { domain, x, y } = self;
        let minus_3 = &p - 3u8;
        x < &p && y < &p && y * y % &p == (x * x * x + minus_3 * x + number(domain.b)) % &p
    }

    /// The sum of two points; none at infinity. SEC 1 version 2, section 2.2.1.
    fn plus(&self, other: &Point) -> Option<Point> {
        let p = self.domain.prime();
        let difference = |a: &BigUint, b: &BigUint| (a + &p - b) % &p;
        let slope = if self.x != other.x {
            difference(&other.y, &self.y) * difference(&other.x, &self.x).modinv(&p)?
        } else if self.y == other.y && self.y != BigUint::ZERO {
            let tangent = 3u8 * (&self.x * &self.x) + (&p - 3u8);
            tangent * (2u8 * &self.y).modinv(&p)?
        } else {
            return None;
        };
        let x = difference(&difference(&(&slope * &slope % &p), &self.x), &other.x);
        let y = difference(&(&slope * difference(&self.x, &x) % &p), &self.y);
        Some(Point { domain: self.domain, x, y })
    }

    /// This point `number` times; none at infinity.
    pub(super) fn times(&self, number: &BigUint) -> Option<Point> {
        let p = self.domain.prime();
        let mut sum = Jacobian::infinity();
        for bit in (0..number.bits()).rev() {
            sum = sum.doubled(&p);
            if number.bit(bit) {
                sum = sum.plus((&self.x, &self.y), &p);
            }
        }
        let (x, y) = sum.to_affine(&p)?;
        Some(Point { domain: self.domain, x, y })
    }

    pub(super) fn x(&self) -> &BigUint {
        &self.x
    }
}

/// Returns true if a signature, r and s, of a digest is right: SEC 1 version 2, section 4.1.4.
pub(super) fn verifies(public: &Point, digest: &BigUint, r: &BigUint, s: &BigUint) -> bool {
    let order = public.domain.order();
    let in_range = |half: &BigUint| *half > BigUint::ZERO && *half < order;
    let Some(inverse) = s.modinv(&order).filter(|_| in_range(r) && in_range(s)) else { return false };
    let of_base = public.domain.base().times(&(digest * &inverse % &order));
    let of_public = public.times(&(r * inverse % &order));
    let point = match (of_base, of_public) {
        (Some(one), Some(other)) => one.plus(&other),
        (one, other) => one.or(other),
    };
    point.is_some_and(|point| point.x % &order == *r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::bn::{BigNum, BigNumContext};
    use openssl::ec::{EcGroup, EcPoint};
    use openssl::error::ErrorStack;
    use openssl::nid::Nid;
    use sha1::{Digest, Sha1};

    /// OpenSSL's point, its coordinates as here.
    fn coordinates(group: &EcGroup, point: &EcPoint, bytes: usize) -> Result<Vec<u8>, ErrorStack> {
        let (mut x, mut y, mut context) = (BigNum::new()?, BigNum::new()?, BigNumContext::new()?);
        point.affine_coordinates(group, &mut x, &mut y, &mut context)?;
        Ok([x.to_vec_padded(bytes as i32)?, y.to_vec_padded(bytes as i32)?].concat())
    }

    fn points_are_openssl_s(domain: &'static Domain, name: Nid) -> Result<(), ErrorStack> {
        let group = EcGroup::from_curve_name(name)?;
        let (mut context, mut its_order) = (BigNumContext::new()?, BigNum::new()?);
        group.order(&mut its_order, &mut context)?;
        assert_eq!(its_order.to_vec(), domain.order().to_bytes_be());
        let numbers = (1..20u8).map(BigUint::from);
        let near_the_order = (1..20u8).map(|below| domain.order() - below);
        let hashes = (0..40u8).map(|seed| BigUint::from_bytes_be(&Sha1::digest([seed])));
        let mut peer = domain.base();
        for number in numbers.chain(near_the_order).chain(hashes) {
            let its_number = BigNum::from_slice(&number.to_bytes_be())?;
            let mut point = EcPoint::new(&group)?;
            point.mul_generator2(&group, &its_number, &mut context)?;
            let own = domain.base().times(&number).expect("below the order");
            assert_eq!(coordinates(&group, &point, domain.bytes)?, own.to_bytes());
            assert_eq!(domain.point(&own.to_bytes()), Some(own.clone()));
            // A multiple of another point than the base.
            let bytes = peer.to_bytes();
            let (x, y) = bytes.split_at(domain.bytes);
            let (x, y) = (BigNum::from_slice(x)?, BigNum::from_slice(y)?);
            let mut its_peer = EcPoint::new(&group)?;
            its_peer.set_affine_coordinates_gfp(&group, &x, &y, &mut context)?;
            point.mul2(&group, &its_peer, &its_number, &mut context)?;
            let product = peer.times(&number).expect("no infinity").to_bytes();
            assert_eq!(coordinates(&group, &point, domain.bytes)?, product);
            peer = own;
        }
        Ok(())
    }

    #[test]
    fn points_of_each_curve_are_openssl_s() -> Result<(), ErrorStack> {
        points_are_openssl_s(&SECP160R1, Nid::SECP160R1)?;
        points_are_openssl_s(&P192, Nid::X9_62_PRIME192V1)?;
        points_are_openssl_s(&P224, Nid::SECP224R1)?;
        points_are_openssl_s(&P384, Nid::SECP384R1)
    }

    /// The sum of two points in Jacobian coordinates, the first with another Z than 1.
    fn jacobian_sum(one: &Point, other: &Point) -> Option<(BigUint, BigUint)> {
        let (domain, p) = (one.domain, one.domain.prime());
        // The base twice, less the base, plus `one`: each of these steps changes Z.
        let base = domain.base();
        let minus = &p - &base.y;
        let start = Jacobian::of((&base.x, &base.y)).doubled(&p).plus((&base.x, &minus), &p);
        let start = start.plus((&one.x, &one.y), &p).plus((&base.x, &minus), &p);
        start.plus((&other.x, &other.y), &p).to_affine(&p)
    }

    #[test]
    fn jacobian_sums_are_those_of_the_affine_formulas() {
        for domain in [&SECP160R1, &P192, &P224, &P384] {
            let p = domain.prime();
            let mut points = vec![domain.base()];
            for _ in 0..6 {
                let last = points.last().expect("one");
                points.push(last.plus(last).and_then(|sum| sum.plus(&domain.base())).expect("no infinity"));
            }
            let negated = |point: &Point| Point { y: &p - &point.y, ..point.clone() };
            points.extend(points.iter().map(negated).collect::<Vec<_>>());
            for one in &points {
                for other in &points {
                    let affine = one.plus(other).map(|sum| (sum.x, sum.y));
                    // Equal points are doubled, opposite ones are none.
                    assert_eq!(affine.is_none(), one.x == other.x && one.y != other.y);
                    let plain = Jacobian::of((&one.x, &one.y)).plus((&other.x, &other.y), &p);
                    assert_eq!(plain.to_affine(&p), affine);
                    assert_eq!(jacobian_sum(one, other), affine);
                }
                let at_infinity = Jacobian::infinity();
                assert_eq!(at_infinity.doubled(&p).to_affine(&p), None);
                let sum = at_infinity.doubled(&p).plus((&one.x, &one.y), &p);
                assert_eq!(sum.to_affine(&p), Some((one.x.clone(), one.y.clone())));
            }
        }
    }

    /// On P-192 no point has a y of zero, because its order is prime; the formulas do not know the
    /// order.
    #[test]
    fn doubled_point_whose_y_is_zero_is_at_infinity() {
        let p = P192.prime();
        let doubled = Jacobian::of((&BigUint::from(1u8), &BigUint::ZERO)).doubled(&p);
        assert_eq!(doubled.to_affine(&p), None);
    }

    #[test]
    fn infinity_and_points_beside_the_curve_are_none() {
        for domain in [&SECP160R1, &P192, &P224, &P384] {
            let (base, order) = (domain.base(), domain.order());
            assert_eq!(base.times(&order), None);
            assert_eq!(base.times(&BigUint::ZERO), None);
            assert_eq!(base.times(&(order + 1u8)), Some(base.clone()));
            let mut bytes = base.to_bytes();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            assert_eq!(domain.point(&bytes), None);
            assert_eq!(domain.point(&bytes[..last]), None);
        }
        // The same point, its x above the prime.
        let base = SECP160R1.base();
        let above = [(base.x + SECP160R1.prime()).to_bytes_be(), base.y.to_bytes_be()].concat();
        assert_eq!(SECP160R1.point(&above[above.len() - 40..]), None);
    }
}
