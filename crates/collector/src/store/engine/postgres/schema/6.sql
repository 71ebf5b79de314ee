-- Images of meters' firmware, and how far each meter's is. docs/how-to/collector/storage.md, "What is stored".

CREATE TABLE images (
    digest BYTEA PRIMARY KEY CHECK (length(digest) = 32),
    target TEXT NOT NULL,
    version BIGINT NOT NULL,
    address BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    pieces INTEGER NOT NULL,
    "by" TEXT NOT NULL,
    added_ms BIGINT NOT NULL,
    content BYTEA NOT NULL
);

CREATE TABLE updates (
    meter BIGINT PRIMARY KEY,
    digest BYTEA NOT NULL,
    asked BYTEA NOT NULL,
    version BIGINT NOT NULL,
    state TEXT NOT NULL,
    refusal SMALLINT,
    pieces INTEGER NOT NULL,
    of_pieces INTEGER NOT NULL,
    "by" TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL
);
