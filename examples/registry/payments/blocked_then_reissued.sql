-- Cards that were blocked and reissued within a day.
SELECT b.customer_id, i.priority
FROM card_blocks AS b
JOIN card_reissues AS i ON i.customer_id = b.customer_id
WHERE i.ts BETWEEN b.ts AND b.ts + 86400;
