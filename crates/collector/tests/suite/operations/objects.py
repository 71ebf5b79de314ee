"""Reads files of Kubernetes as its Python client has the objects (Debian's python3-kubernetes), where nothing may be that those do not have:
python3 objects.py FILE.. Writes all objects as one JSON list; or says what is wrong where, with exit code 1.
"""

import json
import re
import sys

import kubernetes.client.models as models
import yaml

PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float), "object": object}


def check(value, kind, path):
    """Whether a value is of a kind, as `list[V1Container]`; yields what is not."""
    inner = re.fullmatch(r"list\[(.+)\]", kind)
    if inner:
        if not isinstance(value, list):
            yield f"{path} is no list"
            return
        for place, item in enumerate(value):
            yield from check(item, inner[1], f"{path}[{place}]")
        return
    inner = re.fullmatch(r"dict\(str, (.+)\)", kind)
    if inner:
        if not isinstance(value, dict):
            yield f"{path} is no mapping"
            return
        for key, item in value.items():
            yield from check(item, inner[1], f"{path}.{key}")
        return
    if kind in PLAIN:
        # A quantity, or a port, is a text or a number.
        if not isinstance(value, PLAIN[kind]) or (kind == "int" and isinstance(value, bool)):
            yield f"{path} is {value!r}, and should be {kind}"
        return
    model = getattr(models, kind)
    if not isinstance(value, dict):
        yield f"{path} is no mapping"
        return
    names = {name: field for field, name in model.attribute_map.items()}
    for key, item in value.items():
        if key not in names:
            yield f"{path}.{key} is unknown to {kind}"
        else:
            yield from check(item, model.openapi_types[names[key]], f"{path}.{key}")


def kind_of(document):
    """apps/v1, Deployment: V1Deployment."""
    version = document.get("apiVersion", "").rsplit("/", 1)[-1]
    return version.capitalize() + document.get("kind", "")


def main():
    documents, wrong = [], []
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as text:
            for document in yaml.safe_load_all(text):
                kind = kind_of(document)
                if not hasattr(models, kind):
                    wrong.append(f"{file}: there is no {kind}")
                    continue
                wrong += [f"{file}: {what}" for what in check(document, kind, kind)]
                documents.append(document)
    if wrong:
        sys.exit("\n".join(wrong))
    json.dump(documents, sys.stdout)


main()
