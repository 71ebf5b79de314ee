-- What all meters used in an interval, together: 128 meters a row. docs/how-to/collector/storage.md, "What is stored".

CREATE TABLE used_by_time (
    level INTEGER NOT NULL,
    start_s INTEGER NOT NULL,
    meters INTEGER NOT NULL,
    used_dwh BLOB NOT NULL,
    PRIMARY KEY (level, start_s, meters)
) STRICT, WITHOUT ROWID;
