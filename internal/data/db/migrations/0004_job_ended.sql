-- The history of jobs is bounded by when they ended: by submission, a long one
-- would be forgotten before those who wait for it have seen how it went.

ALTER TABLE jobs ADD COLUMN ended INTEGER NOT NULL DEFAULT 0; -- counts up; 0: not yet, or before this column
