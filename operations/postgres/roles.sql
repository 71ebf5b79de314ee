-- The user of the role api (docs/how-to/operations.md, "Users of PostgreSQL"): it reads what the dashboard shows, and changes what people change. It
-- reads no key and no signed message, and writes no reading, no key, no lease and no command.
--
-- For psql, in WattSeal's database, as a superuser, or as the owner of its tables with CREATEROLE. Run it after the first worker has made the
-- tables, and after each version that brings them up to date.

\set ON_ERROR_STOP on
BEGIN;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'wattseal_api') THEN
        CREATE ROLE wattseal_api LOGIN;
    END IF;
END
$$;

-- What an earlier version granted goes.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM wattseal_api;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

GRANT SELECT ON wattseal_schema, meta, meters, latest, readings, rollups, used_by_time, alerts, commands, tokens, actions, images, updates
    TO wattseal_api;
GRANT UPDATE (label) ON meters TO wattseal_api;
GRANT UPDATE (acknowledged_ms, acknowledged_by) ON alerts TO wattseal_api;
GRANT INSERT (name, role, hash, created_ms), UPDATE (last_used_ms, revoked_ms) ON tokens TO wattseal_api;
GRANT INSERT (at_ms, who, what) ON actions TO wattseal_api;
GRANT INSERT, DELETE ON images TO wattseal_api;

-- Whoever changes something holds this row, so that nobody moves the database away meanwhile. PostgreSQL asks for the right to change a row of
-- those who hold it; the policy takes the change itself. The tables' owner is above policies.
GRANT UPDATE (version) ON wattseal_schema TO wattseal_api;
ALTER TABLE wattseal_schema ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS is_read ON wattseal_schema;
CREATE POLICY is_read ON wattseal_schema FOR SELECT USING (true);
DROP POLICY IF EXISTS is_held ON wattseal_schema;
CREATE POLICY is_held ON wattseal_schema FOR UPDATE USING (true) WITH CHECK (false);

COMMIT;
