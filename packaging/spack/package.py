# Refrain in Spack: put this file into packages/refrain of a repository (spack repo create), then
# `spack install refrain ^openmpi`. One build has the recorder for one MPI, and that for the standard
# ABI.
from spack.package import *


class Refrain(MakefilePackage):
    """Records MPI programs with almost no cost, and says why they take so long."""

    homepage = "https://refrain.example"
    git = "https://refrain.example/refrain.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("otf2", default=True, description="Traces of OTF2, in and out")
    variant("simgrid", default=False, description="Predictions on SimGrid, and recording under SMPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+simgrid")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("mpi")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("libunwind")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("zlib-api")
    depends_on("expat")
    depends_on("otf2", when="+otf2")
    depends_on("simgrid+smpi", when="+simgrid")

    def variables(self):
        """The MPI's compiler is not in Debian's place."""
        mpicc = self.spec["mpi"].mpicc
        return ["CC=cc", f"MPICC_MPICH={mpicc}", f"MPICC_OPENMPI={mpicc}", "NO_INSTALL=1"]

    def build(self, spec, prefix):
        make(*self.variables(), "all")

    def install(self, spec, prefix):
        make(*self.variables(), f"PREFIX={prefix}", "install")

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "python3", "dist-packages"))
