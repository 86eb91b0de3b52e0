-- Table of package schedule: when stores are brought up to date by themselves.

CREATE TABLE schedules (
	store TEXT PRIMARY KEY,
	cron  TEXT NOT NULL,              -- as it was written: five fields, or @daily and the like
	since INTEGER NOT NULL,           -- Unix seconds; the next run is the first time of cron after it
	ran   INTEGER NOT NULL DEFAULT 0, -- Unix seconds of the last run, 0 for none
	job   TEXT NOT NULL DEFAULT '',   -- of the last run
	note  TEXT NOT NULL DEFAULT '',   -- why the last run has no job
	by    TEXT NOT NULL DEFAULT ''    -- project whose definitions set it; '' when somebody did
) STRICT, WITHOUT ROWID;
