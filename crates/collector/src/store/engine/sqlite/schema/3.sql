-- A second place for readings to land in: while they land in one, those in the other are sorted in, some with each batch.
-- docs/how-to/collector/storage.md, "What is stored".

CREATE TABLE landing_too (
    id INTEGER PRIMARY KEY,
    meter INTEGER NOT NULL,
    at_s INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    n INTEGER NOT NULL,
    power_w INTEGER NOT NULL,
    energy_dwh INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    rssi_dbm INTEGER,
    heard_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX landing_too_by_time ON landing_too (meter, at_s);

-- How far that is: what is in a place of meters below `from_meter` is in `readings` already. 0: nothing of it.
CREATE TABLE sorted_in (
    place TEXT PRIMARY KEY,
    from_meter INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO sorted_in VALUES ('landing', 0), ('landing_too', 0);

-- The readings that are not in `readings` yet.
CREATE VIEW landed AS
    SELECT meter, at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms FROM landing
        WHERE meter >= (SELECT from_meter FROM sorted_in WHERE place = 'landing')
    UNION ALL
    SELECT meter, at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms FROM landing_too
        WHERE meter >= (SELECT from_meter FROM sorted_in WHERE place = 'landing_too');
