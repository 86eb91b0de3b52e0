-- Users of the shop.
CREATE TABLE IF NOT EXISTS shop.users (
  id int,
  name text
);

create unique index users_name on users (name);

CREATE OR REPLACE FUNCTION add(a int) RETURNS int AS $$
BEGIN
  RETURN a;
END;
$$ LANGUAGE plpgsql;
