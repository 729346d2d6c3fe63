-- Nexmark 8, monitor new users: who registered and sold in the same 10 seconds?
SELECT P.id, P.name, P.starttime
FROM (
  SELECT id, name, window.start AS starttime, window.end AS endtime
  FROM person
  GROUP BY id, name, window(dateTime, '10 seconds')
) AS P
JOIN (
  SELECT seller, window.start AS starttime, window.end AS endtime
  FROM auction
  GROUP BY seller, window(dateTime, '10 seconds')
) AS A ON P.id = A.seller AND P.starttime = A.starttime AND P.endtime = A.endtime
