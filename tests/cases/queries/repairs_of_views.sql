-- a view of one stream
CREATE VIEW v AS SELECT customer, level, ts FROM alerts; SELECT orders.customer, v.level FROM orders JOIN v ON v.customer = orders.customer AND v.ts < orders.ts

-- a view of the join
CREATE VIEW j AS SELECT orders.customer, level FROM orders JOIN alerts ON alerts.customer = orders.customer AND alerts.ts < orders.ts; SELECT customer, level FROM j

-- a view with names of its own
CREATE VIEW v (who, how, t) AS SELECT customer, level, ts FROM alerts; SELECT orders.customer, v.how AS level FROM orders JOIN v ON v.who = orders.customer AND v.t < orders.ts

-- a view of a view
CREATE VIEW w AS SELECT customer, level, ts FROM alerts; CREATE VIEW v AS SELECT level, ts, customer FROM w; SELECT orders.customer, v.level FROM orders JOIN v ON v.customer = orders.customer AND v.ts < orders.ts

-- a view with a WITH in it, between others
CREATE VIEW other AS SELECT customer, level, ts FROM alerts; CREATE VIEW v AS WITH a AS (SELECT customer, level, ts FROM alerts) SELECT * FROM a; SELECT 1 AS one FROM other; SELECT orders.customer, v.level FROM orders JOIN v ON v.customer = orders.customer AND v.ts < orders.ts

-- a WITH that names its columns
WITH v (who, how, t) AS (SELECT customer, level, ts FROM alerts) SELECT orders.customer, v.how AS level FROM orders JOIN v ON v.who = orders.customer AND v.t < orders.ts

-- a subquery that names its columns
SELECT orders.customer, v.how AS level FROM orders JOIN (SELECT customer, level, ts FROM alerts) AS v (who, how, t) ON v.who = orders.customer AND v.t < orders.ts

-- a WITH that is called as its table
WITH alerts AS (SELECT customer, level, ts FROM alerts) SELECT orders.customer, alerts.level FROM orders JOIN alerts ON alerts.customer = orders.customer AND alerts.ts < orders.ts

-- a subquery in a WITH
WITH v AS (SELECT customer, level, ts FROM (SELECT * FROM alerts) AS inside) SELECT orders.customer, v.level FROM orders JOIN v ON v.customer = orders.customer AND v.ts < orders.ts
