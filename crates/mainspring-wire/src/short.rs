//! Values with a short form: a text for what most people mean, an object for who means more. serde's `untagged` would do,
//! but it reads a value twice and says of a wrong one only that nothing matched; here the error says what is wrong.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use utoipa::PartialSchema;
use utoipa::openapi::schema::{OneOfBuilder, Type};
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, RefOr, Schema};

/// A value that is a text, or an object that says more.
pub(crate) trait Short: Sized {
    /// The object.
    type Long: for<'de> Deserialize<'de>;

    /// Such as `an id, or an object with job_id and on_failure`.
    const EXPECTED: &'static str;

    fn from_text(text: &str) -> Result<Self, String>;

    /// Refused unless the type says otherwise.
    fn from_number(_: f64) -> Option<Result<Self, String>> {
        None
    }

    fn from_long(long: Self::Long) -> Result<Self, String>;
}

pub(crate) fn read<'de, T: Short, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(ShortVisitor(PhantomData))
}

struct ShortVisitor<T>(PhantomData<T>);

impl<'de, T: Short> Visitor<'de> for ShortVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.number(number as f64, serde::de::Unexpected::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.number(number as f64, serde::de::Unexpected::Signed(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.number(number, serde::de::Unexpected::Float(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let long = T::Long::deserialize(MapAccessDeserializer::new(map))?;
        T::from_long(long).map_err(A::Error::custom)
    }
}

impl<T: Short> ShortVisitor<T> {
    fn number<E: Error>(self, number: f64, found: serde::de::Unexpected<'_>) -> Result<T, E> {
        match T::from_number(number) {
            Some(read) => read.map_err(E::custom),
            None => Err(E::invalid_type(found, &T::EXPECTED)),
        }
    }
}

/// One text or several, as a list either way.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string, or a list of strings")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = list.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }

    deserializer.deserialize_any(Texts)
}

/// The schema of a value with a short form.
pub(crate) fn schema<Long: PartialSchema>(text: &str, description: &str) -> RefOr<Schema> {
    let short = ObjectBuilder::new().schema_type(Type::String).examples([text]);
    OneOfBuilder::new().item(short).item(Long::schema()).description(Some(description)).into()
}

/// The schema of one text or several.
pub(crate) fn texts_schema(text: &str, description: &str) -> RefOr<Schema> {
    let one = || ObjectBuilder::new().schema_type(Type::String).examples([text]);
    let many = ArrayBuilder::new().items(one());
    OneOfBuilder::new().item(one()).item(many).description(Some(description)).into()
}
