"""Validates JSON files against a JSON Schema of draft 2020-12: validate_sources.py SCHEMA FILE...

Prints a line for each file: "valid", or what is wrong first.
"""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        error = next(iter(validator.iter_errors(json.load(file))), None)
    print("valid" if error is None else "invalid: %s" % " ".join(str(error.message).split())[:200])
