"""Writes a wheel of the package: make_wheel.py MODULE VERSION FOLDER prints its path.

MODULE is the compiled shoal._core. The same files give the same bytes.
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

PACKAGE = pathlib.Path(__file__).parent / "shoal"


def tag():
    version = "".join(map(str, sys.version_info[:2]))
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp{version}-cp{version}-{platform}"


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: shoal\nVersion: {version}\nLicense: MIT\n"
            "Summary: Data-oriented entity system: worlds whose columns are NumPy arrays\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\nProvides-Extra: tables\n"
            "Requires-Dist: pandas; extra == 'tables'\n")


def contents(module, version):
    """The files of the wheel by their names in it, but for the list of them."""
    files = {f"shoal/{path.name}": path.read_bytes() for path in sorted(PACKAGE.iterdir()) if path.is_file()}
    files[f"shoal/{module.name}"] = module.read_bytes()
    info = f"shoal-{version}.dist-info"
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: shoal\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    return files


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main(module, version, folder):
    files = contents(pathlib.Path(module), version)
    record = f"shoal-{version}.dist-info/RECORD"
    files[record] = ("".join(record_line(*file) for file in files.items()) + f"{record},,\n").encode()
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    wheel = pathlib.Path(folder) / f"shoal-{version}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
