//! Columns to values and back: every odd value becomes an error that names table, row and column.

use std::fmt::Display;
use std::str::FromStr;

use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{Error, Result};

/// One row of a named table.
pub(super) struct Columns<'r> {
    row: &'r Row<'r>,
    table: &'static str,
    key: &'static str,
}

impl<'r> Columns<'r> {
    /// Reads `row` of `table`, whose key column is `key`.
    pub(super) fn new(row: &'r Row<'r>, table: &'static str, key: &'static str) -> Self {
        Self { row, table, key }
    }

    fn bad(&self, column: &'static str, detail: impl Display) -> Error {
        let row = match self.row.get_ref(self.key) {
            Ok(rusqlite::types::ValueRef::Integer(number)) => number.to_string(),
            Ok(value) => value.as_str().unwrap_or("?").chars().take(80).collect(),
            Err(_) => "?".to_owned(),
        };
        Error::BadColumn { table: self.table, row, column, detail: detail.to_string() }
    }

    /// A plain value.
    pub(super) fn get<T: FromSql>(&self, column: &'static str) -> Result<T> {
        self.row.get(column).map_err(|e| self.bad(column, e))
    }

    /// An integer within the range of `T`.
    pub(super) fn int<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T> {
        let number: i64 = self.get(column)?;
        T::try_from(number).map_err(|_| self.bad(column, format!("{number} is out of range")))
    }

    /// The same, or none.
    pub(super) fn opt_int<T: TryFrom<i64>>(&self, column: &'static str) -> Result<Option<T>> {
        match self.get::<Option<i64>>(column)? {
            None => Ok(None),
            Some(number) => {
                T::try_from(number).map(Some).map_err(|_| self.bad(column, format!("{number} is out of range")))
            }
        }
    }

    /// A word or an id.
    pub(super) fn word<T: FromStr<Err: Display>>(&self, column: &'static str) -> Result<T> {
        let text: String = self.get(column)?;
        text.parse().map_err(|e: T::Err| self.bad(column, e))
    }

    /// The same, or none.
    pub(super) fn opt_word<T: FromStr<Err: Display>>(&self, column: &'static str) -> Result<Option<T>> {
        let text: Option<String> = self.get(column)?;
        text.map(|text| text.parse().map_err(|e: T::Err| self.bad(column, e))).transpose()
    }

    /// A value kept as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T> {
        let text: String = self.get(column)?;
        serde_json::from_str(&text).map_err(|e| self.bad(column, e))
    }

    /// The same, or none.
    pub(super) fn opt_json<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>> {
        let text: Option<String> = self.get(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|e| self.bad(column, e))).transpose()
    }

    /// A unit variant that serde names.
    pub(super) fn variant<T: DeserializeOwned>(&self, column: &'static str) -> Result<T> {
        let text: String = self.get(column)?;
        serde_json::from_value(serde_json::Value::String(text)).map_err(|e| self.bad(column, e))
    }
}

/// `value` as JSON text; `what` names it in an error.
pub(super) fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Encode { what, detail: e.to_string() })
}

/// A unit variant as serde names it.
pub(super) fn to_variant<T: Serialize>(what: &'static str, value: &T) -> Result<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => Ok(text),
        Ok(_) => Err(Error::Encode { what, detail: "it is no plain word".to_owned() }),
        Err(e) => Err(Error::Encode { what, detail: e.to_string() }),
    }
}

/// Every row of a query.
pub(super) fn all<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    decode: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(decode(row)?);
    }
    Ok(found)
}

/// The first row of a query, if there is one. The statement runs to its end, so that an `UPDATE … RETURNING` is whole.
pub(super) fn one<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    decode: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    Ok(all(conn, sql, params, decode)?.into_iter().next())
}

/// Runs one statement; how many rows it changed.
pub(super) fn run(conn: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}
