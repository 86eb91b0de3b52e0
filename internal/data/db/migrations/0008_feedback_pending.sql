-- What somebody says who has not shown the token waits until the owner has
-- looked at it, and counts for nothing until then.

ALTER TABLE feedback ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;

CREATE INDEX feedback_pending ON feedback (id) WHERE pending = 1;
