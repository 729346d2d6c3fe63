-- Disputes that arrive after the money left: per priority, how often.
SELECT d.merchant_id, o.priority
FROM disputes AS d, payouts AS o
WHERE d.ts > o.ts AND d.method = o.method AND o.priority <= 2;
