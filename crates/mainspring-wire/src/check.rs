//! What the tests of the wire types share: one check each for "says the same again" and "refuses, and says why".

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub const JOB: &str = "01980000-0000-7000-8000-000000000001";
pub const WORKER: &str = "01980000-0000-7000-8000-0000000000aa";

/// The JSON is read and printed back, byte for byte: nothing is lost, renamed, reordered or printed when absent.
pub fn round_trip<T: Serialize + DeserializeOwned>(json: &str) -> T {
    let json = json.replace("JOB", JOB).replace("WORKER", WORKER);
    let value: T = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
    let printed = serde_json::to_string(&value).expect("wire types print");
    assert_eq!(printed, json);
    value
}

/// The JSON is refused, and the message holds the given words.
pub fn refused<T: DeserializeOwned + Debug>(json: &str, words: &str) {
    let json = json.replace("JOB", JOB).replace("WORKER", WORKER);
    let error = match serde_json::from_str::<T>(&json) {
        Ok(value) => panic!("{json} was read as {value:?}"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains(words), "{json}: {error:?} does not say {words:?}");
}

pub fn word_is_the_same_everywhere<W>(word: &W)
where
    W: Serialize + DeserializeOwned + Display + FromStr + PartialEq + Debug,
    W::Err: Debug,
{
    let text = word.to_string();
    let json = format!("{text:?}");
    assert_eq!(serde_json::to_string(word).expect("a word prints"), json);
    assert_eq!(&serde_json::from_str::<W>(&json).expect("a word is read"), word);
    assert_eq!(&text.parse::<W>().expect("a word is parsed"), word);
}
