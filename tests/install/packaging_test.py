"""That the files for package managers agree with CMakeLists.txt: versions, dependencies, licenses."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What find_package(...) of CMakeLists.txt needs, by the names of vcpkg, Conan and Debian, and of the licenses.
PACKAGES = {
    "Boost": (
        ["boost-container", "boost-context", "boost-dynamic-bitset", "boost-hana"],
        "boost",
        ["libboost-dev", "libboost-context-dev"],
        ["Boost.Container", "Boost.Context", "Boost.DynamicBitset", "Boost.Hana"],
    ),
    "fmt": (["fmt"], "fmt", ["libfmt-dev"], ["fmt"]),
    "TBB": (["tbb"], "onetbb", ["libtbb-dev"], ["oneTBB"]),
    "Sleef": (["sleef"], "sleef", ["libsleef-dev"], ["SLEEF"]),
    "xxHash": (["xxhash"], "xxhash", ["libxxhash-dev"], ["xxHash"]),
    "nlohmann_json": (["nlohmann-json"], "nlohmann_json", ["nlohmann-json3-dev"], ["nlohmann-json"]),
    "ZLIB": (["zlib"], "zlib", ["zlib1g-dev"], ["zlib"]),
}
WITHOUT_PACKAGE = {"Threads"}  # part of the C library
WITHOUT_CODE = {"zlib"}  # in our binaries: its headers have none, and wheels do not carry it
WITH_PYTHON = ["nanobind", "robin-map"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def wanted(column):
    values = [row[column] for row in PACKAGES.values()]
    return sorted({name for value in values for name in (value if isinstance(value, list) else [value])})


class Packaging(unittest.TestCase):
    version = re.search(r"project\(sinter VERSION ([0-9.]+)", text("CMakeLists.txt")).group(1)
    vcpkg = json.loads(text("packaging/vcpkg/ports/sinter/vcpkg.json"))
    conan = text("packaging/conan/conanfile.py")
    deps = text("scripts/deps")

    def test_versions(self):
        self.assertEqual(self.vcpkg["version"], self.version)
        self.assertEqual(re.match(r"sinter \((.*?)\)", text("packaging/deb/changelog")).group(1), self.version)
        self.assertEqual(re.search(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE).group(1), self.version)

    def test_every_dependency_is_here(self):
        required = set(re.findall(r"^find_package\((\w+).*REQUIRED", text("CMakeLists.txt"), re.MULTILINE))
        self.assertEqual(required - WITHOUT_PACKAGE, set(PACKAGES))

    def test_every_part_of_boost_is_here(self):
        sources = [path for layer in ("runtime", "jit", "dsl") for path in (ROOT / layer).rglob("*.[ch]pp")]
        parts = {part for path in sources for part in re.findall(r"#include <boost/(\w+)", path.read_text(encoding="utf-8"))}
        self.assertEqual(["boost-" + part.replace("_", "-") for part in sorted(parts)], PACKAGES["Boost"][0])

    def test_vcpkg(self):
        names = [d if isinstance(d, str) else d["name"] for d in self.vcpkg["dependencies"]]
        self.assertEqual(names, sorted(names), "vcpkg wants them in order")
        self.assertEqual([name for name in names if not name.startswith("vcpkg-")], wanted(0))
        port = ROOT / "packaging/vcpkg/ports/sinter"
        self.assertEqual({file.name for file in port.iterdir()}, {"portfile.cmake", "usage", "vcpkg.json"})

    def test_conan(self):
        self.assertEqual(sorted(re.findall(r'requires\("(\w+)/', self.conan)), wanted(1))
        self.assertEqual(sorted(re.findall(r'"([\w-]+-dev)"', self.conan)), wanted(2))

    def test_debian(self):
        self.assertLessEqual(set(wanted(2)), set(re.findall(r"need ([\w-]+-dev) ", self.deps)))
        public = re.search(r"DEVELOPMENT_PACKAGE_DEPENDS\s+\"(.*?)\"", text("cmake/SinterPackages.cmake")).group(1).split(", ")
        # The static library has the code of the others.
        self.assertEqual(sorted(public), sorted(set(wanted(2)) - {"libxxhash-dev", "nlohmann-json3-dev"}))

    def test_licenses(self):
        copyright, wheel, page = (
            text(name) for name in ("packaging/deb/copyright", "dsl/python/third-party-licenses.txt", "docs/dependencies.md")
        )
        for name in wanted(3) + WITH_PYTHON:
            self.assertIn(name, page)
            if name not in WITHOUT_CODE:
                self.assertIn(name, copyright)
                self.assertIn(name, wheel)

    def test_dev_container(self):
        build = json.loads(text(".devcontainer/devcontainer.json"))["build"]
        dockerfile = (ROOT / ".devcontainer" / build["dockerfile"]).resolve()
        self.assertRegex(dockerfile.read_text(encoding="utf-8"), rf"(?m)^FROM .* AS {build['target']}$")
        self.assertEqual((ROOT / ".devcontainer" / build["context"]).resolve(), ROOT)


if __name__ == "__main__":
    unittest.main()
