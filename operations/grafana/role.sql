-- Who reads what operations/grafana/wattseal.json asks for, and nothing else: no keys, tokens, messages, commands, and no table that a later
-- version adds. For psql, as a user with CREATEROLE who owns the tables, in WattSeal's database, after the first start of the collector.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'wattseal_grafana') THEN
        CREATE ROLE wattseal_grafana LOGIN CONNECTION LIMIT 10;
    END IF;
END
$$;
ALTER ROLE wattseal_grafana SET default_transaction_read_only = on;
-- What takes long keeps versions of rows that the collector has replaced (docs/how-to/collector/postgresql.md, "PostgreSQL").
ALTER ROLE wattseal_grafana SET statement_timeout = '20s';

GRANT SELECT ON latest, readings, rollups TO wattseal_grafana;
GRANT SELECT (meter, label, interval_s, revoked_ms) ON meters TO wattseal_grafana;
GRANT SELECT (id, meter, at_s, cause, detail, acknowledged_ms) ON alerts TO wattseal_grafana;
GRANT SELECT (network, slices, slice, fence, holder) ON partitions TO wattseal_grafana;
