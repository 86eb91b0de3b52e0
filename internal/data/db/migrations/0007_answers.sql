-- Table of package catalog: stores that questions from outside may be answered
-- from. Nothing is unless a person said so.

CREATE TABLE public (
	store TEXT PRIMARY KEY REFERENCES stores(id) ON DELETE CASCADE,
	since INTEGER NOT NULL -- microseconds since 1970
) STRICT, WITHOUT ROWID;

-- Table of package feedback: what people thought of answers.

CREATE TABLE feedback (
	id       INTEGER PRIMARY KEY,
	created  INTEGER NOT NULL, -- microseconds since 1970
	query    TEXT NOT NULL,
	response TEXT NOT NULL DEFAULT '',
	rating   INTEGER NOT NULL, -- 1 or -1
	confidence REAL, -- in [0,1], null when it was not said
	session  TEXT NOT NULL DEFAULT '',
	comment  TEXT NOT NULL DEFAULT '',
	extra    TEXT NOT NULL DEFAULT '{}', -- JSON: what else was sent (expected_answer, metadata, tenant_id, agent_id)
	sources  TEXT NOT NULL DEFAULT '[]', -- JSON: [{store, id, at}] that the answer cited
	reviewed INTEGER NOT NULL DEFAULT 0,
	action   TEXT NOT NULL DEFAULT '' -- what was done about it
) STRICT;

CREATE INDEX feedback_rating ON feedback (rating, id);
