"""Functions of one row that Spark 4 has and of whose results nothing is known here: they can be conditions.

What `SHOW FUNCTIONS` lists, less the registry, aggregates and what is refused.
"""

from __future__ import annotations

OTHER_FUNCTIONS = frozenset({
    "acosh", "aes_decrypt", "aes_encrypt", "aggregate", "approx_top_k_estimate", "array",
    "array_append", "array_compact", "array_except", "array_insert", "array_intersect", "array_prepend",
    "array_remove", "array_repeat", "array_size", "array_union", "arrays_overlap", "arrays_zip", "asinh", "atanh",
    "bit_get", "bitmap_bit_position", "bitmap_bucket_number", "bitmap_count", "collate", "collation",
    "convert_timezone", "cot", "csc", "date_part", "datepart", "decode", "e", "elt", "encode", "filter", "flatten",
    "forall", "from_avro", "from_base32", "from_csv", "from_json", "from_protobuf", "from_xml", "getbit",
    "hll_sketch_estimate", "hll_union", "hmac", "hypot", "is_valid_utf8", "is_valid_variant", "is_variant_null",
    "jaro_winkler_similarity", "json_array_length", "json_object_keys", "kll_sketch_get_n_bigint",
    "kll_sketch_get_n_double", "kll_sketch_get_n_float", "kll_sketch_get_quantile_bigint",
    "kll_sketch_get_quantile_double", "kll_sketch_get_quantile_float", "kll_sketch_get_rank_bigint",
    "kll_sketch_get_rank_double", "kll_sketch_get_rank_float", "kll_sketch_merge_bigint", "kll_sketch_merge_double",
    "kll_sketch_merge_float", "kll_sketch_to_string_bigint", "kll_sketch_to_string_double",
    "kll_sketch_to_string_float", "luhn_check", "make_dt_interval", "make_interval", "make_time",
    "make_timestamp_ltz", "make_timestamp_ntz", "make_valid_utf8", "make_ym_interval", "map", "map_concat",
    "map_entries", "map_filter", "map_from_arrays", "map_from_entries", "map_keys", "map_values", "map_zip_with",
    "nanvl", "nullifzero", "parse_json", "pi", "reduce", "regexp_extract_all",
    "rint", "schema_of_avro", "schema_of_csv", "schema_of_json", "schema_of_variant", "schema_of_xml", "sec",
    "sentences", "sequence", "shiftleft", "shiftright", "shiftrightunsigned", "slice", "st_asbinary",
    "st_geogfromwkb", "st_geomfromwkb", "st_setsrid", "st_srid", "str_to_map", "struct", "theta_difference",
    "theta_intersection", "theta_sketch_estimate", "theta_union", "time", "time_bucket", "time_diff",
    "time_from_micros", "time_from_millis", "time_from_seconds", "time_to_micros", "time_to_millis",
    "time_to_seconds", "time_trunc", "timestamp_nanos", "to_avro", "to_base32", "to_binary", "to_char", "to_csv",
    "to_number", "to_protobuf", "to_time", "to_timestamp_ltz", "to_timestamp_ntz", "to_varchar",
    "to_variant_object", "to_xml", "transform", "transform_keys", "transform_values", "try_aes_decrypt",
    "try_make_interval", "try_make_timestamp", "try_make_timestamp_ltz", "try_make_timestamp_ntz", "try_mod",
    "try_parse_json", "try_parse_url", "try_to_binary", "try_to_date", "try_to_number", "try_to_time",
    "try_to_timestamp", "try_url_decode", "try_validate_utf8", "try_variant_array_append", "try_variant_get",
    "try_variant_insert", "try_variant_set", "tuple_difference_double", "tuple_difference_integer",
    "tuple_difference_theta_double", "tuple_difference_theta_integer", "tuple_intersection_double",
    "tuple_intersection_integer", "tuple_intersection_theta_double", "tuple_intersection_theta_integer",
    "tuple_sketch_estimate_double", "tuple_sketch_estimate_integer", "tuple_sketch_summary_double",
    "tuple_sketch_summary_integer", "tuple_sketch_theta_double", "tuple_sketch_theta_integer", "tuple_union_double",
    "tuple_union_integer", "tuple_union_theta_double", "tuple_union_theta_integer", "unbase64", "unhex",
    "unix_nanos", "validate_utf8", "variant_array_append", "variant_delete", "variant_get", "variant_insert",
    "variant_set", "variant_strip_nulls", "vector_cosine_similarity", "vector_inner_product", "vector_l2_distance",
    "vector_norm", "vector_normalize", "xpath", "xpath_boolean", "xpath_double", "xpath_float", "xpath_int",
    "xpath_long", "xpath_number", "xpath_short", "xpath_string", "zeroifnull", "zip_with",
})  # fmt: skip
"""Their names."""
