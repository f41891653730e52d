/* mpi.h - the standard ABI of MPI 5.0 (MPI: A Message-Passing Interface Standard, 5.0, chapter
 * "Application Binary Interface" and appendix A): what programs are compiled with that run with
 * each MPI that has it (libmpi_abi.so.1: MPICH 5 and Open MPI 6 do).
 *
 * Written from the standard's tables: the recorder for this ABI is built also where no such MPI is
 * installed. Handles are pointers with constant values; there are no variables. Left out is what
 * the recorder has nothing to do with: MPI_T, and conversions of handles to Fortran.
 */
#ifndef RFN_RECORD_ABI_MPI_H
#define RFN_RECORD_ABI_MPI_H

#include <stddef.h>
#include <stdint.h>

#define MPI_VERSION        5
#define MPI_SUBVERSION     0
#define MPI_ABI_VERSION    1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* ---- numbers ---- */

/* Errors. */
enum {
    MPI_SUCCESS = 0,
    MPI_ERR_BUFFER = 1,
    MPI_ERR_COUNT = 2,
    MPI_ERR_TYPE = 3,
    MPI_ERR_TAG = 4,
    MPI_ERR_COMM = 5,
    MPI_ERR_RANK = 6,
    MPI_ERR_REQUEST = 7,
    MPI_ERR_ROOT = 8,
    MPI_ERR_GROUP = 9,
    MPI_ERR_OP = 10,
    MPI_ERR_TOPOLOGY = 11,
    MPI_ERR_DIMS = 12,
    MPI_ERR_ARG = 13,
    MPI_ERR_UNKNOWN = 14,
    MPI_ERR_TRUNCATE = 15,
    MPI_ERR_OTHER = 16,
    MPI_ERR_INTERN = 17,
    MPI_ERR_PENDING = 18,
    MPI_ERR_IN_STATUS = 19,
    MPI_ERR_ACCESS = 20,
    MPI_ERR_AMODE = 21,
    MPI_ERR_ASSERT = 22,
    MPI_ERR_BAD_FILE = 23,
    MPI_ERR_BASE = 24,
    MPI_ERR_CONVERSION = 25,
    MPI_ERR_DISP = 26,
    MPI_ERR_DUP_DATAREP = 27,
    MPI_ERR_FILE_EXISTS = 28,
    MPI_ERR_FILE_IN_USE = 29,
    MPI_ERR_FILE = 30,
    MPI_ERR_INFO_KEY = 31,
    MPI_ERR_INFO_NOKEY = 32,
    MPI_ERR_INFO_VALUE = 33,
    MPI_ERR_INFO = 34,
    MPI_ERR_IO = 35,
    MPI_ERR_KEYVAL = 36,
    MPI_ERR_LOCKTYPE = 37,
    MPI_ERR_NAME = 38,
    MPI_ERR_NO_MEM = 39,
    MPI_ERR_NOT_SAME = 40,
    MPI_ERR_NO_SPACE = 41,
    MPI_ERR_NO_SUCH_FILE = 42,
    MPI_ERR_PORT = 43,
    MPI_ERR_QUOTA = 44,
    MPI_ERR_READ_ONLY = 45,
    MPI_ERR_RMA_ATTACH = 46,
    MPI_ERR_RMA_CONFLICT = 47,
    MPI_ERR_RMA_RANGE = 48,
    MPI_ERR_RMA_SHARED = 49,
    MPI_ERR_RMA_SYNC = 50,
    MPI_ERR_SERVICE = 51,
    MPI_ERR_SIZE = 52,
    MPI_ERR_SPAWN = 53,
    MPI_ERR_UNSUPPORTED_DATAREP = 54,
    MPI_ERR_UNSUPPORTED_OPERATION = 55,
    MPI_ERR_WIN = 56,
    MPI_ERR_RMA_FLAVOR = 57,
    MPI_ERR_PROC_ABORTED = 58,
    MPI_ERR_VALUE_TOO_LARGE = 59,
    MPI_ERR_SESSION = 60,
    MPI_ERR_ERRHANDLER = 61,
    MPI_ERR_ABI = 62,
    MPI_ERR_LASTCODE = 16383
};
/* Modes of files and windows. */
enum {
    MPI_MODE_APPEND = 1,
    MPI_MODE_CREATE = 2,
    MPI_MODE_DELETE_ON_CLOSE = 4,
    MPI_MODE_EXCL = 8,
    MPI_MODE_RDONLY = 16,
    MPI_MODE_RDWR = 32,
    MPI_MODE_SEQUENTIAL = 64,
    MPI_MODE_UNIQUE_OPEN = 128,
    MPI_MODE_WRONLY = 256,
    MPI_MODE_NOCHECK = 1024,
    MPI_MODE_NOPRECEDE = 2048,
    MPI_MODE_NOPUT = 4096,
    MPI_MODE_NOSTORE = 8192,
    MPI_MODE_NOSUCCEED = 16384
};
/* Ranks, tags, numbers. */
enum {
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -2,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766,
    MPI_BSEND_OVERHEAD = 512
};
/* Threads. */
enum {
    MPI_THREAD_SINGLE = 0,
    MPI_THREAD_FUNNELED = 1024,
    MPI_THREAD_SERIALIZED = 2048,
    MPI_THREAD_MULTIPLE = 4096
};
/* Arrays. */
enum {
    MPI_ORDER_C = 12,
    MPI_ORDER_FORTRAN = 15,
    MPI_DISTRIBUTE_NONE = 16,
    MPI_DISTRIBUTE_BLOCK = 17,
    MPI_DISTRIBUTE_CYCLIC = 18,
    MPI_DISTRIBUTE_DFLT_DARG = 19
};
/* How datatypes were made. */
enum {
    MPI_COMBINER_NAMED = 101,
    MPI_COMBINER_DUP = 102,
    MPI_COMBINER_CONTIGUOUS = 103,
    MPI_COMBINER_VECTOR = 104,
    MPI_COMBINER_HVECTOR = 105,
    MPI_COMBINER_INDEXED = 106,
    MPI_COMBINER_HINDEXED = 107,
    MPI_COMBINER_INDEXED_BLOCK = 108,
    MPI_COMBINER_HINDEXED_BLOCK = 109,
    MPI_COMBINER_STRUCT = 110,
    MPI_COMBINER_SUBARRAY = 111,
    MPI_COMBINER_DARRAY = 112,
    MPI_COMBINER_F90_REAL = 113,
    MPI_COMBINER_F90_COMPLEX = 114,
    MPI_COMBINER_F90_INTEGER = 115,
    MPI_COMBINER_RESIZED = 116,
    MPI_COMBINER_VALUE_INDEX = 117
};
/* Classes of types. */
enum { MPI_TYPECLASS_INTEGER = 192, MPI_TYPECLASS_REAL = 193, MPI_TYPECLASS_COMPLEX = 194 };
/* Results of comparisons. */
enum { MPI_IDENT = 201, MPI_CONGRUENT = 202, MPI_SIMILAR = 203, MPI_UNEQUAL = 204 };
/* Topologies. */
enum { MPI_CART = 211, MPI_GRAPH = 212, MPI_DIST_GRAPH = 213 };
/* How communicators are split. */
enum {
    MPI_COMM_TYPE_SHARED = 221,
    MPI_COMM_TYPE_HW_UNGUIDED = 222,
    MPI_COMM_TYPE_HW_GUIDED = 223,
    MPI_COMM_TYPE_RESOURCE_GUIDED = 224
};
/* Locks. */
enum { MPI_LOCK_EXCLUSIVE = 301, MPI_LOCK_SHARED = 302 };
/* How windows were made. */
enum {
    MPI_WIN_FLAVOR_CREATE = 311,
    MPI_WIN_FLAVOR_ALLOCATE = 312,
    MPI_WIN_FLAVOR_DYNAMIC = 313,
    MPI_WIN_FLAVOR_SHARED = 314
};
/* Memory of windows. */
enum { MPI_WIN_UNIFIED = 321, MPI_WIN_SEPARATE = 322 };
/* Where files are sought. */
enum { MPI_SEEK_CUR = 401, MPI_SEEK_END = 402, MPI_SEEK_SET = 403 };
/* Displacements. */
enum { MPI_DISPLACEMENT_CURRENT = -1 };
/* Attributes. */
enum {
    MPI_KEYVAL_INVALID = 0,
    MPI_TAG_UB = 501,
    MPI_IO = 502,
    MPI_HOST = 503,
    MPI_WTIME_IS_GLOBAL = 504,
    MPI_APPNUM = 505,
    MPI_LASTUSEDCODE = 506,
    MPI_UNIVERSE_SIZE = 507,
    MPI_WIN_BASE = 601,
    MPI_WIN_DISP_UNIT = 602,
    MPI_WIN_SIZE = 603,
    MPI_WIN_CREATE_FLAVOR = 604,
    MPI_WIN_MODEL = 605
};

enum {
    MPI_MAX_DATAREP_STRING = 128,
    MPI_MAX_ERROR_STRING = 512,
    MPI_MAX_INFO_KEY = 256,
    MPI_MAX_INFO_VAL = 1024,
    MPI_MAX_LIBRARY_VERSION_STRING = 8192,
    MPI_MAX_OBJECT_NAME = 128,
    MPI_MAX_PORT_NAME = 1024,
    MPI_MAX_PROCESSOR_NAME = 256,
    MPI_MAX_STRINGTAG_LEN = 1024,
    MPI_MAX_PSET_NAME_LEN = 1024
};

/* ---- addresses ---- */

#define MPI_BOTTOM           ((void *)0)
#define MPI_IN_PLACE         ((void *)1)
#define MPI_BUFFER_AUTOMATIC ((void *)2)
#define MPI_ARGVS_NULL       ((char ***)0)
#define MPI_ARGV_NULL        ((char **)0)
#define MPI_ERRCODES_IGNORE  ((int *)0)
#define MPI_STATUSES_IGNORE  ((MPI_Status *)0)
#define MPI_STATUS_IGNORE    ((MPI_Status *)0)
#define MPI_UNWEIGHTED       ((int *)10)
#define MPI_WEIGHTS_EMPTY    ((int *)11)

/* ---- handles ---- */

#define MPI_COMM_NULL  ((MPI_Comm)256)
#define MPI_COMM_WORLD ((MPI_Comm)257)
#define MPI_COMM_SELF  ((MPI_Comm)258)

#define MPI_DATATYPE_NULL           ((MPI_Datatype)512)
#define MPI_AINT                    ((MPI_Datatype)513)
#define MPI_COUNT                   ((MPI_Datatype)514)
#define MPI_OFFSET                  ((MPI_Datatype)515)
#define MPI_PACKED                  ((MPI_Datatype)519)
#define MPI_SHORT                   ((MPI_Datatype)520)
#define MPI_INT                     ((MPI_Datatype)521)
#define MPI_LONG                    ((MPI_Datatype)522)
#define MPI_LONG_LONG_INT           ((MPI_Datatype)523)
#define MPI_LONG_LONG               ((MPI_Datatype)523)
#define MPI_UNSIGNED_SHORT          ((MPI_Datatype)524)
#define MPI_UNSIGNED                ((MPI_Datatype)525)
#define MPI_UNSIGNED_LONG           ((MPI_Datatype)526)
#define MPI_UNSIGNED_LONG_LONG      ((MPI_Datatype)527)
#define MPI_FLOAT                   ((MPI_Datatype)528)
#define MPI_C_COMPLEX               ((MPI_Datatype)530)
#define MPI_C_FLOAT_COMPLEX         ((MPI_Datatype)530)
#define MPI_DOUBLE                  ((MPI_Datatype)532)
#define MPI_C_DOUBLE_COMPLEX        ((MPI_Datatype)534)
#define MPI_LONG_DOUBLE             ((MPI_Datatype)544)
#define MPI_C_LONG_DOUBLE_COMPLEX   ((MPI_Datatype)548)
#define MPI_C_BOOL                  ((MPI_Datatype)568)
#define MPI_WCHAR                   ((MPI_Datatype)572)
#define MPI_INT8_T                  ((MPI_Datatype)576)
#define MPI_UINT8_T                 ((MPI_Datatype)577)
#define MPI_CHAR                    ((MPI_Datatype)579)
#define MPI_SIGNED_CHAR             ((MPI_Datatype)580)
#define MPI_UNSIGNED_CHAR           ((MPI_Datatype)581)
#define MPI_BYTE                    ((MPI_Datatype)583)
#define MPI_INT16_T                 ((MPI_Datatype)584)
#define MPI_UINT16_T                ((MPI_Datatype)585)
#define MPI_INT32_T                 ((MPI_Datatype)592)
#define MPI_UINT32_T                ((MPI_Datatype)593)
#define MPI_INT64_T                 ((MPI_Datatype)600)
#define MPI_UINT64_T                ((MPI_Datatype)601)
#define MPI_LOGICAL                 ((MPI_Datatype)536)
#define MPI_INTEGER                 ((MPI_Datatype)537)
#define MPI_REAL                    ((MPI_Datatype)538)
#define MPI_COMPLEX                 ((MPI_Datatype)539)
#define MPI_DOUBLE_PRECISION        ((MPI_Datatype)540)
#define MPI_CHARACTER               ((MPI_Datatype)542)
#define MPI_CXX_FLOAT_COMPLEX       ((MPI_Datatype)531)
#define MPI_CXX_DOUBLE_COMPLEX      ((MPI_Datatype)535)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)549)
#define MPI_CXX_BOOL                ((MPI_Datatype)569)
#define MPI_DOUBLE_COMPLEX          ((MPI_Datatype)541)
#define MPI_LOGICAL1                ((MPI_Datatype)704)
#define MPI_LOGICAL2                ((MPI_Datatype)712)
#define MPI_LOGICAL4                ((MPI_Datatype)720)
#define MPI_LOGICAL8                ((MPI_Datatype)728)
#define MPI_LOGICAL16               ((MPI_Datatype)736)
#define MPI_INTEGER1                ((MPI_Datatype)705)
#define MPI_INTEGER2                ((MPI_Datatype)713)
#define MPI_INTEGER4                ((MPI_Datatype)721)
#define MPI_INTEGER8                ((MPI_Datatype)729)
#define MPI_INTEGER16               ((MPI_Datatype)737)
#define MPI_REAL2                   ((MPI_Datatype)714)
#define MPI_REAL4                   ((MPI_Datatype)722)
#define MPI_REAL8                   ((MPI_Datatype)730)
#define MPI_REAL16                  ((MPI_Datatype)738)
#define MPI_COMPLEX4                ((MPI_Datatype)723)
#define MPI_COMPLEX8                ((MPI_Datatype)731)
#define MPI_COMPLEX16               ((MPI_Datatype)739)
#define MPI_COMPLEX32               ((MPI_Datatype)747)
#define MPI_FLOAT_INT               ((MPI_Datatype)552)
#define MPI_DOUBLE_INT              ((MPI_Datatype)553)
#define MPI_LONG_INT                ((MPI_Datatype)554)
#define MPI_2INT                    ((MPI_Datatype)555)
#define MPI_SHORT_INT               ((MPI_Datatype)556)
#define MPI_LONG_DOUBLE_INT         ((MPI_Datatype)557)
#define MPI_2REAL                   ((MPI_Datatype)560)
#define MPI_2DOUBLE_PRECISION       ((MPI_Datatype)561)
#define MPI_2INTEGER                ((MPI_Datatype)562)

#define MPI_MESSAGE_NULL    ((MPI_Message)296)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)297)

#define MPI_ERRHANDLER_NULL  ((MPI_Errhandler)320)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)321)
#define MPI_ERRORS_ABORT     ((MPI_Errhandler)322)
#define MPI_ERRORS_RETURN    ((MPI_Errhandler)323)

#define MPI_INFO_NULL ((MPI_Info)304)
#define MPI_INFO_ENV  ((MPI_Info)305)

#define MPI_OP_NULL ((MPI_Op)32)
#define MPI_SUM     ((MPI_Op)33)
#define MPI_MIN     ((MPI_Op)34)
#define MPI_MAX     ((MPI_Op)35)
#define MPI_PROD    ((MPI_Op)36)
#define MPI_BAND    ((MPI_Op)40)
#define MPI_BOR     ((MPI_Op)41)
#define MPI_BXOR    ((MPI_Op)42)
#define MPI_LAND    ((MPI_Op)48)
#define MPI_LOR     ((MPI_Op)49)
#define MPI_LXOR    ((MPI_Op)50)
#define MPI_MINLOC  ((MPI_Op)56)
#define MPI_MAXLOC  ((MPI_Op)57)
#define MPI_REPLACE ((MPI_Op)60)
#define MPI_NO_OP   ((MPI_Op)61)

#define MPI_GROUP_NULL  ((MPI_Group)264)
#define MPI_GROUP_EMPTY ((MPI_Group)265)

#define MPI_REQUEST_NULL ((MPI_Request)384)

#define MPI_FILE_NULL ((MPI_File)280)

#define MPI_SESSION_NULL ((MPI_Session)288)

#define MPI_WIN_NULL ((MPI_Win)272)

/* ---- callbacks ---- */

typedef int MPI_Comm_copy_attr_function(MPI_Comm oldcomm, int comm_keyval, void *extra_state,
                                        void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int comm_keyval, void *attribute_val,
                                          void *extra_state);
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef int MPI_Copy_function(MPI_Comm oldcomm, int keyval, void *extra_state,
                              void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count,
                                            void *filebuf, MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count,
                                              void *filebuf, MPI_Offset position,
                                              void *extra_state);
typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Delete_function(MPI_Comm comm, int keyval, void *attribute_val, void *extra_state);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *error_code, ...);
typedef int MPI_Type_copy_attr_function(MPI_Datatype oldtype, int type_keyval, void *extra_state,
                                        void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int type_keyval,
                                          void *attribute_val, void *extra_state);
typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len,
                                 MPI_Datatype *datatype);
typedef int MPI_Win_copy_attr_function(MPI_Win oldwin, int win_keyval, void *extra_state,
                                       void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int win_keyval, void *attribute_val,
                                         void *extra_state);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);

#define MPI_COMM_NULL_COPY_FN    ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_DUP_FN          ((MPI_Comm_copy_attr_function *)1)
#define MPI_COMM_NULL_DELETE_FN  ((MPI_Comm_delete_attr_function *)0)
#define MPI_WIN_NULL_COPY_FN     ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_DUP_FN           ((MPI_Win_copy_attr_function *)1)
#define MPI_WIN_NULL_DELETE_FN   ((MPI_Win_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN    ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_DUP_FN          ((MPI_Type_copy_attr_function *)1)
#define MPI_TYPE_NULL_DELETE_FN  ((MPI_Type_delete_attr_function *)0)
#define MPI_CONVERSION_FN_NULL   ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)

/* ---- functions, each under its second name, too ---- */

#define MPI_FUNCTION(name, ...)  \
    int MPI_##name(__VA_ARGS__); \
    int PMPI_##name(__VA_ARGS__);

double MPI_Wtime(void);
double PMPI_Wtime(void);
double MPI_Wtick(void);
double PMPI_Wtick(void);

MPI_FUNCTION(Init, int *argc, char ***argv)
MPI_FUNCTION(Init_thread, int *argc, char ***argv, int required, int *provided)
MPI_FUNCTION(Finalize, void)
MPI_FUNCTION(Abort, MPI_Comm comm, int errorcode)
MPI_FUNCTION(Session_init, MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
MPI_FUNCTION(Session_finalize, MPI_Session *session)
MPI_FUNCTION(Pcontrol, const int level, ...)
MPI_FUNCTION(Initialized, int *flag)
MPI_FUNCTION(Finalized, int *flag)
MPI_FUNCTION(Is_thread_main, int *flag)
MPI_FUNCTION(Query_thread, int *provided)
MPI_FUNCTION(Get_version, int *version, int *subversion)
MPI_FUNCTION(Get_library_version, char *version, int *resultlen)
MPI_FUNCTION(Get_processor_name, char *name, int *resultlen)
MPI_FUNCTION(Alloc_mem, MPI_Aint size, MPI_Info info, void *baseptr)
MPI_FUNCTION(Free_mem, void *base)
MPI_FUNCTION(Session_get_info, MPI_Session session, MPI_Info *info_used)
MPI_FUNCTION(Session_get_nth_pset, MPI_Session session, MPI_Info info, int n, int *pset_len,
             char *pset_name)
MPI_FUNCTION(Session_get_num_psets, MPI_Session session, MPI_Info info, int *npset_names)
MPI_FUNCTION(Session_get_pset_info, MPI_Session session, const char *pset_name, MPI_Info *info)
MPI_FUNCTION(Get_hw_resource_info, MPI_Info *hw_info)
MPI_FUNCTION(Abi_get_version, int *abi_major, int *abi_minor)
MPI_FUNCTION(Abi_get_info, MPI_Info *info)
MPI_FUNCTION(Abi_get_fortran_info, MPI_Info *info)
MPI_FUNCTION(Abi_set_fortran_info, MPI_Info info)
MPI_FUNCTION(Abi_get_fortran_booleans, int logical_size, void *logical_true, void *logical_false,
             int *is_set)
MPI_FUNCTION(Abi_set_fortran_booleans, int logical_size, void *logical_true, void *logical_false)
MPI_FUNCTION(Add_error_class, int *errorclass)
MPI_FUNCTION(Add_error_code, int errorclass, int *errorcode)
MPI_FUNCTION(Add_error_string, int errorcode, const char *string)
MPI_FUNCTION(Remove_error_class, int errorclass)
MPI_FUNCTION(Remove_error_code, int errorcode)
MPI_FUNCTION(Remove_error_string, int errorcode)
MPI_FUNCTION(Error_class, int errorcode, int *errorclass)
MPI_FUNCTION(Error_string, int errorcode, char *string, int *resultlen)
MPI_FUNCTION(Errhandler_free, MPI_Errhandler *errhandler)
MPI_FUNCTION(Comm_call_errhandler, MPI_Comm comm, int errorcode)
MPI_FUNCTION(Comm_create_errhandler, MPI_Comm_errhandler_function *comm_errhandler_fn,
             MPI_Errhandler *errhandler)
MPI_FUNCTION(Comm_get_errhandler, MPI_Comm comm, MPI_Errhandler *errhandler)
MPI_FUNCTION(Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler errhandler)
MPI_FUNCTION(File_call_errhandler, MPI_File fh, int errorcode)
MPI_FUNCTION(File_create_errhandler, MPI_File_errhandler_function *file_errhandler_fn,
             MPI_Errhandler *errhandler)
MPI_FUNCTION(File_get_errhandler, MPI_File file, MPI_Errhandler *errhandler)
MPI_FUNCTION(File_set_errhandler, MPI_File file, MPI_Errhandler errhandler)
MPI_FUNCTION(Session_call_errhandler, MPI_Session session, int errorcode)
MPI_FUNCTION(Session_create_errhandler, MPI_Session_errhandler_function *session_errhandler_fn,
             MPI_Errhandler *errhandler)
MPI_FUNCTION(Session_get_errhandler, MPI_Session session, MPI_Errhandler *errhandler)
MPI_FUNCTION(Session_set_errhandler, MPI_Session session, MPI_Errhandler errhandler)
MPI_FUNCTION(Win_call_errhandler, MPI_Win win, int errorcode)
MPI_FUNCTION(Win_create_errhandler, MPI_Win_errhandler_function *win_errhandler_fn,
             MPI_Errhandler *errhandler)
MPI_FUNCTION(Win_get_errhandler, MPI_Win win, MPI_Errhandler *errhandler)
MPI_FUNCTION(Win_set_errhandler, MPI_Win win, MPI_Errhandler errhandler)
MPI_FUNCTION(Info_create, MPI_Info *info)
MPI_FUNCTION(Info_create_env, int argc, char *argv[], MPI_Info *info)
MPI_FUNCTION(Info_delete, MPI_Info info, const char *key)
MPI_FUNCTION(Info_dup, MPI_Info info, MPI_Info *newinfo)
MPI_FUNCTION(Info_free, MPI_Info *info)
MPI_FUNCTION(Info_get, MPI_Info info, const char *key, int valuelen, char *value, int *flag)
MPI_FUNCTION(Info_get_nkeys, MPI_Info info, int *nkeys)
MPI_FUNCTION(Info_get_nthkey, MPI_Info info, int n, char *key)
MPI_FUNCTION(Info_get_string, MPI_Info info, const char *key, int *buflen, char *value, int *flag)
MPI_FUNCTION(Info_get_valuelen, MPI_Info info, const char *key, int *valuelen, int *flag)
MPI_FUNCTION(Info_set, MPI_Info info, const char *key, const char *value)
MPI_FUNCTION(Comm_create_keyval, MPI_Comm_copy_attr_function *comm_copy_attr_fn,
             MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
             void *extra_state)
MPI_FUNCTION(Comm_free_keyval, int *comm_keyval)
MPI_FUNCTION(Comm_delete_attr, MPI_Comm comm, int comm_keyval)
MPI_FUNCTION(Comm_get_attr, MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
MPI_FUNCTION(Comm_set_attr, MPI_Comm comm, int comm_keyval, void *attribute_val)
MPI_FUNCTION(Type_create_keyval, MPI_Type_copy_attr_function *type_copy_attr_fn,
             MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
             void *extra_state)
MPI_FUNCTION(Type_free_keyval, int *type_keyval)
MPI_FUNCTION(Type_delete_attr, MPI_Datatype datatype, int type_keyval)
MPI_FUNCTION(Type_get_attr, MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
MPI_FUNCTION(Type_set_attr, MPI_Datatype datatype, int type_keyval, void *attribute_val)
MPI_FUNCTION(Win_create_keyval, MPI_Win_copy_attr_function *win_copy_attr_fn,
             MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
MPI_FUNCTION(Win_free_keyval, int *win_keyval)
MPI_FUNCTION(Win_delete_attr, MPI_Win win, int win_keyval)
MPI_FUNCTION(Win_get_attr, MPI_Win win, int win_keyval, void *attribute_val, int *flag)
MPI_FUNCTION(Win_set_attr, MPI_Win win, int win_keyval, void *attribute_val)
MPI_FUNCTION(Group_compare, MPI_Group group1, MPI_Group group2, int *result)
MPI_FUNCTION(Group_difference, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
MPI_FUNCTION(Group_excl, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
MPI_FUNCTION(Group_free, MPI_Group *group)
MPI_FUNCTION(Group_from_session_pset, MPI_Session session, const char *pset_name,
             MPI_Group *newgroup)
MPI_FUNCTION(Group_incl, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
MPI_FUNCTION(Group_intersection, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
MPI_FUNCTION(Group_range_excl, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
MPI_FUNCTION(Group_range_incl, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
MPI_FUNCTION(Group_rank, MPI_Group group, int *rank)
MPI_FUNCTION(Group_size, MPI_Group group, int *size)
MPI_FUNCTION(Group_translate_ranks, MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
             int ranks2[])
MPI_FUNCTION(Group_union, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
MPI_FUNCTION(Comm_compare, MPI_Comm comm1, MPI_Comm comm2, int *result)
MPI_FUNCTION(Comm_create, MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
MPI_FUNCTION(Comm_create_from_group, MPI_Group group, const char *stringtag, MPI_Info info,
             MPI_Errhandler errhandler, MPI_Comm *newcomm)
MPI_FUNCTION(Comm_create_group, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
MPI_FUNCTION(Comm_dup, MPI_Comm comm, MPI_Comm *newcomm)
MPI_FUNCTION(Comm_dup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
MPI_FUNCTION(Comm_free, MPI_Comm *comm)
MPI_FUNCTION(Comm_get_info, MPI_Comm comm, MPI_Info *info_used)
MPI_FUNCTION(Comm_get_name, MPI_Comm comm, char *comm_name, int *resultlen)
MPI_FUNCTION(Comm_group, MPI_Comm comm, MPI_Group *group)
MPI_FUNCTION(Comm_idup, MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
MPI_FUNCTION(Comm_idup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
             MPI_Request *request)
MPI_FUNCTION(Comm_rank, MPI_Comm comm, int *rank)
MPI_FUNCTION(Comm_remote_group, MPI_Comm comm, MPI_Group *group)
MPI_FUNCTION(Comm_remote_size, MPI_Comm comm, int *size)
MPI_FUNCTION(Comm_set_info, MPI_Comm comm, MPI_Info info)
MPI_FUNCTION(Comm_set_name, MPI_Comm comm, const char *comm_name)
MPI_FUNCTION(Comm_size, MPI_Comm comm, int *size)
MPI_FUNCTION(Comm_split, MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
MPI_FUNCTION(Comm_split_type, MPI_Comm comm, int split_type, int key, MPI_Info info,
             MPI_Comm *newcomm)
MPI_FUNCTION(Comm_test_inter, MPI_Comm comm, int *flag)
MPI_FUNCTION(Intercomm_create, MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
             int remote_leader, int tag, MPI_Comm *newintercomm)
MPI_FUNCTION(Intercomm_create_from_groups, MPI_Group local_group, int local_leader,
             MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info,
             MPI_Errhandler errhandler, MPI_Comm *newintercomm)
MPI_FUNCTION(Intercomm_merge, MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
MPI_FUNCTION(Close_port, const char *port_name)
MPI_FUNCTION(Comm_accept, const char *port_name, MPI_Info info, int root, MPI_Comm comm,
             MPI_Comm *newcomm)
MPI_FUNCTION(Comm_connect, const char *port_name, MPI_Info info, int root, MPI_Comm comm,
             MPI_Comm *newcomm)
MPI_FUNCTION(Comm_disconnect, MPI_Comm *comm)
MPI_FUNCTION(Comm_get_parent, MPI_Comm *parent)
MPI_FUNCTION(Comm_join, int fd, MPI_Comm *intercomm)
MPI_FUNCTION(Comm_spawn, const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
             MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
MPI_FUNCTION(Comm_spawn_multiple, int count, char *array_of_commands[], char **array_of_argv[],
             const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
             MPI_Comm *intercomm, int array_of_errcodes[])
MPI_FUNCTION(Lookup_name, const char *service_name, MPI_Info info, char *port_name)
MPI_FUNCTION(Open_port, MPI_Info info, char *port_name)
MPI_FUNCTION(Publish_name, const char *service_name, MPI_Info info, const char *port_name)
MPI_FUNCTION(Unpublish_name, const char *service_name, MPI_Info info, const char *port_name)
MPI_FUNCTION(Cart_coords, MPI_Comm comm, int rank, int maxdims, int coords[])
MPI_FUNCTION(Cart_create, MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
             int reorder, MPI_Comm *comm_cart)
MPI_FUNCTION(Cart_get, MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
MPI_FUNCTION(Cart_map, MPI_Comm comm, int ndims, const int dims[], const int periods[],
             int *newrank)
MPI_FUNCTION(Cart_rank, MPI_Comm comm, const int coords[], int *rank)
MPI_FUNCTION(Cart_shift, MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
MPI_FUNCTION(Cart_sub, MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
MPI_FUNCTION(Cartdim_get, MPI_Comm comm, int *ndims)
MPI_FUNCTION(Dims_create, int nnodes, int ndims, int dims[])
MPI_FUNCTION(Dist_graph_create, MPI_Comm comm_old, int n, const int sources[], const int degrees[],
             const int destinations[], const int weights[], MPI_Info info, int reorder,
             MPI_Comm *comm_dist_graph)
MPI_FUNCTION(Dist_graph_create_adjacent, MPI_Comm comm_old, int indegree, const int sources[],
             const int sourceweights[], int outdegree, const int destinations[],
             const int destweights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
MPI_FUNCTION(Dist_graph_neighbors, MPI_Comm comm, int maxindegree, int sources[],
             int sourceweights[], int maxoutdegree, int destinations[], int destweights[])
MPI_FUNCTION(Dist_graph_neighbors_count, MPI_Comm comm, int *indegree, int *outdegree,
             int *weighted)
MPI_FUNCTION(Graph_create, MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
             int reorder, MPI_Comm *comm_graph)
MPI_FUNCTION(Graph_get, MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
MPI_FUNCTION(Graph_map, MPI_Comm comm, int nnodes, const int index[], const int edges[],
             int *newrank)
MPI_FUNCTION(Graph_neighbors, MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
MPI_FUNCTION(Graph_neighbors_count, MPI_Comm comm, int rank, int *nneighbors)
MPI_FUNCTION(Graphdims_get, MPI_Comm comm, int *nnodes, int *nedges)
MPI_FUNCTION(Topo_test, MPI_Comm comm, int *status)
MPI_FUNCTION(Get_address, const void *location, MPI_Aint *address)
MPI_FUNCTION(Type_commit, MPI_Datatype *datatype)
MPI_FUNCTION(Type_create_f90_complex, int p, int r, MPI_Datatype *newtype)
MPI_FUNCTION(Type_create_f90_integer, int r, MPI_Datatype *newtype)
MPI_FUNCTION(Type_create_f90_real, int p, int r, MPI_Datatype *newtype)
MPI_FUNCTION(Type_dup, MPI_Datatype oldtype, MPI_Datatype *newtype)
MPI_FUNCTION(Type_free, MPI_Datatype *datatype)
MPI_FUNCTION(Type_get_extent_x, MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
MPI_FUNCTION(Type_get_name, MPI_Datatype datatype, char *type_name, int *resultlen)
MPI_FUNCTION(Type_get_true_extent_x, MPI_Datatype datatype, MPI_Count *true_lb,
             MPI_Count *true_extent)
MPI_FUNCTION(Type_match_size, int typeclass, int size, MPI_Datatype *datatype)
MPI_FUNCTION(Type_get_value_index, MPI_Datatype value_type, MPI_Datatype index_type,
             MPI_Datatype *pair_type)
MPI_FUNCTION(Type_set_name, MPI_Datatype datatype, const char *type_name)
MPI_FUNCTION(Type_size_x, MPI_Datatype datatype, MPI_Count *size)
MPI_FUNCTION(Get_elements_x, const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
MPI_FUNCTION(Status_set_cancelled, MPI_Status *status, int flag)
MPI_FUNCTION(Status_set_elements_x, MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
MPI_FUNCTION(Status_get_error, const MPI_Status *status, int *err)
MPI_FUNCTION(Status_get_source, const MPI_Status *status, int *source)
MPI_FUNCTION(Status_get_tag, const MPI_Status *status, int *tag)
MPI_FUNCTION(Status_set_error, MPI_Status *status, int err)
MPI_FUNCTION(Status_set_source, MPI_Status *status, int source)
MPI_FUNCTION(Status_set_tag, MPI_Status *status, int tag)
MPI_FUNCTION(Test_cancelled, const MPI_Status *status, int *flag)
MPI_FUNCTION(Op_commutative, MPI_Op op, int *commute)
MPI_FUNCTION(Op_free, MPI_Op *op)
MPI_FUNCTION(Probe, int source, int tag, MPI_Comm comm, MPI_Status *status)
MPI_FUNCTION(Iprobe, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
MPI_FUNCTION(Mprobe, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
MPI_FUNCTION(Improbe, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
             MPI_Status *status)
MPI_FUNCTION(Buffer_flush, void)
MPI_FUNCTION(Buffer_iflush, MPI_Request *request)
MPI_FUNCTION(Comm_flush_buffer, MPI_Comm comm)
MPI_FUNCTION(Comm_iflush_buffer, MPI_Comm comm, MPI_Request *request)
MPI_FUNCTION(Session_flush_buffer, MPI_Session session)
MPI_FUNCTION(Session_iflush_buffer, MPI_Session session, MPI_Request *request)
MPI_FUNCTION(Psend_init, const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
             int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_FUNCTION(Precv_init, void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
             int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_FUNCTION(Start, MPI_Request *request)
MPI_FUNCTION(Startall, int count, MPI_Request array_of_requests[])
MPI_FUNCTION(Pready, int partition, MPI_Request request)
MPI_FUNCTION(Pready_list, int length, const int array_of_partitions[], MPI_Request request)
MPI_FUNCTION(Pready_range, int partition_low, int partition_high, MPI_Request request)
MPI_FUNCTION(Parrived, MPI_Request request, int partition, int *flag)
MPI_FUNCTION(Cancel, MPI_Request *request)
MPI_FUNCTION(Request_free, MPI_Request *request)
MPI_FUNCTION(Request_get_status, MPI_Request request, int *flag, MPI_Status *status)
MPI_FUNCTION(Request_get_status_all, int count, const MPI_Request array_of_requests[], int *flag,
             MPI_Status array_of_statuses[])
MPI_FUNCTION(Request_get_status_any, int count, const MPI_Request array_of_requests[], int *index,
             int *flag, MPI_Status *status)
MPI_FUNCTION(Request_get_status_some, int incount, const MPI_Request array_of_requests[],
             int *outcount, int array_of_indices[], MPI_Status array_of_statuses[])
MPI_FUNCTION(Grequest_start, MPI_Grequest_query_function *query_fn,
             MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn,
             void *extra_state, MPI_Request *request)
MPI_FUNCTION(Grequest_complete, MPI_Request request)
MPI_FUNCTION(Wait, MPI_Request *request, MPI_Status *status)
MPI_FUNCTION(Waitall, int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
MPI_FUNCTION(Waitany, int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
MPI_FUNCTION(Waitsome, int incount, MPI_Request array_of_requests[], int *outcount,
             int array_of_indices[], MPI_Status array_of_statuses[])
MPI_FUNCTION(Test, MPI_Request *request, int *flag, MPI_Status *status)
MPI_FUNCTION(Testall, int count, MPI_Request array_of_requests[], int *flag,
             MPI_Status array_of_statuses[])
MPI_FUNCTION(Testany, int count, MPI_Request array_of_requests[], int *index, int *flag,
             MPI_Status *status)
MPI_FUNCTION(Testsome, int incount, MPI_Request array_of_requests[], int *outcount,
             int array_of_indices[], MPI_Status array_of_statuses[])
MPI_FUNCTION(Barrier, MPI_Comm comm)
MPI_FUNCTION(Ibarrier, MPI_Comm comm, MPI_Request *request)
MPI_FUNCTION(Barrier_init, MPI_Comm comm, MPI_Info info, MPI_Request *request)
MPI_FUNCTION(Compare_and_swap, const void *origin_addr, const void *compare_addr, void *result_addr,
             MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
MPI_FUNCTION(Fetch_and_op, const void *origin_addr, void *result_addr, MPI_Datatype datatype,
             int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
MPI_FUNCTION(Win_create_dynamic, MPI_Info info, MPI_Comm comm, MPI_Win *win)
MPI_FUNCTION(Win_free, MPI_Win *win)
MPI_FUNCTION(Win_attach, MPI_Win win, void *base, MPI_Aint size)
MPI_FUNCTION(Win_detach, MPI_Win win, const void *base)
MPI_FUNCTION(Win_get_group, MPI_Win win, MPI_Group *group)
MPI_FUNCTION(Win_get_info, MPI_Win win, MPI_Info *info_used)
MPI_FUNCTION(Win_get_name, MPI_Win win, char *win_name, int *resultlen)
MPI_FUNCTION(Win_set_info, MPI_Win win, MPI_Info info)
MPI_FUNCTION(Win_set_name, MPI_Win win, const char *win_name)
MPI_FUNCTION(Win_complete, MPI_Win win)
MPI_FUNCTION(Win_fence, int assert, MPI_Win win)
MPI_FUNCTION(Win_flush, int rank, MPI_Win win)
MPI_FUNCTION(Win_flush_all, MPI_Win win)
MPI_FUNCTION(Win_flush_local, int rank, MPI_Win win)
MPI_FUNCTION(Win_flush_local_all, MPI_Win win)
MPI_FUNCTION(Win_lock, int lock_type, int rank, int assert, MPI_Win win)
MPI_FUNCTION(Win_lock_all, int assert, MPI_Win win)
MPI_FUNCTION(Win_post, MPI_Group group, int assert, MPI_Win win)
MPI_FUNCTION(Win_start, MPI_Group group, int assert, MPI_Win win)
MPI_FUNCTION(Win_sync, MPI_Win win)
MPI_FUNCTION(Win_test, MPI_Win win, int *flag)
MPI_FUNCTION(Win_unlock, int rank, MPI_Win win)
MPI_FUNCTION(Win_unlock_all, MPI_Win win)
MPI_FUNCTION(Win_wait, MPI_Win win)
MPI_FUNCTION(File_open, MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
MPI_FUNCTION(File_close, MPI_File *fh)
MPI_FUNCTION(File_delete, const char *filename, MPI_Info info)
MPI_FUNCTION(File_get_amode, MPI_File fh, int *amode)
MPI_FUNCTION(File_get_atomicity, MPI_File fh, int *flag)
MPI_FUNCTION(File_get_byte_offset, MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
MPI_FUNCTION(File_get_group, MPI_File fh, MPI_Group *group)
MPI_FUNCTION(File_get_info, MPI_File fh, MPI_Info *info_used)
MPI_FUNCTION(File_get_position, MPI_File fh, MPI_Offset *offset)
MPI_FUNCTION(File_get_position_shared, MPI_File fh, MPI_Offset *offset)
MPI_FUNCTION(File_get_size, MPI_File fh, MPI_Offset *size)
MPI_FUNCTION(File_get_view, MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
             MPI_Datatype *filetype, char *datarep)
MPI_FUNCTION(File_preallocate, MPI_File fh, MPI_Offset size)
MPI_FUNCTION(File_seek, MPI_File fh, MPI_Offset offset, int whence)
MPI_FUNCTION(File_seek_shared, MPI_File fh, MPI_Offset offset, int whence)
MPI_FUNCTION(File_set_atomicity, MPI_File fh, int flag)
MPI_FUNCTION(File_set_info, MPI_File fh, MPI_Info info)
MPI_FUNCTION(File_set_size, MPI_File fh, MPI_Offset size)
MPI_FUNCTION(File_set_view, MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
             const char *datarep, MPI_Info info)
MPI_FUNCTION(File_sync, MPI_File fh)
MPI_FUNCTION(File_read_all_end, MPI_File fh, void *buf, MPI_Status *status)
MPI_FUNCTION(File_read_at_all_end, MPI_File fh, void *buf, MPI_Status *status)
MPI_FUNCTION(File_read_ordered_end, MPI_File fh, void *buf, MPI_Status *status)
MPI_FUNCTION(File_write_all_end, MPI_File fh, const void *buf, MPI_Status *status)
MPI_FUNCTION(File_write_at_all_end, MPI_File fh, const void *buf, MPI_Status *status)
MPI_FUNCTION(File_write_ordered_end, MPI_File fh, const void *buf, MPI_Status *status)
MPI_FUNCTION(Type_get_contents, MPI_Datatype datatype, int max_integers, int max_addresses,
             int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
             MPI_Datatype array_of_datatypes[])
MPI_FUNCTION(Type_get_contents_c, MPI_Datatype datatype, MPI_Count max_integers,
             MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes,
             int array_of_integers[], MPI_Aint array_of_addresses[],
             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
MPI_FUNCTION(Type_get_envelope, MPI_Datatype datatype, int *num_integers, int *num_addresses,
             int *num_datatypes, int *combiner)
MPI_FUNCTION(Type_get_envelope_c, MPI_Datatype datatype, MPI_Count *num_integers,
             MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes,
             int *combiner)
MPI_FUNCTION(Op_create, MPI_User_function *user_fn, int commute, MPI_Op *op)
MPI_FUNCTION(Op_create_c, MPI_User_function_c *user_fn, int commute, MPI_Op *op)
MPI_FUNCTION(Register_datarep, const char *datarep,
             MPI_Datarep_conversion_function *read_conversion_fn,
             MPI_Datarep_conversion_function *write_conversion_fn,
             MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
MPI_FUNCTION(Register_datarep_c, const char *datarep,
             MPI_Datarep_conversion_function_c *read_conversion_fn,
             MPI_Datarep_conversion_function_c *write_conversion_fn,
             MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)

/* Functions that have a form for large counts, too. */
#define MPI_COUNTED(name, ...) MPI_FUNCTION(name, __VA_ARGS__)
#define MPI_COUNT_TYPE         int
#define MPI_DISPLACEMENT_TYPE  int
#define MPI_EXTENT_TYPE        MPI_Aint
#include "record/abi/counted.h"
#undef MPI_COUNTED
#undef MPI_COUNT_TYPE
#undef MPI_DISPLACEMENT_TYPE
#undef MPI_EXTENT_TYPE
#define MPI_COUNTED(name, ...) MPI_FUNCTION(name##_c, __VA_ARGS__)
#define MPI_COUNT_TYPE         MPI_Count
#define MPI_DISPLACEMENT_TYPE  MPI_Aint
#define MPI_EXTENT_TYPE        MPI_Count
#include "record/abi/counted.h"

#endif
