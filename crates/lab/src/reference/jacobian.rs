//! Points of y² = x³ - 3x + b in Jacobian coordinates, (X / Z², Y / Z³): sums need no inverse, so
//! that a product has one. The formulas hold for a = -3, which the curves of SP 800-186 have.

use num_bigint::BigUint;

/// A point; at infinity where Z is zero.
#[derive(Clone)]
pub(super) struct Jacobian {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

/// a - b, of numbers below the prime.
fn difference(a: &BigUint, b: &BigUint, p: &BigUint) -> BigUint {
    if a < b { a + p - b } else { a - b }
}

impl Jacobian {
    pub(super) fn infinity() -> Jacobian {
        Jacobian { x: BigUint::from(1u8), y: BigUint::from(1u8), z: BigUint::ZERO }
    }

    /// The point of these affine coordinates.
    pub(super) fn of((x, y): (&BigUint, &BigUint)) -> Jacobian {
        Jacobian { x: x.clone(), y: y.clone(), z: BigUint::from(1u8) }
    }

    /// Twice this point. A point whose Y is zero gives infinity, as infinity does.
    pub(super) fn doubled(&self, p: &BigUint) -> Jacobian {
        let Jacobian { x, y, z } = self;
        let zz = z * z % p;
        let yy = y * y % p;
        let xyy4 = 4u8 * (x * &yy) % p;
        let tangent = 3u8 * ((x + &zz) * difference(x, &zz, p)) % p;
        let own_x = difference(&(&tangent * &tangent % p), &(2u8 * &xyy4 % p), p);
        let own_y = difference(&(tangent * difference(&xyy4, &own_x, p) % p), &(8u8 * (&yy * &yy) % p), p);
        Jacobian { x: own_x, y: own_y, z: 2u8 * (y * z) % p }
    }

    /// The sum of this point and one of affine coordinates.
    pub(super) fn plus(&self, other: (&BigUint, &BigUint), p: &BigUint) -> Jacobian {
        let Jacobian { x, y, z } = self;
        if *z == BigUint::ZERO {
            return Jacobian::of(other);
        }
        let zz = z * z % p;
        let run = difference(&(other.0 * &zz % p), x, p);
        let rise = difference(&(zz * z % p * other.1 % p), y, p);
        if run == BigUint::ZERO {
            return if rise == BigUint::ZERO { self.doubled(p) } else { Jacobian::infinity() };
        }
        let squared = &run * &run % p;
        let cubed = &squared * &run % p;
        let x_squared = squared * x % p;
        let own_x = difference(&(&rise * &rise % p), &((&cubed + 2u8 * &x_squared) % p), p);
        let own_y = difference(&(rise * difference(&x_squared, &own_x, p) % p), &(y * cubed % p), p);
        Jacobian { x: own_x, y: own_y, z: z * run % p }
    }

    /// Its affine coordinates; none at infinity.
    pub(super) fn to_affine(&self, p: &BigUint) -> Option<(BigUint, BigUint)> {
        let inverse = self.z.modinv(p)?;
        let squared = &inverse * &inverse % p;
        Some((&self.x * &squared % p, &self.y * squared % p * inverse % p))
    }
}
