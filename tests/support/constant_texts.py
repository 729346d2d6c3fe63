"""Constants as people write them, from a table and at random: what Spark 4 takes, and what it refuses."""

from random import Random

NUMBERS = """
0 1 7 -1 127 128 -128 -129 32768 2147483647 2147483648 -2147483648 9007199254740992 9007199254740993
9223372036854775807 9223372036854775808 -9223372036854775808 99999999999999999999999999999999999999
999999999999999999999999999999999999999 0.1 .5 5. 0.10 1.239 1.24 -1.235 2.5 0.05 1.50 0.1234567890123456789012345678901
0.12345678901234567890123456789012345678 99999999999999999999.5 1e2 1E-2 1e400 1e-400 -1e400 1e300 1e15 1e16 1.24e0
1e2BD 1e-2BD 1.5BD 1e40BD 128Y -128Y -129Y 7Y -(128Y) 32768S -32768S 7S 9223372036854775808L -9223372036854775808L 7L
0.1F .5F 1.24F 16777217F 1e39F 3.4028235e38F 1e-46F 0.1D 1.24D 1e308D 1.8e308D 1.0Y .1S 1.5L -0.0 -0D -0F
9007199254740992D 9007199254740991D 2147483647.5D 4.35D 1.005D
""".strip()
EXPRESSIONS = """
1 + 1
2147483647 + 1
2147483647L + 1
2147483647 * 2
9223372036854775807 + 1
127Y + 1Y
127Y + 1
-(-2147483648)
-(-128Y)
1.5 + 1
1.5 * 1.5
1.5 - 0.25
0.1D + 0.2D
0.1F + 0.2F
0.1F + 1
0.1F + 0.1
0.1F * 2
0.1 * 2D
1e308 * 10
3e38F * 10F
1 + NULL
NULL
-NULL
1 + '1'
'1' + '1'
-'1'
1/2
1/0
5 % 3
5 DIV 2
X'1F'
99999999999999999999999999999999999999 + 1
0.00000000000000000001 * 0.00000000000000000001
TRUE
FALSE
'7'
'7.5'
' 7 '
'1e2'
'x'
''
'true'
'T'
'no'
'2024-01-02'
'2024-01-02 12:00:00'
'2024-01-02 02:00:00+02:00'
'1.24'
'0.1'
'a'
'a '
'B'
CAST(1.239 AS DECIMAL(9,2))
CAST(1.235 AS DECIMAL(9,2))
CAST(-1.235 AS DECIMAL(9,2))
CAST(1.235D AS DECIMAL(9,2))
CAST(1.5D AS DECIMAL(9,2))
CAST(1.5 AS DECIMAL)
CAST(2.5 AS DECIMAL)
CAST(12345678901 AS DECIMAL)
CAST(9999999999.5 AS DECIMAL)
CAST(1.5 AS DECIMAL(39,1))
CAST(1.5 AS DECIMAL(3,4))
CAST(1 AS DECIMAL(38,0))
CAST(1.5 AS DECIMAL(38,37))
CAST(1e23 AS DECIMAL(38,0))
CAST('1.239' AS DECIMAL(9,2))
CAST('1e2' AS DECIMAL(9,2))
CAST('1e400' AS DECIMAL(9,2))
CAST('1,000' AS DECIMAL(9,2))
CAST(TRUE AS DECIMAL(9,2))
CAST(TRUE AS DECIMAL(1,1))
CAST(0.1 AS FLOAT)
CAST(0.1 AS DOUBLE)
CAST(0.1D AS FLOAT)
CAST(0.1F AS DOUBLE)
CAST(16777217 AS FLOAT)
CAST(1e39 AS FLOAT)
CAST(9007199254740993 AS DOUBLE)
CAST(9007199254740993 AS FLOAT)
CAST(1.00000005960464477539062500000001 AS FLOAT)
CAST('1.00000017881393432617187499' AS FLOAT)
CAST('1.5d' AS DOUBLE)
CAST('1.5L' AS DOUBLE)
CAST('0x1p3' AS DOUBLE)
TRY_CAST('0x1p3' AS DOUBLE)
CAST(' 1.5 ' AS DOUBLE)
CAST('NaN' AS DOUBLE)
CAST('-inf' AS FLOAT)
CAST('1e400' AS DOUBLE)
CAST(1.9 AS INT)
CAST(-1.9D AS INT)
CAST(2147483648 AS INT)
CAST(2147483647.9D AS INT)
CAST(9223372036854775808D AS BIGINT)
CAST(300 AS TINYINT)
TRY_CAST(300 AS TINYINT)
TRY_CAST('x' AS INT)
TRY_CAST('abc' AS DATE)
TRY_CAST('2024-01-02 03' AS TIMESTAMP)
TRY_CAST(DATE '2024-01-01' AS INT)
TRY_CAST(TRY_CAST(300 AS TINYINT) AS INT)
TRY_CAST(123456 AS DECIMAL(4,0))
CAST(NULL AS INT)
CAST(NULL AS STRING)
CAST(NULL AS DATE)
CAST('1e2' AS INT)
CAST('1_000' AS INT)
CAST(' 7 ' AS INT)
CAST('+7' AS INT)
CAST('7.' AS INT)
CAST('\u0667' AS INT)
CAST('\u0667' AS DECIMAL(9,2))
CAST('300' AS TINYINT)
CAST('t' AS BOOLEAN)
CAST('on' AS BOOLEAN)
CAST(2 AS BOOLEAN)
CAST(0.0 AS BOOLEAN)
CAST(7 AS STRING)
CAST(1.50 AS STRING)
CAST(TRUE AS STRING)
CAST(1e7 AS STRING)
CAST(DATE '2024-01-02' AS STRING)
CAST('abc' AS VARCHAR(2))
CAST(-128 AS TINYINT)
CAST(CAST('7' AS INT) AS DECIMAL(9,2))
INT('7')
INT '7'
int(5.5)
FLOAT(0.1)
'7'::INT
7::DECIMAL(9,2)
DATE '2024-W01-2'
DATE '20240102'
DATE '2024-1-2'
DATE '2024'
DATE '2024-01'
DATE ' 2024-01-02 '
DATE '2024-01-02 12:00:00'
DATE '2024-01-02x'
DATE 'epoch'
DATE '10000-01-01'
DATE '-0001-01-01'
DATE '0000-02-29'
DATE '2024-02-30'
DATE '5881580-07-12'
CAST('epoch' AS DATE)
DATE('2024-01-02')
DATE '2024-01-01' + 1
1 + DATE '2024-01-01'
DATE '2024-01-01' + 1L
DATE '2024-01-01' + 1.0
DATE '2024-01-01' + INTERVAL 1 DAY
DATE '2024-01-01' + INTERVAL 24 HOURS
DATE '2024-01-01' + INTERVAL 36 HOURS
DATE '2024-01-02' - DATE '2024-01-01'
CAST(TIMESTAMP '1969-12-31 23:59:59.5' AS DATE)
CAST(DATE '2024-01-02' AS TIMESTAMP)
TIMESTAMP '2024-01-02'
TIMESTAMP '2024'
TIMESTAMP '2024-01-02 12:00'
TIMESTAMP '2024-01-02 12'
TIMESTAMP '2024-01-02 02:00:00+02:00'
TIMESTAMP '2024-01-02 02:00:00 Europe/Berlin'
TIMESTAMP '2024-01-02T02:00:00Z'
TIMESTAMP '2024-01-02 00:00:00 PST'
TIMESTAMP '2024-01-02 00:00:00+19:00'
TIMESTAMP '2024-01-02 24:00:00'
TIMESTAMP '20240102T000000'
TIMESTAMP '10000-01-01 00:00:00'
TIMESTAMP '294248-01-10 04:00:54'
TIMESTAMP '2024-01-02 00:00:00.1234567'
TIMESTAMP_NTZ '2024-01-02 00:00:00+02:00'
TIMESTAMP_NTZ '2024-01-02 00:00:00+99:00'
TIMESTAMP_LTZ '2024-01-02 00:00:00+02:00'
CAST('2024-01-02 00:00:00+02:00' AS TIMESTAMP_NTZ)
CAST(5 AS TIMESTAMP)
TIMESTAMP '2024-01-01' + INTERVAL 1 DAY
TIMESTAMP '2024-01-01' + 1
TIMESTAMP '2024-01-02' - DATE '2024-01-01'
INTERVAL 1 DAY
INTERVAL 36 HOURS
""".strip().splitlines()
CONSTANTS = [*NUMBERS.split(), *EXPRESSIONS]
INTERVALS = """
INTERVAL 5 MINUTES
INTERVAL '5' MINUTE
INTERVAL 1.5 HOURS
INTERVAL '1.5' SECOND
INTERVAL '0.0000019' SECOND
INTERVAL 1.5 MILLISECONDS
INTERVAL -5 MINUTES
-INTERVAL 5 MINUTES
INTERVAL '-5' MINUTE
INTERVAL ' 5 ' MINUTE
INTERVAL '1e2' MINUTE
INTERVAL '1_0' MINUTE
INTERVAL 5L MINUTES
INTERVAL 106751991 DAYS
INTERVAL 106751992 DAYS
INTERVAL 1 WEEK
INTERVAL 999999999999 DAYS
INTERVAL 1 MONTH
INTERVAL '1 2' DAY TO HOUR
INTERVAL 24 HOURS
INTERVAL 2 DAYS
""".strip().splitlines()
TYPES = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DECIMAL(9,2)", "DECIMAL(20,4)",
    "DECIMAL(38,18)", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ",
)  # fmt: skip
OPERATORS = ("<", "<=", "=", ">=", ">", "<>")


def random_constant(dice: Random, depth: int = 2) -> str:
    """A constant of a few operations, mostly near the values that columns have."""
    choice = dice.random()
    if depth and choice < 0.3:
        cast = dice.choice(["CAST", "CAST", "CAST", "TRY_CAST"])
        return f"{cast}({random_constant(dice, depth - 1)} AS {dice.choice(TYPES)})"
    if depth and choice < 0.45:
        left, right = random_constant(dice, depth - 1), random_constant(dice, depth - 1)
        return f"({left} {dice.choice('+-*')} {right})"
    if depth and choice < 0.5:
        return f"-({random_constant(dice, depth - 1)})"
    if choice < 0.6:
        return (
            "'"
            + dice.choice([_number(dice), _day(dice), _moment(dice), dice.choice(["t", "false", "7 ", "a", ""])])
            + "'"
        )
    if choice < 0.65:
        return f"DATE '{_day(dice)}'"
    if choice < 0.7:
        return f"{dice.choice(['TIMESTAMP', 'TIMESTAMP_NTZ'])} '{_moment(dice)}'"
    if choice < 0.73:
        return dice.choice(INTERVALS)
    if choice < 0.76:
        return dice.choice(["NULL", "TRUE", "FALSE"])
    return _number(dice) + dice.choice(["", "", "", "L", "S", "Y", "F", "D", "BD"])


def _number(dice: Random) -> str:
    sign = dice.choice(["", "", "-"])
    shape = dice.random()
    if shape < 0.4:
        return sign + str(
            dice.choice([dice.randrange(10), dice.randrange(300), dice.randrange(2**32), dice.randrange(2**64)])
        )
    if shape < 0.85:
        digits = str(dice.randrange(10 ** dice.randrange(1, dice.choice([3, 5, 20, 38]))))
        return f"{sign}{dice.choice(['0', '1', '12', '', '4'])}.{digits}"
    return f"{sign}{dice.choice(['1', '1.24', '0.1', '5.', '12.5'])}{dice.choice('eE')}{dice.randrange(-4, 5)}"


def _day(dice: Random) -> str:
    year = dice.choice(["2024", "2024", "1969", "0001", "9999", "10000", "-0044", "24"])
    month, day = dice.choice(["01", "1", "12", "02", "13"]), dice.choice(["01", "2", "29", "30", "31", "32"])
    return dice.choice(
        [year, f"{year}-{month}", f"{year}-{month}-{day}", f"{year}-{month}-{day}", f" {year}-{month}-{day} x"]
    )


def _moment(dice: Random) -> str:
    clock = dice.choice(["00:00:00", "12:34:56.789", "1:2:3", "23:59:59.9999999", "24:00:00", "12:30", "00:00:60"])
    zone = dice.choice(
        ["", "", "", "+02:00", "Z", " UTC", "-08", " Europe/Berlin", "+5:30", "+20:00", " America/New_York"]
    )
    return f"{_day(dice)}{dice.choice([' ', ' ', 'T'])}{clock}{zone}"
