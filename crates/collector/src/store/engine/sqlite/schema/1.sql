-- The first schema. docs/how-to/collector/storage.md, "What is stored".

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What seldom changes of a meter.
CREATE TABLE meters (
    meter INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    label TEXT NOT NULL,
    state TEXT NOT NULL,
    interval_s INTEGER NOT NULL,
    added_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;

CREATE TABLE meter_keys (
    meter INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    public_key BLOB NOT NULL CHECK (length(public_key) = 64),
    collector_public_key BLOB NOT NULL CHECK (length(collector_public_key) = 64),
    from_ms INTEGER NOT NULL,
    until_ms INTEGER,
    PRIMARY KEY (meter, epoch)
) STRICT, WITHOUT ROWID;

-- What changes with each report: one short row for each meter, so that a batch of many meters changes few pages. The rollups of the
-- quarter-hour, hour and day that a meter's readings are in now are here, and go to `rollups` when a later one begins.
CREATE TABLE latest (
    meter INTEGER PRIMARY KEY,
    last_n INTEGER NOT NULL,
    suite INTEGER NOT NULL,
    first_heard_ms INTEGER,
    last_heard_ms INTEGER,
    rssi_dbm INTEGER,
    reports INTEGER NOT NULL,
    repeats INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    lost_since_start INTEGER NOT NULL,
    register_dwh INTEGER,
    at_s INTEGER,
    power_w INTEGER,
    last_energy_dwh INTEGER,
    quarter_s INTEGER, quarter_readings INTEGER, quarter_used_dwh INTEGER,
    quarter_min_w INTEGER, quarter_max_w INTEGER, quarter_sum_w INTEGER,
    hour_s INTEGER, hour_readings INTEGER, hour_used_dwh INTEGER,
    hour_min_w INTEGER, hour_max_w INTEGER, hour_sum_w INTEGER,
    day_s INTEGER, day_readings INTEGER, day_used_dwh INTEGER,
    day_min_w INTEGER, day_max_w INTEGER, day_sum_w INTEGER
) STRICT;

CREATE TABLE readings (
    meter INTEGER NOT NULL,
    at_s INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    n INTEGER NOT NULL,
    power_w INTEGER NOT NULL,
    energy_dwh INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    rssi_dbm INTEGER,
    heard_ms INTEGER NOT NULL,
    PRIMARY KEY (meter, at_s, epoch, n)
) STRICT, WITHOUT ROWID;

-- Readings as they come. They go to `readings` many at once, sorted: else each would change a page of its own.
CREATE TABLE landing (
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
CREATE INDEX landing_by_time ON landing (meter, at_s);

CREATE TABLE rollups (
    meter INTEGER NOT NULL,
    level INTEGER NOT NULL,
    start_s INTEGER NOT NULL,
    readings INTEGER NOT NULL,
    used_dwh INTEGER NOT NULL,
    power_min_w INTEGER NOT NULL,
    power_max_w INTEGER NOT NULL,
    power_sum_w INTEGER NOT NULL,
    PRIMARY KEY (meter, level, start_s)
) STRICT, WITHOUT ROWID;

CREATE TABLE signed (
    id INTEGER PRIMARY KEY,
    meter INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at_s INTEGER NOT NULL,
    heard_ms INTEGER NOT NULL,
    message BLOB NOT NULL CHECK (length(message) = 144)
) STRICT;

CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    meter INTEGER,
    at_s INTEGER NOT NULL,
    heard_ms INTEGER NOT NULL,
    cause TEXT NOT NULL,
    detail TEXT NOT NULL,
    epoch INTEGER,
    n INTEGER,
    report BLOB,
    acknowledged_ms INTEGER,
    acknowledged_by TEXT
) STRICT;
CREATE INDEX alerts_of_meter ON alerts (meter, id);
CREATE INDEX alerts_open ON alerts (meter) WHERE acknowledged_ms IS NULL;
CREATE INDEX alerts_by_number ON alerts (meter, epoch, n) WHERE n IS NOT NULL;

CREATE TABLE commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    meter INTEGER NOT NULL,
    ticket INTEGER NOT NULL,
    "order" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    sent_ms INTEGER,
    ended_ms INTEGER,
    answer TEXT
) STRICT;
CREATE INDEX commands_of_meter ON commands (meter, id);
CREATE INDEX commands_open ON commands (meter) WHERE ended_ms IS NULL;

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER,
    revoked_ms INTEGER
) STRICT;

CREATE TABLE actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL
) STRICT;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    address INTEGER NOT NULL,
    name INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    suite INTEGER NOT NULL,
    low INTEGER NOT NULL,
    message BLOB NOT NULL,
    heard_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_of_meter ON outbox (name);
