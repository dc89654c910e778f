"""The Conan 2 recipe: conan create packaging/conan. See docs/install.md."""
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/*", "dsl/*", "jit/*", "packaging/deb/*", "runtime/*")
SYSTEM_LIBRARIES = ["fmt", "tbb", "sleef", "boost_context", "z"]


class Sinter(ConanFile):
    name = "sinter"
    license = "Apache-2.0"
    description = "Tensor expressions, each fused into one kernel, for CPUs and CUDA GPUs"
    topics = ("tensor", "jit", "cuda", "simd", "autodiff")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    # system_libs: the system's packages of the dependencies instead of ConanCenter's.
    options = {"shared": [True, False], "fPIC": [True, False], "system_libs": [True, False]}
    default_options = {"shared": True, "fPIC": True, "system_libs": False}
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return pathlib.Path(self.recipe_folder).parent.parent

    def set_version(self):
        text = load(self, self._root / "CMakeLists.txt")
        self.version = re.search(r"project\(sinter VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, self._root, self.export_sources_folder)

    def requirements(self):
        if self.options.system_libs:
            return
        self.requires("boost/[>=1.74]", transitive_headers=True)
        self.requires("fmt/[>=9 <12]")
        self.requires("onetbb/[>=2021.5]")
        self.requires("sleef/[>=3.5]")
        self.requires("xxhash/[>=0.8]")
        self.requires("nlohmann_json/[>=3.9]")
        self.requires("zlib/[>=1.2.11 <2]")

    def system_requirements(self):
        if self.options.system_libs:
            Apt(self).check(["libboost-dev", "libboost-context-dev", "libfmt-dev", "libtbb-dev", "libsleef-dev", "libxxhash-dev",
                             "nlohmann-json3-dev", "zlib1g-dev"])

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("Sinter runs on Linux on x86-64 and AArch64")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("SINTER_TESTS", "SINTER_EXAMPLES"):
            toolchain.cache_variables[option] = False
        toolchain.cache_variables["SINTER_UNITY"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="sinter")
        cmake.build(target="sinter_tool")

    def package(self):
        cmake = CMake(self)
        for component in ("library", "development", "tool"):
            cmake.install(component=component)
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")
        copy(self, "copyright", pathlib.Path(self.source_folder) / "packaging/deb", pathlib.Path(self.package_folder) / "licenses")

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "sinter")
        self.cpp_info.set_property("cmake_target_name", "sinter::sinter")
        self.cpp_info.set_property("pkg_config_name", "sinter")
        self.cpp_info.libs = ["sinter"]
        self.cpp_info.system_libs = ["dl", "pthread", "m"]
        if self.options.system_libs and not self.options.shared:
            self.cpp_info.system_libs += SYSTEM_LIBRARIES
        self.cpp_info.builddirs = ["lib/cmake/sinter"]
        self.cpp_info.set_property("cmake_build_modules", ["lib/cmake/sinter/SinterKernels.cmake"])
