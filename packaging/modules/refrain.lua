-- A module of Lmod: copy it to modulefiles/refrain/0.1.0.lua and set where Refrain is installed.
local prefix = "/opt/refrain/0.1.0"

help("Refrain: why an MPI program takes so long. mpirun -n 4 refrain record ./app")
whatis("Name: Refrain")
whatis("Version: 0.1.0")
whatis("Description: records MPI programs and says why ranks wait")

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("PYTHONPATH", pathJoin(prefix, "lib/python3/dist-packages"))
