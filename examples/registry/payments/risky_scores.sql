-- Authorizations after a fraud score of the same currency that was at least as high as theirs.
SELECT DISTINCT s.currency_number, s.priority
FROM authorizations AS a
JOIN fraud_scores AS s ON a.currency_number = s.currency_number
WHERE a.ts > s.ts AND s.priority >= a.priority;
