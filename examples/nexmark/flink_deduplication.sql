-- Flink's deduplication: the first row of each person.
SELECT id, name, emailAddress
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY dateTime ASC) AS row_num
  FROM person
)
WHERE row_num = 1
