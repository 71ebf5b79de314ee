-- Keys, sealed under key-encryption keys that are not in the database. docs/how-to/collector/postgresql.md, "Keys in the database".

-- The networks that there are keys of. `revision` goes up with each change of their keys; who changes them holds this row. No command of the
-- network has had the number `below` or a higher one.
CREATE TABLE key_networks (
    network BIGINT PRIMARY KEY,
    revision BIGINT NOT NULL,
    below BIGINT NOT NULL
);

-- Meter 0 of a network is the collector there. `sealed`: nonce, ciphertext and tag of AES-256-GCM; meter, epoch and suite are authenticated.
CREATE TABLE sealed_keys (
    meter BIGINT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    suite SMALLINT NOT NULL,
    revision BIGINT NOT NULL,
    kek TEXT NOT NULL,
    sealed BYTEA NOT NULL
);

-- The last keys of meters that were revoked: nothing secret.
CREATE TABLE revoked_keys (
    meter BIGINT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    file TEXT NOT NULL
);

-- What meters may have been told by commands.
CREATE TABLE told (
    meter BIGINT PRIMARY KEY,
    told TEXT NOT NULL
);
