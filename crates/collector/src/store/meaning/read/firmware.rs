//! Images of meters' firmware, and how far each meter's update is.

use crate::image_digest::ImageDigest;
use crate::network::GlobalMeterId;
use crate::store::model::codes::{IS_OPEN, update_state_of_name};
use crate::store::model::meter_range::MeterRange;
use crate::store::model::query::MeterFilter;
use crate::store::model::record::{ImageRecord, UpdateRecord};
use crate::store::sql::{Row, Session, SqlError, values};
use wire::meter::{Image, ImageRefusal};

const IMAGE: &str = "SELECT digest, target, version, address, bytes, pieces, \"by\", added_ms FROM images";

const UPDATE: &str = "SELECT meter, digest, asked, version, state, refusal, pieces, of_pieces, \"by\", created_ms, changed_ms \
                      FROM updates";

fn image_of(row: Row<'_>) -> Result<ImageRecord, SqlError> {
    Ok(ImageRecord {
        digest: ImageDigest(row.get(0)?),
        target: row.get(1)?,
        version: row.get(2)?,
        address: row.get(3)?,
        bytes: row.get(4)?,
        pieces: row.get(5)?,
        by: row.get(6)?,
        added_ms: row.get(7)?,
    })
}

fn update_of(row: Row<'_>) -> Result<UpdateRecord, SqlError> {
    Ok(UpdateRecord {
        meter: row.get(0)?,
        image: ImageDigest(row.get(1)?),
        asked: ImageDigest(row.get(2)?),
        version: row.get(3)?,
        state: update_state_of_name(&row.get::<String>(4)?),
        refusal: row.get::<Option<u8>>(5)?.map(ImageRefusal::from_code),
        pieces: row.get(6)?,
        of: row.get(7)?,
        by: row.get(8)?,
        created_ms: row.get(9)?,
        changed_ms: row.get(10)?,
    })
}

pub(in crate::store) fn images(session: Session<'_>) -> Result<Vec<ImageRecord>, SqlError> {
    session.query(&format!("{IMAGE} ORDER BY added_ms DESC, digest"), &[], image_of)
}

pub(in crate::store) fn image(
    session: Session<'_>,
    digest: &ImageDigest,
) -> Result<Option<ImageRecord>, SqlError> {
    session.first(&format!("{IMAGE} WHERE digest = $1"), values![&digest.0], image_of)
}

pub(in crate::store) fn image_content(
    session: Session<'_>,
    digest: &ImageDigest,
) -> Result<Option<Image>, SqlError> {
    let content: Option<Vec<u8>> =
        session
            .first("SELECT content FROM images WHERE digest = $1", values![&digest.0], |row| row.get(0))?;
    let Some(content) = content else { return Ok(None) };
    let image = Image::new(content).filter(|image| *image.digest() == digest.0);
    image.map(Some).ok_or_else(|| SqlError::Stored("an image is not the one that was stored".to_owned()))
}

/// The latest image of the same target and version that is for another slot.
pub(in crate::store) fn image_of_other_slot(
    session: Session<'_>,
    digest: &ImageDigest,
) -> Result<Option<ImageDigest>, SqlError> {
    session.first(
        "SELECT other.digest FROM images AS one JOIN images AS other \
         ON other.target = one.target AND other.version = one.version AND other.address <> one.address \
         WHERE one.digest = $1 ORDER BY other.added_ms DESC LIMIT 1",
        values![&digest.0],
        |row| row.get(0).map(ImageDigest),
    )
}

pub(in crate::store) fn update(
    session: Session<'_>,
    meter: GlobalMeterId,
) -> Result<Option<UpdateRecord>, SqlError> {
    session.first(&format!("{UPDATE} WHERE meter = $1"), values![meter], update_of)
}

pub(in crate::store) fn updates(
    session: Session<'_>,
    whose: MeterFilter,
) -> Result<Vec<UpdateRecord>, SqlError> {
    let sql = format!("{UPDATE} WHERE meter BETWEEN $1 AND $2 ORDER BY changed_ms DESC, meter");
    let (first, last) = whose.keys();
    session.query(&sql, values![first, last], update_of)
}

/// Those that are not over, in the order in which they were asked for.
pub(in crate::store) fn open_updates(
    session: Session<'_>,
    keys: MeterRange,
) -> Result<Vec<UpdateRecord>, SqlError> {
    let sql =
        format!("{UPDATE} WHERE {IS_OPEN} AND {} ORDER BY created_ms, meter LIMIT $5", MeterRange::sql());
    session.query(&sql, &keys.page(None, i64::MAX), update_of)
}
