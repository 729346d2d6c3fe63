-- A filter.
SELECT device_id, reading FROM pressures WHERE reading NOT BETWEEN 200 AND 3800;
