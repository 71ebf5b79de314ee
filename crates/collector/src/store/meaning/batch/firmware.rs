//! Images of meters' firmware, which people add and take away, and how far each meter's update is,
//! which its session writes.

use super::executed;
use crate::image_digest::ImageDigest;
use crate::network::GlobalMeterId;
use crate::store::IMAGES_MAX;
use crate::store::meaning::read;
use crate::store::model::codes::{IS_OPEN, name_of_update_state};
use crate::store::model::write::{ImageAdded, NewImage, NewUpdate, UpdateProgress, Written};
use crate::store::sql::{Session, SqlError, values};

pub(super) fn add_image(session: Session<'_>, new: &NewImage) -> Result<ImageAdded, SqlError> {
    let (image, digest) = (&new.image, new.image.digest());
    let known = "SELECT count(*) FROM images WHERE digest = $1";
    if session.value::<i64>(known, values![digest])? > 0 {
        return Ok(ImageAdded::Known);
    }
    if session.value::<i64>("SELECT count(*) FROM images", &[])? >= IMAGES_MAX as i64 {
        return Ok(ImageAdded::NoRoom);
    }
    session.execute(
        "INSERT INTO images (digest, target, version, address, bytes, pieces, \"by\", added_ms, content) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (digest) DO NOTHING",
        values![
            digest,
            image.target().unwrap_or_default(),
            image.version(),
            image.address(),
            image.bytes().len() as i64,
            image.pieces(),
            &new.by,
            new.added_ms,
            image.bytes(),
        ],
    )?;
    Ok(ImageAdded::New)
}

pub(super) fn remove_image(session: Session<'_>, digest: &ImageDigest) -> Result<Written, SqlError> {
    let needed = format!("SELECT count(*) FROM updates WHERE digest = $1 AND {IS_OPEN}");
    if session.value::<i64>(&needed, values![&digest.0])? > 0 {
        return Ok(Written::ImageInUse);
    }
    executed(session, "DELETE FROM images WHERE digest = $1", values![&digest.0])
}

pub(super) fn begin_update(session: Session<'_>, new: &NewUpdate) -> Result<Written, SqlError> {
    let NewUpdate { meter, image, by, created_ms } = new;
    let rows = session.execute(
        "INSERT INTO updates (meter, digest, asked, version, state, refusal, pieces, of_pieces, \"by\", created_ms, changed_ms) \
         SELECT CAST($1 AS BIGINT), digest, digest, version, 'waiting', NULL, 0, pieces, CAST($3 AS TEXT), CAST($4 AS BIGINT), \
         CAST($4 AS BIGINT) FROM images WHERE digest = $2 \
         ON CONFLICT (meter) DO UPDATE SET digest = excluded.digest, asked = excluded.asked, version = excluded.version, \
         state = excluded.state, refusal = excluded.refusal, pieces = excluded.pieces, of_pieces = excluded.of_pieces, \
         \"by\" = excluded.\"by\", created_ms = excluded.created_ms, changed_ms = excluded.changed_ms",
        values![*meter, &image.0, by, *created_ms],
    )?;
    if rows == 0 {
        return Ok(Written::Unknown);
    }
    let record = read::update(session, *meter)?;
    Ok(record.map_or(Written::Unknown, |record| Written::Update(Box::new(record))))
}

pub(super) fn update_went_on(session: Session<'_>, progress: &UpdateProgress) -> Result<Written, SqlError> {
    let UpdateProgress { meter, created_ms, image, state, refusal, pieces, of, at_ms } = progress;
    let sql = format!(
        "UPDATE updates SET digest = $3, state = $4, refusal = $5, pieces = $6, of_pieces = $7, changed_ms = $8 \
         WHERE meter = $1 AND created_ms = $2 AND {IS_OPEN}"
    );
    let refusal = refusal.map(|refusal| refusal.code());
    let state = name_of_update_state(*state);
    executed(session, &sql, values![*meter, *created_ms, &image.0, state, refusal, *pieces, *of, *at_ms])
}

pub(super) fn update_not_begun(
    session: Session<'_>,
    meter: GlobalMeterId,
    created_ms: i64,
    at_ms: i64,
) -> Result<Written, SqlError> {
    let sql = format!(
        "UPDATE updates SET state = 'withdrawn', changed_ms = $3 WHERE meter = $1 AND created_ms = $2 AND {IS_OPEN}"
    );
    executed(session, &sql, values![meter, created_ms, at_ms])
}
