-- exists
SELECT DISTINCT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE k = S.b AND R.name = 'x')

-- in
SELECT DISTINCT S.a FROM S WHERE S.b IN (SELECT k FROM R)

-- in and not in
SELECT DISTINCT S.a FROM S WHERE S.b IN (SELECT k FROM R) AND S.b NOT IN (SELECT a FROM R WHERE k > 3)

-- greatest
SELECT S.a, T.c FROM S JOIN T ON S.a = T.c WHERE S.b > (SELECT max(k) FROM R)

-- average
SELECT DISTINCT S.a FROM S WHERE S.b * 2 > (SELECT avg(k) FROM R WHERE R.name = S.name)

-- shown
SELECT DISTINCT S.a, (SELECT max(k) FROM R WHERE R.a = S.b) AS m FROM S

-- semi
SELECT S.a FROM S LEFT SEMI JOIN R ON S.b = R.a JOIN T ON S.b = T.c

-- computed
SELECT DISTINCT S.a FROM S JOIN (SELECT name, count(*) AS n FROM R GROUP BY 1) q ON q.name = S.name

-- grouped
SELECT S.a, count(*) AS n FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.b) GROUP BY S.a
