-- Searches without much to show.
SELECT visitor_id, score FROM searches WHERE score < 10 AND device <> 'desktop';
