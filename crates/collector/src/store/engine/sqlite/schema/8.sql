-- Telegrams of other makers' meters. docs/reference/wireless-mbus.md, "In the collector".

CREATE TABLE mbus_meters (
    meter TEXT PRIMARY KEY,
    first_heard_ms INTEGER,
    last_heard_ms INTEGER,
    telegrams INTEGER NOT NULL,
    unauthenticated INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    refused_ms INTEGER,
    refusal TEXT
) STRICT;

-- The highest message counter that was taken, of each key that a meter ever had.
CREATE TABLE mbus_counters (
    meter TEXT NOT NULL,
    key_id BLOB NOT NULL,
    counter INTEGER NOT NULL,
    PRIMARY KEY (meter, key_id)
) STRICT;

-- `contents`: the records as JSON.
CREATE TABLE mbus_telegrams (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    meter TEXT NOT NULL,
    heard_ms INTEGER NOT NULL,
    address TEXT NOT NULL,
    mode INTEGER NOT NULL,
    authenticated INTEGER NOT NULL,
    counter INTEGER,
    access_number INTEGER,
    status INTEGER,
    clock_off_s INTEGER,
    contents TEXT NOT NULL
) STRICT;

CREATE INDEX mbus_telegrams_of_meter ON mbus_telegrams (meter, id);
CREATE INDEX mbus_telegrams_by_time ON mbus_telegrams (heard_ms);
