-- Table of package job: documents at which workers died. path '' counts
-- deaths with no document to blame; mark then says how far the job had come.

CREATE TABLE blame (
	store  TEXT NOT NULL,
	path   TEXT NOT NULL,
	mark   INTEGER NOT NULL, -- of the document's state; another one starts the count anew
	deaths INTEGER NOT NULL,
	PRIMARY KEY (store, path)
) STRICT, WITHOUT ROWID;
