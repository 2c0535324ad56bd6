//! Rates and ratios in one word of the command line: `100/1m`, `50%`, `50%/1m`, `0.5/1m`. Whether they are in bounds is the server's
//! to say.

use std::str::FromStr;

use mainspring_wire::Span;

/// So many in each span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePerSpan {
    pub permits: u32,
    pub per: Span,
}

impl FromStr for RatePerSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<RatePerSpan, String> {
        let Some((permits, per)) = text.split_once('/') else {
            return Err("expected a number and a span of time, such as 100/1m".to_owned());
        };
        let permits = permits.parse().map_err(|_| format!("{permits:?} is not a whole number, as in 100/1m"))?;
        Ok(RatePerSpan { permits, per: span(per)? })
    }
}

/// A part of what ended in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioInWindow {
    pub ratio: f64,
    pub window: Option<Span>,
}

impl FromStr for RatioInWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<RatioInWindow, String> {
        let (ratio, window) = match text.split_once('/') {
            Some((ratio, window)) => (ratio, Some(span(window)?)),
            None => (text, None),
        };
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let read = match ratio.strip_suffix('%') {
            Some(percent) => number(percent).map(|percent| percent / 100.0),
            None => number(ratio),
        };
        let ratio = read.ok_or_else(|| format!("{ratio:?} is not a part such as 50% or 0.5"))?;
        Ok(RatioInWindow { ratio, window })
    }
}

/// `/m` means every minute.
fn span(text: &str) -> Result<Span, String> {
    let counted = if text.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'P') {
        format!("1{text}")
    } else {
        text.to_owned()
    };
    counted.parse().map_err(|error| format!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_span() {
        let rate = |text: &str| text.parse::<RatePerSpan>();
        assert_eq!(rate("100/1m"), Ok(RatePerSpan { permits: 100, per: Span::from_secs(60) }));
        assert_eq!(rate("5/s"), Ok(RatePerSpan { permits: 5, per: Span::from_secs(1) }));
        assert_eq!(rate("5/PT1H"), Ok(RatePerSpan { permits: 5, per: Span::from_secs(3600) }));
        assert!(rate("100").expect_err("no span").contains("such as 100/1m"));
        assert!(rate("x/1m").expect_err("no number").contains("whole number"));
        assert!(rate("1/soon").expect_err("no span").contains("is not a duration"));
    }

    #[test]
    fn a_ratio_is_in_percent_or_a_part_of_one() {
        let ratio = |text: &str| text.parse::<RatioInWindow>();
        assert_eq!(ratio("50%"), Ok(RatioInWindow { ratio: 0.5, window: None }));
        assert_eq!(ratio("0.25/10s"), Ok(RatioInWindow { ratio: 0.25, window: Some(Span::from_secs(10)) }));
        assert_eq!(ratio("12.5%/2m"), Ok(RatioInWindow { ratio: 0.125, window: Some(Span::from_secs(120)) }));
        assert!(ratio("half").expect_err("no number").contains("such as 50% or 0.5"));
        assert!(ratio("nan").expect_err("no number").contains("such as 50% or 0.5"));
        assert!(ratio("50%/soon").expect_err("no span").contains("is not a duration"));
    }
}
