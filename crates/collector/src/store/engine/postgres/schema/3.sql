-- Several services write one database, each the meters of those partitions whose leases it has.

-- Whether those who write are several (true), each of whom holds the advisory lock as one of many, or one, who holds it alone.
ALTER TABLE writer ADD COLUMN shared BOOLEAN NOT NULL DEFAULT false;

-- Who has a partition, which is one of `slices` slices of a network: the number of the lease, and what serves that writer's connection. A
-- transaction under a lower number finds no row, and stores nothing.
CREATE TABLE partitions (
    network BIGINT NOT NULL,
    slices SMALLINT NOT NULL,
    slice SMALLINT NOT NULL,
    fence BIGINT NOT NULL,
    holder TEXT NOT NULL,
    backend BIGINT NOT NULL,
    backend_began TEXT NOT NULL,
    PRIMARY KEY (network, slices, slice)
);
