-- [streams.bid]
-- timestamp = "ts"
-- columns = { auction = "bigint", price = "bigint", kind = "string", ts = "timestamp" }
-- punctuations = [{ attributes = ["auction"], column = "kind", value = "closed", max_open = 500 }]
-- [streams.view]
-- timestamp = "ts"
-- columns = { id = "bigint", ts = "timestamp" }

-- Keys that end.
--

-- groups go with their key
SELECT auction, COUNT(*) FROM bid GROUP BY auction
-- 1500

-- different values, too
SELECT DISTINCT auction FROM bid
-- 1500

-- first rows of each key
SELECT price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS r FROM bid) q WHERE r <= 3
-- 2500

-- values of a key have no end
SELECT auction, COUNT(DISTINCT price) FROM bid GROUP BY auction
-- unbounded

-- rows of another stream may still come
SELECT auction, COUNT(*) FROM bid JOIN view ON bid.auction = view.id GROUP BY auction
-- unbounded

-- a row waits for partners, whether or not its key has ended
SELECT bid.auction FROM bid LEFT JOIN view ON bid.auction = view.id
-- unbounded
