-- Table of package catalog: how a project came by its names: from its own
-- definitions, so that one that is defined no more is known for an orphan, or by
-- following the version that a lockfile holds.

CREATE TABLE defined (
	project TEXT NOT NULL,
	name    TEXT NOT NULL,
	store   TEXT NOT NULL, -- what the name meant when it was defined
	by_file INTEGER NOT NULL DEFAULT 0, -- 1: the definitions name it
	follows TEXT NOT NULL DEFAULT '', -- the dependency whose locked version it follows, "npm:react"
	PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;
