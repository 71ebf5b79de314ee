-- The energy since each meter's first start. A database of before has the sums of days, which begin with the first reading that was
-- counted, and what the register says: the greater of the two. docs/how-to/collector/storage.md, "Energy since the first start".

ALTER TABLE latest ADD COLUMN total_dwh INTEGER;
UPDATE latest SET total_dwh = max(
    coalesce(register_dwh, 0),
    last_energy_dwh,
    CASE WHEN day_s IS NULL THEN 0 ELSE day_used_dwh END + coalesce(
        (SELECT sum(used_dwh) FROM rollups WHERE rollups.meter = latest.meter AND level = 86400), 0
    )
) WHERE at_s IS NOT NULL;

-- The audit compares totals with messages, and does not where a total may lack what came before.
INSERT INTO meta (key, value) SELECT 'totals_from_days', '1' FROM latest WHERE total_dwh IS NOT NULL LIMIT 1;
