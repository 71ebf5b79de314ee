//! Straight lines through points, by least squares.

/// The line `y = slope * x + offset` whose relative deviations from the points have the least sum
/// of squares; none where all `x` are the same or a `y` is not positive.
pub(crate) fn through(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    if points.len() < 2 || points.iter().any(|&(x, y)| !x.is_finite() || !y.is_finite() || y <= 0.0) {
        return None;
    }
    let scale = points.iter().map(|point| point.0.abs()).fold(0.0, f64::max);
    let weighted =
        |f: &dyn Fn(f64, f64) -> f64| -> f64 { points.iter().map(|&(x, y)| f(x / scale, y) / (y * y)).sum() };
    let (one, x, xx) = (weighted(&|_, _| 1.0), weighted(&|x, _| x), weighted(&|x, _| x * x));
    let (y, xy) = (weighted(&|_, y| y), weighted(&|x, y| x * y));
    let determinant = one * xx - x * x;
    if determinant.is_nan() || determinant <= 1e-12 * one * xx {
        return None;
    }
    let slope = (one * xy - x * y) / determinant;
    Some((slope / scale, (y - slope * x) / one))
}
