//! Enums that are one word on the wire. The macro writes the word once and derives everything that must agree with it:
//! serde, the OpenAPI schema, `as_str`, `Display` and `FromStr`.

macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $what:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:tt, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, utoipa::ToSchema,
        )]
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every word, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$( $name::$variant ),+];

            /// The word as it is on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ParseError;

            fn from_str(text: &str) -> Result<$name, $crate::ParseError> {
                $name::ALL.iter().copied().find(|word| word.as_str() == text).ok_or_else(|| {
                    let known: Vec<&str> = $name::ALL.iter().map(|word| word.as_str()).collect();
                    $crate::ParseError::new(format!(
                        "{} is not {}: expected one of {}",
                        $crate::parse::quoted(text),
                        $what,
                        known.join(", "),
                    ))
                })
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use crate::check::word_is_the_same_everywhere;
    use crate::{
        BackfillResult, BreakerPhase, CatchupMode, Dst, DstGap, DstOverlap, EventKind, ExecutionOutcome, LedgerWhat,
        OnFailure, Order, Outcome, Overlap, PausedBy, Readiness, RetryStrategy, ScheduleStatus, SettledAs, SkipReason,
        Status, Tenants, WorkflowStatus,
    };

    #[test]
    fn every_word_is_the_same_in_json_display_and_from_str() {
        Status::ALL.iter().for_each(word_is_the_same_everywhere);
        RetryStrategy::ALL.iter().for_each(word_is_the_same_everywhere);
        Outcome::ALL.iter().for_each(word_is_the_same_everywhere);
        SettledAs::ALL.iter().for_each(word_is_the_same_everywhere);
        ExecutionOutcome::ALL.iter().for_each(word_is_the_same_everywhere);
        Order::ALL.iter().for_each(word_is_the_same_everywhere);
        EventKind::ALL.iter().for_each(word_is_the_same_everywhere);
        Readiness::ALL.iter().for_each(word_is_the_same_everywhere);
        OnFailure::ALL.iter().for_each(word_is_the_same_everywhere);
        WorkflowStatus::ALL.iter().for_each(word_is_the_same_everywhere);
        ScheduleStatus::ALL.iter().for_each(word_is_the_same_everywhere);
        PausedBy::ALL.iter().for_each(word_is_the_same_everywhere);
        DstGap::ALL.iter().for_each(word_is_the_same_everywhere);
        DstOverlap::ALL.iter().for_each(word_is_the_same_everywhere);
        Dst::ALL.iter().for_each(word_is_the_same_everywhere);
        CatchupMode::ALL.iter().for_each(word_is_the_same_everywhere);
        Overlap::ALL.iter().for_each(word_is_the_same_everywhere);
        BackfillResult::ALL.iter().for_each(word_is_the_same_everywhere);
        LedgerWhat::ALL.iter().for_each(word_is_the_same_everywhere);
        Tenants::ALL.iter().for_each(word_is_the_same_everywhere);
        BreakerPhase::ALL.iter().for_each(word_is_the_same_everywhere);
        SkipReason::ALL.iter().for_each(word_is_the_same_everywhere);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = "halt".parse::<Order>().expect_err("halt is not an order");
        assert_eq!(error.to_string(), r#""halt" is not an order: expected one of work, quiet, terminate"#);
    }
}
