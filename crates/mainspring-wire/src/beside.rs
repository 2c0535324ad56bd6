//! Two structs in one JSON object: the fields of one are taken out as they come by, the rest is read by the other.
//! serde's `flatten` would do, but it puts values aside as trees, which raw JSON (`data`) does not survive, and it cannot
//! refuse a field that neither knows.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StringDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// The fields that are taken out.
pub(crate) trait Beside: Default {
    /// What the whole object is, for errors.
    const EXPECTED: &'static str;

    /// Whether a field that neither knows is passed over: so in answers, never in requests.
    const LENIENT: bool;

    /// Reads the value if the field is one of these.
    fn take<'de, A: MapAccess<'de>>(&mut self, field: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Reads a field that may come once.
pub(crate) fn once<'de, T, A>(slot: &mut Option<T>, field: &'static str, map: &mut A) -> Result<bool, A::Error>
where
    T: Deserialize<'de>,
    A: MapAccess<'de>,
{
    if slot.is_some() {
        return Err(A::Error::duplicate_field(field));
    }
    *slot = Some(map.next_value()?);
    Ok(true)
}

/// Both halves of the object.
pub(crate) fn read<'de, B, T, D>(deserializer: D) -> Result<(B, T), D::Error>
where
    B: Beside,
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_map(Halves(PhantomData))
}

struct Halves<B, T>(PhantomData<(B, T)>);

impl<'de, B: Beside, T: Deserialize<'de>> Visitor<'de> for Halves<B, T> {
    type Value = (B, T);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(B::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(B, T), A::Error> {
        let mut beside = B::default();
        let rest = T::deserialize(Rest { map, beside: &mut beside })?;
        Ok((beside, rest))
    }
}

/// The object without what was taken out, for the derived `Deserialize` of a struct.
struct Rest<'a, A, B> {
    map: A,
    beside: &'a mut B,
}

impl<'de, A: MapAccess<'de>, B: Beside> Deserializer<'de> for Rest<'_, A, B> {
    type Error = A::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(Members { map: self.map, beside: self.beside, fields })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(Members { map: self.map, beside: self.beside, fields: &[] })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Members<'a, A, B> {
    map: A,
    beside: &'a mut B,
    fields: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>, B: Beside> MapAccess<'de> for Members<'_, A, B> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(field) = self.map.next_key::<String>()? {
            if self.beside.take(&field, &mut self.map)? {
                continue;
            }
            if B::LENIENT && !self.fields.contains(&field.as_str()) {
                self.map.next_value::<IgnoredAny>()?;
                continue;
            }
            let field: StringDeserializer<A::Error> = field.into_deserializer();
            return seed.deserialize(field).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
