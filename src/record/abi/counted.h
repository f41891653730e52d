/* counted.h - of mpi.h, which includes it twice: functions that count in int, and with other types,
 * under names that end in _c, in MPI_Count. No guard: the types differ.
 */
MPI_COUNTED(Type_contiguous, MPI_COUNT_TYPE count, MPI_Datatype oldtype, MPI_Datatype *newtype)
MPI_COUNTED(Type_create_darray, int size, int rank, int ndims,
            const MPI_COUNT_TYPE array_of_gsizes[], const int array_of_distribs[],
            const int array_of_dargs[], const int array_of_psizes[], int order,
            MPI_Datatype oldtype, MPI_Datatype *newtype)
MPI_COUNTED(Type_create_hindexed, MPI_COUNT_TYPE count,
            const MPI_COUNT_TYPE array_of_blocklengths[],
            const MPI_EXTENT_TYPE array_of_displacements[], MPI_Datatype oldtype,
            MPI_Datatype *newtype)
MPI_COUNTED(Type_create_hindexed_block, MPI_COUNT_TYPE count, MPI_COUNT_TYPE blocklength,
            const MPI_EXTENT_TYPE array_of_displacements[], MPI_Datatype oldtype,
            MPI_Datatype *newtype)
MPI_COUNTED(Type_create_hvector, MPI_COUNT_TYPE count, MPI_COUNT_TYPE blocklength,
            MPI_EXTENT_TYPE stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
MPI_COUNTED(Type_create_indexed_block, MPI_COUNT_TYPE count, MPI_COUNT_TYPE blocklength,
            const MPI_COUNT_TYPE array_of_displacements[], MPI_Datatype oldtype,
            MPI_Datatype *newtype)
MPI_COUNTED(Type_create_resized, MPI_Datatype oldtype, MPI_EXTENT_TYPE lb, MPI_EXTENT_TYPE extent,
            MPI_Datatype *newtype)
MPI_COUNTED(Type_create_struct, MPI_COUNT_TYPE count, const MPI_COUNT_TYPE array_of_blocklengths[],
            const MPI_EXTENT_TYPE array_of_displacements[], const MPI_Datatype array_of_types[],
            MPI_Datatype *newtype)
MPI_COUNTED(Type_create_subarray, int ndims, const MPI_COUNT_TYPE array_of_sizes[],
            const MPI_COUNT_TYPE array_of_subsizes[], const MPI_COUNT_TYPE array_of_starts[],
            int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
MPI_COUNTED(Type_get_extent, MPI_Datatype datatype, MPI_EXTENT_TYPE *lb, MPI_EXTENT_TYPE *extent)
MPI_COUNTED(Type_get_true_extent, MPI_Datatype datatype, MPI_EXTENT_TYPE *true_lb,
            MPI_EXTENT_TYPE *true_extent)
MPI_COUNTED(Type_indexed, MPI_COUNT_TYPE count, const MPI_COUNT_TYPE array_of_blocklengths[],
            const MPI_COUNT_TYPE array_of_displacements[], MPI_Datatype oldtype,
            MPI_Datatype *newtype)
MPI_COUNTED(Type_size, MPI_Datatype datatype, MPI_COUNT_TYPE *size)
MPI_COUNTED(Type_vector, MPI_COUNT_TYPE count, MPI_COUNT_TYPE blocklength, MPI_COUNT_TYPE stride,
            MPI_Datatype oldtype, MPI_Datatype *newtype)
MPI_COUNTED(Pack, const void *inbuf, MPI_COUNT_TYPE incount, MPI_Datatype datatype, void *outbuf,
            MPI_COUNT_TYPE outsize, MPI_COUNT_TYPE *position, MPI_Comm comm)
MPI_COUNTED(Pack_external, const char datarep[], const void *inbuf, MPI_COUNT_TYPE incount,
            MPI_Datatype datatype, void *outbuf, MPI_EXTENT_TYPE outsize, MPI_EXTENT_TYPE *position)
MPI_COUNTED(Pack_external_size, const char datarep[], MPI_COUNT_TYPE incount, MPI_Datatype datatype,
            MPI_EXTENT_TYPE *size)
MPI_COUNTED(Pack_size, MPI_COUNT_TYPE incount, MPI_Datatype datatype, MPI_Comm comm,
            MPI_COUNT_TYPE *size)
MPI_COUNTED(Unpack, const void *inbuf, MPI_COUNT_TYPE insize, MPI_COUNT_TYPE *position,
            void *outbuf, MPI_COUNT_TYPE outcount, MPI_Datatype datatype, MPI_Comm comm)
MPI_COUNTED(Unpack_external, const char datarep[], const void *inbuf, MPI_EXTENT_TYPE insize,
            MPI_EXTENT_TYPE *position, void *outbuf, MPI_COUNT_TYPE outcount, MPI_Datatype datatype)
MPI_COUNTED(Get_count, const MPI_Status *status, MPI_Datatype datatype, MPI_COUNT_TYPE *count)
MPI_COUNTED(Get_elements, const MPI_Status *status, MPI_Datatype datatype, MPI_COUNT_TYPE *count)
MPI_COUNTED(Status_set_elements, MPI_Status *status, MPI_Datatype datatype, MPI_COUNT_TYPE count)
MPI_COUNTED(Reduce_local, const void *inbuf, void *inoutbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op)
MPI_COUNTED(Bsend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm)
MPI_COUNTED(Rsend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm)
MPI_COUNTED(Send, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm)
MPI_COUNTED(Ssend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm)
MPI_COUNTED(Recv, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int source, int tag,
            MPI_Comm comm, MPI_Status *status)
MPI_COUNTED(Mrecv, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, MPI_Message *message,
            MPI_Status *status)
MPI_COUNTED(Sendrecv, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            int dest, int sendtag, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            int source, int recvtag, MPI_Comm comm, MPI_Status *status)
MPI_COUNTED(Sendrecv_replace, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest,
            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
MPI_COUNTED(Buffer_attach, void *buffer, MPI_COUNT_TYPE size)
MPI_COUNTED(Buffer_detach, void *buffer_addr, MPI_COUNT_TYPE *size)
MPI_COUNTED(Comm_attach_buffer, MPI_Comm comm, void *buffer, MPI_COUNT_TYPE size)
MPI_COUNTED(Comm_detach_buffer, MPI_Comm comm, void *buffer_addr, MPI_COUNT_TYPE *size)
MPI_COUNTED(Session_attach_buffer, MPI_Session session, void *buffer, MPI_COUNT_TYPE size)
MPI_COUNTED(Session_detach_buffer, MPI_Session session, void *buffer_addr, MPI_COUNT_TYPE *size)
MPI_COUNTED(Ibsend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Irsend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Isend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Issend, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest, int tag,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Irecv, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int source, int tag,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Imrecv, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, MPI_Message *message,
            MPI_Request *request)
MPI_COUNTED(Isendrecv, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            int dest, int sendtag, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            int source, int recvtag, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Isendrecv_replace, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest,
            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Bsend_init, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest,
            int tag, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Rsend_init, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest,
            int tag, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Send_init, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest,
            int tag, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ssend_init, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int dest,
            int tag, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Recv_init, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype, int source, int tag,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Bcast, void *buffer, MPI_COUNT_TYPE count, MPI_Datatype datatype, int root,
            MPI_Comm comm)
MPI_COUNTED(Gather, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
MPI_COUNTED(Gatherv, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE displs[],
            MPI_Datatype recvtype, int root, MPI_Comm comm)
MPI_COUNTED(Scatter, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
MPI_COUNTED(Scatterv, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE displs[], MPI_Datatype sendtype, void *recvbuf,
            MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
MPI_COUNTED(Allgather, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Allgatherv, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE displs[],
            MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Alltoall, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Alltoallv, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], MPI_Datatype sendtype, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Alltoallw, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            const MPI_Datatype recvtypes[], MPI_Comm comm)
MPI_COUNTED(Reduce, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Op op, int root, MPI_Comm comm)
MPI_COUNTED(Allreduce, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
MPI_COUNTED(Reduce_scatter_block, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE recvcount,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
MPI_COUNTED(Reduce_scatter, const void *sendbuf, void *recvbuf, const MPI_COUNT_TYPE recvcounts[],
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
MPI_COUNTED(Scan, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Op op, MPI_Comm comm)
MPI_COUNTED(Exscan, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Op op, MPI_Comm comm)
MPI_COUNTED(Neighbor_allgather, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            MPI_Comm comm)
MPI_COUNTED(Neighbor_allgatherv, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, const MPI_COUNT_TYPE recvcounts[],
            const MPI_DISPLACEMENT_TYPE displs[], MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Neighbor_alltoall, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Neighbor_alltoallv, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], MPI_Datatype sendtype, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            MPI_Datatype recvtype, MPI_Comm comm)
MPI_COUNTED(Neighbor_alltoallw, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_Aint rdispls[],
            const MPI_Datatype recvtypes[], MPI_Comm comm)
MPI_COUNTED(Ibcast, void *buffer, MPI_COUNT_TYPE count, MPI_Datatype datatype, int root,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Igather, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Request *request)
MPI_COUNTED(Igatherv, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE displs[],
            MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Iscatter, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Request *request)
MPI_COUNTED(Iscatterv, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE displs[], MPI_Datatype sendtype, void *recvbuf,
            MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Request *request)
MPI_COUNTED(Iallgather, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm,
            MPI_Request *request)
MPI_COUNTED(Iallgatherv, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE displs[],
            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ialltoall, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm,
            MPI_Request *request)
MPI_COUNTED(Ialltoallv, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], MPI_Datatype sendtype, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ialltoallw, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ireduce, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Iallreduce, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ireduce_scatter_block, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE recvcount,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ireduce_scatter, const void *sendbuf, void *recvbuf, const MPI_COUNT_TYPE recvcounts[],
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Iscan, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Op op, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Iexscan, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ineighbor_allgather, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ineighbor_allgatherv, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, const MPI_COUNT_TYPE recvcounts[],
            const MPI_DISPLACEMENT_TYPE displs[], MPI_Datatype recvtype, MPI_Comm comm,
            MPI_Request *request)
MPI_COUNTED(Ineighbor_alltoall, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ineighbor_alltoallv, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], MPI_Datatype sendtype, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Ineighbor_alltoallw, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_Aint rdispls[],
            const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
MPI_COUNTED(Bcast_init, void *buffer, MPI_COUNT_TYPE count, MPI_Datatype datatype, int root,
            MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Gather_init, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Info info, MPI_Request *request)
MPI_COUNTED(Gatherv_init, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE displs[],
            MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Scatter_init, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Info info, MPI_Request *request)
MPI_COUNTED(Scatterv_init, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE displs[], MPI_Datatype sendtype, void *recvbuf,
            MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
            MPI_Request *request)
MPI_COUNTED(Allgather_init, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm,
            MPI_Info info, MPI_Request *request)
MPI_COUNTED(Allgatherv_init, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE displs[],
            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Alltoall_init, const void *sendbuf, MPI_COUNT_TYPE sendcount, MPI_Datatype sendtype,
            void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype, MPI_Comm comm,
            MPI_Info info, MPI_Request *request)
MPI_COUNTED(Alltoallv_init, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], MPI_Datatype sendtype, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Alltoallw_init, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Reduce_init, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
            MPI_Request *request)
MPI_COUNTED(Allreduce_init, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Reduce_scatter_block_init, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE recvcount,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Reduce_scatter_init, const void *sendbuf, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            MPI_Info info, MPI_Request *request)
MPI_COUNTED(Scan_init, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Exscan_init, const void *sendbuf, void *recvbuf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Neighbor_allgather_init, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Neighbor_allgatherv_init, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, const MPI_COUNT_TYPE recvcounts[],
            const MPI_DISPLACEMENT_TYPE displs[], MPI_Datatype recvtype, MPI_Comm comm,
            MPI_Info info, MPI_Request *request)
MPI_COUNTED(Neighbor_alltoall_init, const void *sendbuf, MPI_COUNT_TYPE sendcount,
            MPI_Datatype sendtype, void *recvbuf, MPI_COUNT_TYPE recvcount, MPI_Datatype recvtype,
            MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Neighbor_alltoallv_init, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_DISPLACEMENT_TYPE sdispls[], MPI_Datatype sendtype, void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_DISPLACEMENT_TYPE rdispls[],
            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Neighbor_alltoallw_init, const void *sendbuf, const MPI_COUNT_TYPE sendcounts[],
            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
            const MPI_COUNT_TYPE recvcounts[], const MPI_Aint rdispls[],
            const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_COUNTED(Accumulate, const void *origin_addr, MPI_COUNT_TYPE origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            MPI_COUNT_TYPE target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
MPI_COUNTED(Get, void *origin_addr, MPI_COUNT_TYPE origin_count, MPI_Datatype origin_datatype,
            int target_rank, MPI_Aint target_disp, MPI_COUNT_TYPE target_count,
            MPI_Datatype target_datatype, MPI_Win win)
MPI_COUNTED(Get_accumulate, const void *origin_addr, MPI_COUNT_TYPE origin_count,
            MPI_Datatype origin_datatype, void *result_addr, MPI_COUNT_TYPE result_count,
            MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
            MPI_COUNT_TYPE target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
MPI_COUNTED(Put, const void *origin_addr, MPI_COUNT_TYPE origin_count, MPI_Datatype origin_datatype,
            int target_rank, MPI_Aint target_disp, MPI_COUNT_TYPE target_count,
            MPI_Datatype target_datatype, MPI_Win win)
MPI_COUNTED(Raccumulate, const void *origin_addr, MPI_COUNT_TYPE origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            MPI_COUNT_TYPE target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
            MPI_Request *request)
MPI_COUNTED(Rget, void *origin_addr, MPI_COUNT_TYPE origin_count, MPI_Datatype origin_datatype,
            int target_rank, MPI_Aint target_disp, MPI_COUNT_TYPE target_count,
            MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
MPI_COUNTED(Rget_accumulate, const void *origin_addr, MPI_COUNT_TYPE origin_count,
            MPI_Datatype origin_datatype, void *result_addr, MPI_COUNT_TYPE result_count,
            MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
            MPI_COUNT_TYPE target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
            MPI_Request *request)
MPI_COUNTED(Rput, const void *origin_addr, MPI_COUNT_TYPE origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            MPI_COUNT_TYPE target_count, MPI_Datatype target_datatype, MPI_Win win,
            MPI_Request *request)
MPI_COUNTED(Win_allocate, MPI_Aint size, MPI_DISPLACEMENT_TYPE disp_unit, MPI_Info info,
            MPI_Comm comm, void *baseptr, MPI_Win *win)
MPI_COUNTED(Win_allocate_shared, MPI_Aint size, MPI_DISPLACEMENT_TYPE disp_unit, MPI_Info info,
            MPI_Comm comm, void *baseptr, MPI_Win *win)
MPI_COUNTED(Win_create, void *base, MPI_Aint size, MPI_DISPLACEMENT_TYPE disp_unit, MPI_Info info,
            MPI_Comm comm, MPI_Win *win)
MPI_COUNTED(Win_shared_query, MPI_Win win, int rank, MPI_Aint *size,
            MPI_DISPLACEMENT_TYPE *disp_unit, void *baseptr)
MPI_COUNTED(File_get_type_extent, MPI_File fh, MPI_Datatype datatype, MPI_EXTENT_TYPE *extent)
MPI_COUNTED(File_read, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Status *status)
MPI_COUNTED(File_read_all, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Status *status)
MPI_COUNTED(File_read_at, MPI_File fh, MPI_Offset offset, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_read_at_all, MPI_File fh, MPI_Offset offset, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_read_ordered, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Status *status)
MPI_COUNTED(File_read_shared, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Status *status)
MPI_COUNTED(File_write, MPI_File fh, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Status *status)
MPI_COUNTED(File_write_all, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_write_at, MPI_File fh, MPI_Offset offset, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_write_at_all, MPI_File fh, MPI_Offset offset, const void *buf,
            MPI_COUNT_TYPE count, MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_write_ordered, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_write_shared, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Status *status)
MPI_COUNTED(File_read_all_begin, MPI_File fh, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype)
MPI_COUNTED(File_read_at_all_begin, MPI_File fh, MPI_Offset offset, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype)
MPI_COUNTED(File_read_ordered_begin, MPI_File fh, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype)
MPI_COUNTED(File_write_all_begin, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype)
MPI_COUNTED(File_write_at_all_begin, MPI_File fh, MPI_Offset offset, const void *buf,
            MPI_COUNT_TYPE count, MPI_Datatype datatype)
MPI_COUNTED(File_write_ordered_begin, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype)
MPI_COUNTED(File_iread, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Request *request)
MPI_COUNTED(File_iread_all, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Request *request)
MPI_COUNTED(File_iread_at, MPI_File fh, MPI_Offset offset, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Request *request)
MPI_COUNTED(File_iread_at_all, MPI_File fh, MPI_Offset offset, void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Request *request)
MPI_COUNTED(File_iread_shared, MPI_File fh, void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Request *request)
MPI_COUNTED(File_iwrite, MPI_File fh, const void *buf, MPI_COUNT_TYPE count, MPI_Datatype datatype,
            MPI_Request *request)
MPI_COUNTED(File_iwrite_all, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Request *request)
MPI_COUNTED(File_iwrite_at, MPI_File fh, MPI_Offset offset, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Request *request)
MPI_COUNTED(File_iwrite_at_all, MPI_File fh, MPI_Offset offset, const void *buf,
            MPI_COUNT_TYPE count, MPI_Datatype datatype, MPI_Request *request)
MPI_COUNTED(File_iwrite_shared, MPI_File fh, const void *buf, MPI_COUNT_TYPE count,
            MPI_Datatype datatype, MPI_Request *request)
