-- A partition is a slice of a network; a part of `readings` is a week.
ALTER TABLE reading_partitions RENAME TO reading_weeks;
