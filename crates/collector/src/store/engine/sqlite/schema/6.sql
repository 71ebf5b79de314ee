-- Images of meters' firmware, and how far each meter's is. docs/how-to/collector/storage.md, "What is stored".

CREATE TABLE images (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    target TEXT NOT NULL,
    version INTEGER NOT NULL,
    address INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    pieces INTEGER NOT NULL,
    "by" TEXT NOT NULL,
    added_ms INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

CREATE TABLE updates (
    meter INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    asked BLOB NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    refusal INTEGER,
    pieces INTEGER NOT NULL,
    of_pieces INTEGER NOT NULL,
    "by" TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL
) STRICT;
