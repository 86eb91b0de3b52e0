-- Tables of package catalog. Times are microseconds since 1970, UTC.

CREATE TABLE stores (
	id         TEXT PRIMARY KEY, -- kb.Spec.ID of spec
	spec       TEXT NOT NULL,    -- JSON of kb.Spec
	created    INTEGER NOT NULL,
	generation INTEGER NOT NULL DEFAULT 0, -- of head; 0 before the first
	head       TEXT,                       -- JSON of kb.Head
	sum        INTEGER NOT NULL,           -- CRC-32C of spec, a zero byte and head (nothing if NULL)
	last_error TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- What a name means to a project; project '' is the user.
CREATE TABLE names (
	project     TEXT NOT NULL,
	name        TEXT NOT NULL,
	store       TEXT NOT NULL REFERENCES stores (id) ON DELETE CASCADE,
	description TEXT NOT NULL DEFAULT '',
	tags        TEXT NOT NULL DEFAULT '[]', -- JSON array of strings
	created     INTEGER NOT NULL,
	PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX names_store ON names (store);

-- The unlisted store of each work tree.
CREATE TABLE own (
	root    TEXT PRIMARY KEY,
	project TEXT NOT NULL,
	store   TEXT NOT NULL REFERENCES stores (id) ON DELETE CASCADE,
	created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX own_store ON own (store);

-- Where a project was last seen, to name it to a reader.
CREATE TABLE projects (
	id   TEXT PRIMARY KEY,
	dir  TEXT NOT NULL,
	seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The files that live heads need: segments and manifests.
CREATE TABLE store_segments (
	store   TEXT NOT NULL REFERENCES stores (id) ON DELETE CASCADE,
	segment TEXT NOT NULL,
	PRIMARY KEY (store, segment)
) STRICT, WITHOUT ROWID;
CREATE INDEX store_segments_segment ON store_segments (segment);

-- The files that jobs need before a head names them.
CREATE TABLE segment_uses (
	job     TEXT NOT NULL,
	segment TEXT NOT NULL,
	created INTEGER NOT NULL,
	PRIMARY KEY (job, segment)
) STRICT, WITHOUT ROWID;
CREATE INDEX segment_uses_segment ON segment_uses (segment);

-- The project files that a person vouched for.
CREATE TABLE trust (
	path    TEXT PRIMARY KEY,
	hash    TEXT NOT NULL,
	created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
