-- Table of package job. Times are microseconds since 1970, UTC.

CREATE TABLE jobs (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT, -- order of submission
	id       TEXT NOT NULL UNIQUE,
	type     TEXT NOT NULL,
	store    TEXT NOT NULL DEFAULT '',
	class    TEXT NOT NULL,               -- which slots it runs in
	args     TEXT NOT NULL DEFAULT '{}',  -- JSON object
	again    TEXT,                        -- arguments of the pass to make after this one; NULL: none
	needs    TEXT NOT NULL DEFAULT '[]',  -- environment variables, JSON array
	state    TEXT NOT NULL,
	cancel   INTEGER NOT NULL DEFAULT 0,  -- 1: somebody asked it to stop
	progress TEXT NOT NULL DEFAULT '{}',  -- JSON of kb.Progress
	code     TEXT NOT NULL DEFAULT '',    -- kb.Code of a failure
	message  TEXT NOT NULL DEFAULT '',
	hint     TEXT NOT NULL DEFAULT '',
	details  TEXT NOT NULL DEFAULT '{}',  -- JSON object
	runs     INTEGER NOT NULL DEFAULT 0,  -- how often a process began to run it
	deaths   INTEGER NOT NULL DEFAULT 0,  -- how often one died doing so
	pid      INTEGER NOT NULL DEFAULT 0,  -- of the process that ran it last
	created  INTEGER NOT NULL,
	updated  INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_state ON jobs (state);
CREATE INDEX jobs_store ON jobs (store, type);
