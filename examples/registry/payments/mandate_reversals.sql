-- Reversals of a mandate that was given at any time before.
-- streambound: allow SB201, SB203 reason="legal wants every reversal with its mandate; the job is watched and restarted each Sunday"
SELECT r.customer_id, m.note
FROM reversals AS r
JOIN mandates AS m ON m.customer_id = r.customer_id
WHERE r.ts > m.ts;
