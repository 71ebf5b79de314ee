//! Quantiles.

/// The value that a share of the values does not exceed, between two of them as far as the share is
/// (Hyndman and Fan, "Sample quantiles in statistical packages", 1996, definition 7). None of no
/// values.
pub(super) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_lies_between_the_values_around_it() {
        let values = [30.0, 10.0, 20.0, 40.0];
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0];
        let expected = [10.0, 17.5, 25.0, 32.5, 40.0].map(Some);
        assert_eq!(shares.map(|share| quantile(&values, share)), expected);
        assert_eq!(quantile(&[], 0.5), None);
    }
}
