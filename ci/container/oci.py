"""oci.py ROOTFS FILE TIME ARCHITECTURE: a folder as an image of OCI, of the same bytes each time."""

import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

USER = 10001
OWN = "./var/lib/wattseal"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"


def layer_of(rootfs, time):
    """The folder as a tar archive, sorted, of the administrator but for the service's own folder."""

    def owned(entry):
        entry.mtime = time
        entry.uid = entry.gid = USER if entry.name.startswith(OWN.removeprefix("./")) else 0
        entry.uname = entry.gname = ""
        return entry

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder, folders, files in os.walk(rootfs):
            folders.sort()
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for path in [folder] + sorted(os.path.join(folder, name) for name in files + links):
                name = os.path.relpath(path, rootfs)
                if name != ".":
                    tar.add(path, name, recursive=False, filter=owned)
    return out.getvalue()


def main():
    rootfs, file, time, architecture = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    blobs = {}

    def keep(media, data):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": media, "digest": digest, "size": len(data)}

    def as_json(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    tar = layer_of(rootfs, time)
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = keep(CONFIG, as_json({
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "WorkingDir": "/var/lib/wattseal",
            "Entrypoint": ["/usr/local/bin/wattseal-collector"],
            "Cmd": ["--help"],
            "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"],
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
    }))
    layer = keep(LAYER, gzip.compress(tar, 9, mtime=0))
    manifest = keep(MANIFEST, as_json({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
    }))
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "wattseal-collector"}
    index = {"schemaVersion": 2, "manifests": [manifest]}
    files = {"oci-layout": as_json({"imageLayoutVersion": "1.0.0"}), "index.json": as_json(index)}
    files |= {"blobs/" + digest.replace(":", "/"): data for digest, data in blobs.items()}
    with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as out:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), time, 0o644
            out.addfile(entry, io.BytesIO(data))


main()
