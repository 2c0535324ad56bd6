-- What was given out last; zero for nothing. Answers (fence, version).
SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM fences),
       (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM versions)
