//! What a node does, as the flag and the configuration write it: `api,scheduler,dispatcher`.

use std::fmt;
use std::str::FromStr;

use mainspring_core::seats::UnknownRole;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles(pub mainspring_core::seats::Roles);

impl FromStr for Roles {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Roles, UnknownRole> {
        text.parse().map(Roles)
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Roles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Roles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Roles, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
