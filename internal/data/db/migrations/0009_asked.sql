-- Table of package feedback: the questions that were asked, where the user has
-- them kept, each once with how it was answered last.

CREATE TABLE asked (
	question TEXT PRIMARY KEY, -- with credentials masked
	first    INTEGER NOT NULL, -- microseconds since 1970
	last     INTEGER NOT NULL,
	times    INTEGER NOT NULL,
	answered INTEGER NOT NULL, -- 1 when something was answered
	confidence REAL NOT NULL,
	sources  TEXT NOT NULL, -- JSON: [{store, id, at}] that the answer cited
	stores   TEXT NOT NULL, -- JSON: names of the stores that were asked, [] for those in scope
	indexes  TEXT NOT NULL  -- names the generations that were asked
) STRICT, WITHOUT ROWID;

CREATE INDEX asked_last ON asked (last);
