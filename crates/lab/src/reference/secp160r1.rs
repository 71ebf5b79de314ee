//! secp160r1 (SEC 2 version 1, section 2.4.2): points in affine coordinates, of numbers of any
//! length. Slow, and nothing in it is secret.

use super::octets;
use num_bigint::BigUint;
use sha1::{Digest, Sha1};

/// Bytes of a coordinate.
const BYTES: usize = 20;

/// A point of the curve but for the one at infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    x: BigUint,
    y: BigUint,
}

fn number(digits: &[u8]) -> BigUint {
    BigUint::parse_bytes(digits, 16).unwrap_or_default()
}

fn prime() -> BigUint {
    number(b"ffffffffffffffffffffffffffffffff7fffffff")
}

fn b() -> BigUint {
    number(b"1c97befc54bd7a8b65acf89f81d4d4adc565fa45")
}

/// The order of the base point.
pub(super) fn order() -> BigUint {
    number(b"100000000000000000001f4c8f927aed3ca752257")
}

/// The base point.
pub(super) fn base() -> Point {
    Point {
        x: number(b"4a96b5688ef573284664698968c38bb913cbfc82"),
        y: number(b"23a628553168947d59dcc912042351377ac5fb32"),
    }
}

impl Point {
    /// The point of these coordinates, x and y; none where they are of no point.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Point> {
        if bytes.len() != 2 * BYTES {
            return None;
        }
        let (x, y) = bytes.split_at(BYTES);
        let point = Point { x: BigUint::from_bytes_be(x), y: BigUint::from_bytes_be(y) };
        point.is_on_curve().then_some(point)
    }

    /// Its coordinates, x and y.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [octets(&self.x, BYTES), octets(&self.y, BYTES)].concat()
    }

    /// y² = x³ - 3x + b, of coordinates below the prime.
    fn is_on_curve(&self) -> bool {
        let p = prime();
        let Point { x, y } = self;
        let minus_3 = &p - 3u8;
        x < &p && y < &p && y * y % &p == (x * x * x + minus_3 * x + b()) % &p
    }

    /// The sum of two points; none at infinity. SEC 1 version 2, section 2.2.1.
    fn plus(&self, other: &Point) -> Option<Point> {
        let p = prime();
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
        Some(Point { x, y })
    }

    /// This point `number` times; none at infinity.
    pub(super) fn times(&self, number: &BigUint) -> Option<Point> {
        (0..number.bits()).rev().fold(None, |sum: Option<Point>, bit| {
            let doubled = sum.and_then(|sum| sum.plus(&sum));
            match (doubled, number.bit(bit)) {
                (Some(doubled), true) => doubled.plus(self),
                (None, true) => Some(self.clone()),
                (doubled, false) => doubled,
            }
        })
    }

    pub(super) fn x(&self) -> &BigUint {
        &self.x
    }
}

/// Returns true if a signature, r and s, of a message's SHA-1 is right: SEC 1 version 2, section
/// 4.1.4.
pub(super) fn verifies(public: &Point, message: &[u8], r: &BigUint, s: &BigUint) -> bool {
    let order = order();
    let in_range = |half: &BigUint| *half > BigUint::ZERO && *half < order;
    let Some(inverse) = s.modinv(&order).filter(|_| in_range(r) && in_range(s)) else { return false };
    let hash = BigUint::from_bytes_be(&Sha1::digest(message));
    let of_base = base().times(&(hash * &inverse % &order));
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

    /// OpenSSL's point, its coordinates as here.
    fn coordinates(group: &EcGroup, point: &EcPoint) -> Result<Vec<u8>, ErrorStack> {
        let (mut x, mut y, mut context) = (BigNum::new()?, BigNum::new()?, BigNumContext::new()?);
        point.affine_coordinates(group, &mut x, &mut y, &mut context)?;
        Ok([x.to_vec_padded(20)?, y.to_vec_padded(20)?].concat())
    }

    #[test]
    fn points_are_openssl_s() -> Result<(), ErrorStack> {
        let group = EcGroup::from_curve_name(Nid::SECP160R1)?;
        let (mut context, mut its_order) = (BigNumContext::new()?, BigNum::new()?);
        group.order(&mut its_order, &mut context)?;
        assert_eq!(its_order.to_vec(), order().to_bytes_be());
        let numbers = (1..20u8).map(BigUint::from);
        let near_the_order = (1..20u8).map(|below| order() - below);
        let hashes = (0..40u8).map(|seed| BigUint::from_bytes_be(&Sha1::digest([seed])));
        let mut peer = base();
        for number in numbers.chain(near_the_order).chain(hashes) {
            let its_number = BigNum::from_slice(&number.to_bytes_be())?;
            let mut point = EcPoint::new(&group)?;
            point.mul_generator2(&group, &its_number, &mut context)?;
            let own = base().times(&number).expect("below the order");
            assert_eq!(coordinates(&group, &point)?, own.to_bytes());
            assert_eq!(Point::from_bytes(&own.to_bytes()), Some(own.clone()));
            // A multiple of another point than the base.
            let (x, y) =
                (BigNum::from_slice(&peer.to_bytes()[..20])?, BigNum::from_slice(&peer.to_bytes()[20..])?);
            let mut its_peer = EcPoint::new(&group)?;
            its_peer.set_affine_coordinates_gfp(&group, &x, &y, &mut context)?;
            point.mul2(&group, &its_peer, &its_number, &mut context)?;
            assert_eq!(coordinates(&group, &point)?, peer.times(&number).expect("no infinity").to_bytes());
            peer = own;
        }
        Ok(())
    }

    #[test]
    fn infinity_and_points_beside_the_curve_are_none() {
        assert_eq!(base().times(&order()), None);
        assert_eq!(base().times(&BigUint::ZERO), None);
        assert_eq!(base().times(&(order() + 1u8)), Some(base()));
        let mut bytes = base().to_bytes();
        bytes[39] ^= 1;
        assert_eq!(Point::from_bytes(&bytes), None);
        assert_eq!(Point::from_bytes(&bytes[..39]), None);
        // The same point, its x above the prime.
        let above = [(base().x + prime()).to_bytes_be(), base().y.to_bytes_be()].concat();
        assert_eq!(Point::from_bytes(&above[above.len() - 40..]), None);
    }
}
