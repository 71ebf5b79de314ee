//! A whole row as one value. A table of many columns that is given as an array of its rows is taken
//! apart in half the time that the server takes for an array of each column.

use crate::store::sql::Value;
use std::error::Error;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, Kind, ToSql, Type, to_sql_checked};

/// The values of a row's columns, in their order.
#[derive(Debug)]
pub(super) struct Record<const N: usize>(pub(super) [Value<'static>; N]);

/// As `record_recv` reads it (src/backend/utils/adt/rowtypes.c): how many columns, then of each its
/// type, its length and its bytes.
impl<const N: usize> ToSql for Record<N> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let Kind::Composite(fields) = kind.kind() else { return Err(format!("{kind} is no row").into()) };
        if fields.len() != N {
            return Err(format!("{kind} has {} columns, {N} are given", fields.len()).into());
        }
        out.extend_from_slice(&(N as i32).to_be_bytes());
        for (field, value) in fields.iter().zip(&self.0) {
            out.extend_from_slice(&field.type_().oid().to_be_bytes());
            let before = out.len();
            out.extend_from_slice(&(-1i32).to_be_bytes());
            if let IsNull::No = value.to_sql(field.type_(), out)? {
                let length = i32::try_from(out.len() - before - 4)?;
                out[before..before + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(kind.kind(), Kind::Composite(_))
    }

    to_sql_checked!();
}
