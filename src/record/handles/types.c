/* Datatypes: from handle to content.
 *
 * A handle seen for the first time is taken apart with MPI_Type_get_envelope and _get_contents;
 * what comes out is serialized (event/datatype.h), children first, and the bytes are looked up by
 * their hash, which is also what parents and archives know a type by. The number found is kept
 * under the handle, behind a direct-mapped cache, until the handle is freed: MPI uses handles
 * again.
 *
 * Derived types that MPI_Type_get_contents returns are new references, to be freed here. They may
 * have a handle of their own, so they are looked up in the map (a handle in it is alive and means
 * what the map says) but not entered.
 */
#include "record/handles/types.h"
#include "base/buf.h"
#include "base/grow.h"
#include "base/map.h"
#include "event/datatype.h"
#include "record/core/tables.h"
#include "record/handles/params.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_BITS = 8 };

struct cached {
    uint64_t key;
    const struct rec_type *type; /* NULL: free */
};

static struct cached cache[1 << CACHE_BITS];
static struct rec_type **types;
static uint32_t n_types;
static size_t types_capacity;
static struct rfn_map by_handle; /* handle to number */
static struct rfn_map by_hash;   /* hash of the content to number */
static uint64_t removals;        /* of handles, see tables.h */

/* ---- what MPI says ---- */

struct contents {
    int combiner; /* MPI's */
    MPI_Count n_integers, n_addresses, n_large, n_children;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *large;
    MPI_Datatype *children;
};

static void release_contents(struct contents *contents)
{
    free(contents->integers);
    free(contents->addresses);
    free(contents->large);
    free(contents->children);
}

/* A library may be older than the header that the recorder was built with, hence the NULLs. */
static int envelope(MPI_Datatype type, struct contents *c)
{
#if MPI_VERSION >= 4
    if (rec_mpi.MPI_Type_get_envelope_c)
        return rec_mpi.MPI_Type_get_envelope_c(type, &c->n_integers, &c->n_addresses, &c->n_large,
                                               &c->n_children, &c->combiner);
#endif
    int n_integers = 0, n_addresses = 0, n_children = 0;
    int rc = rec_mpi.MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_children,
                                           &c->combiner);
    c->n_integers = n_integers;
    c->n_addresses = n_addresses;
    c->n_children = n_children;
    return rc;
}

static int fill(MPI_Datatype type, struct contents *c)
{
#if MPI_VERSION >= 4
    if (rec_mpi.MPI_Type_get_contents_c)
        return rec_mpi.MPI_Type_get_contents_c(type, c->n_integers, c->n_addresses, c->n_large,
                                               c->n_children, c->integers, c->addresses, c->large,
                                               c->children);
#endif
    return rec_mpi.MPI_Type_get_contents(type, (int)c->n_integers, (int)c->n_addresses,
                                         (int)c->n_children, c->integers, c->addresses,
                                         c->children);
}

/* An array that is not NULL even if it is empty: some MPIs insist. */
static void *array(MPI_Count n, size_t size)
{
    return calloc((size_t)n + 1, size);
}

/* Contents of a type; when MPI does not tell, those of a type with nothing known. RFN_E_NOMEM. */
static int get_contents(MPI_Datatype type, struct contents *c)
{
    *c = (struct contents){.combiner = -1};
    if (envelope(type, c) != MPI_SUCCESS) {
        *c = (struct contents){.combiner = -1};
        return 0;
    }
    if (c->combiner == MPI_COMBINER_NAMED)
        return 0;
    c->integers = array(c->n_integers, sizeof *c->integers);
    c->addresses = array(c->n_addresses, sizeof *c->addresses);
    c->large = array(c->n_large, sizeof *c->large);
    c->children = array(c->n_children, sizeof *c->children);
    bool complete = c->integers && c->addresses && c->large && c->children;
    if (!complete || fill(type, c) != MPI_SUCCESS) {
        release_contents(c);
        *c = (struct contents){.combiner = -1};
    }
    return complete ? 0 : RFN_E_NOMEM;
}

static enum rfn_combiner combiner_of(int combiner)
{
    switch (combiner) {
    case MPI_COMBINER_NAMED:
        return RFN_COMBINER_NAMED;
    case MPI_COMBINER_DUP:
        return RFN_COMBINER_DUP;
    case MPI_COMBINER_CONTIGUOUS:
        return RFN_COMBINER_CONTIGUOUS;
    case MPI_COMBINER_VECTOR:
        return RFN_COMBINER_VECTOR;
    case MPI_COMBINER_HVECTOR:
        return RFN_COMBINER_HVECTOR;
    case MPI_COMBINER_INDEXED:
        return RFN_COMBINER_INDEXED;
    case MPI_COMBINER_HINDEXED:
        return RFN_COMBINER_HINDEXED;
    case MPI_COMBINER_INDEXED_BLOCK:
        return RFN_COMBINER_INDEXED_BLOCK;
    case MPI_COMBINER_HINDEXED_BLOCK:
        return RFN_COMBINER_HINDEXED_BLOCK;
    case MPI_COMBINER_STRUCT:
        return RFN_COMBINER_STRUCT;
    case MPI_COMBINER_SUBARRAY:
        return RFN_COMBINER_SUBARRAY;
    case MPI_COMBINER_DARRAY:
        return RFN_COMBINER_DARRAY;
    case MPI_COMBINER_F90_REAL:
        return RFN_COMBINER_F90_REAL;
    case MPI_COMBINER_F90_COMPLEX:
        return RFN_COMBINER_F90_COMPLEX;
    case MPI_COMBINER_F90_INTEGER:
        return RFN_COMBINER_F90_INTEGER;
    case MPI_COMBINER_RESIZED:
        return RFN_COMBINER_RESIZED;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    case MPI_COMBINER_VALUE_INDEX:
        return RFN_COMBINER_VALUE_INDEX;
#endif
/* MPI-3 removed these three: Open MPI's header makes their names an error, the ABI has none. */
#if !defined OMPI_MAJOR_VERSION && !defined RFN_FLAVOUR_MPIABI
    case MPI_COMBINER_HVECTOR_INTEGER:
        return RFN_COMBINER_HVECTOR_INTEGER;
    case MPI_COMBINER_HINDEXED_INTEGER:
        return RFN_COMBINER_HINDEXED_INTEGER;
    case MPI_COMBINER_STRUCT_INTEGER:
        return RFN_COMBINER_STRUCT_INTEGER;
#endif
    default:
        return RFN_COMBINER_OTHER;
    }
}

/* ---- content ---- */

struct sizes {
    MPI_Count size, lb, extent, true_lb, true_extent;
};

/* A lower bound of 4 GiB or more is an address, not a distance within somebody's data. */
static bool is_address(MPI_Count value)
{
    return value >= (MPI_Count)1 << 32 || value <= -((MPI_Count)1 << 32);
}

/* Takes away what depends on where things lie in memory. */
static bool make_relative(struct sizes *sizes, struct contents *contents)
{
    if (!is_address(sizes->true_lb))
        return false;
    sizes->true_lb = is_address(sizes->lb) ? sizes->true_lb - sizes->lb : 0;
    if (is_address(sizes->lb))
        sizes->lb = 0;
    MPI_Aint low = PTRDIFF_MAX, *addresses = contents->addresses;
    for (MPI_Count i = 0; i < contents->n_addresses; i++) {
        if (is_address(addresses[i]) && addresses[i] < low)
            low = addresses[i];
    }
    for (MPI_Count i = 0; i < contents->n_addresses; i++)
        addresses[i] -= is_address(addresses[i]) ? low : 0;
    return true;
}

static void write_content(struct rfn_buf *buf, MPI_Datatype type, struct contents *contents,
                          const uint64_t *children)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    struct sizes sizes = {0};
    rec_mpi.MPI_Type_size_x(type, &sizes.size);
    rec_mpi.MPI_Type_get_extent_x(type, &sizes.lb, &sizes.extent);
    rec_mpi.MPI_Type_get_true_extent_x(type, &sizes.true_lb, &sizes.true_extent);
    bool absolute = make_relative(&sizes, contents);
    enum rfn_combiner combiner = combiner_of(contents->combiner);
    rfn_buf_varint(buf, (uint64_t)combiner | (absolute ? RFN_COMBINER_ABSOLUTE : 0));
    if (combiner == RFN_COMBINER_NAMED) {
        bool named = rec_mpi.MPI_Type_get_name(type, name, &length) == MPI_SUCCESS;
        rfn_buf_string(buf, named ? name : "");
    }
    rfn_buf_svarint(buf, sizes.size);
    rfn_buf_svarint(buf, sizes.lb);
    rfn_buf_svarint(buf, sizes.extent);
    rfn_buf_svarint(buf, sizes.true_lb);
    rfn_buf_svarint(buf, sizes.true_extent);
    rfn_buf_varint(buf, (uint64_t)contents->n_integers + (uint64_t)contents->n_large);
    for (MPI_Count i = 0; i < contents->n_integers; i++)
        rfn_buf_svarint(buf, contents->integers[i]);
    for (MPI_Count i = 0; i < contents->n_large; i++)
        rfn_buf_svarint(buf, contents->large[i]);
    rfn_buf_varint(buf, (uint64_t)contents->n_addresses);
    for (MPI_Count i = 0; i < contents->n_addresses; i++)
        rfn_buf_svarint(buf, contents->addresses[i]);
    rfn_buf_varint(buf, (uint64_t)contents->n_children);
    for (MPI_Count i = 0; i < contents->n_children; i++)
        rfn_buf_u64(buf, children[i]);
}

/* ---- the table ---- */

/* The type with this content; NULL without memory. */
static struct rec_type *intern(const struct rfn_buf *buf, int64_t size, bool predefined)
{
    if (buf->failed)
        return NULL;
    uint64_t hash = rfn_hash_bytes(buf->data, buf->size);
    const uint64_t *known = rfn_map_get(&by_hash, hash);
    if (known)
        return types[*known];
    struct rec_type *type = malloc(sizeof *type + buf->size);
    if (!type)
        return NULL;
    uint8_t *content = (uint8_t *)(type + 1);
    memcpy(content, buf->data, buf->size);
    *type = (struct rec_type){.number = n_types,
                              .predefined = predefined,
                              .size = size,
                              .hash = hash,
                              .content = content,
                              .content_size = buf->size};
    if (RFN_GROW(types, types_capacity, n_types + 1) < 0 ||
        rfn_map_put(&by_hash, hash, n_types) < 0) {
        free(type);
        return NULL;
    }
    return types[n_types++] = type;
}

static struct rec_type *describe(MPI_Datatype type);

/* All children, whatever happens: their references must be freed. Without memory for a description
 * a reference to what may be a predefined type is rather lost than freed. */
static int child_hashes(const struct contents *contents, uint64_t **hashes)
{
    *hashes = array(contents->n_children, sizeof **hashes);
    int error = *hashes ? 0 : RFN_E_NOMEM;
    for (MPI_Count i = 0; i < contents->n_children; i++) {
        MPI_Datatype child = contents->children[i];
        const uint64_t *known = rfn_map_get(&by_handle, REC_KEY(child));
        const struct rec_type *type = known ? types[*known] : describe(child);
        if (!type)
            error = RFN_E_NOMEM;
        else if (*hashes)
            (*hashes)[i] = type->hash;
        if (type && !type->predefined)
            rec_mpi.MPI_Type_free(&child);
    }
    return error;
}

/* Takes a type apart and finds its entry; NULL without memory. */
static struct rec_type *describe(MPI_Datatype type)
{
    struct contents contents;
    struct rec_type *result = NULL;
    uint64_t *hashes = NULL;
    struct rfn_buf buf = RFN_BUF_INIT;
    int error = get_contents(type, &contents);
    if (error == 0)
        error = child_hashes(&contents, &hashes);
    if (error == 0) {
        MPI_Count size = 0;
        rec_mpi.MPI_Type_size_x(type, &size);
        write_content(&buf, type, &contents, hashes);
        /* Types that exist without being made are never freed. One that does not tell how it was
         * made is taken for such a type. */
        const int combiner = contents.combiner;
        bool predefined = combiner < 0 || combiner == MPI_COMBINER_NAMED ||
                          combiner == MPI_COMBINER_F90_REAL ||
                          combiner == MPI_COMBINER_F90_COMPLEX ||
                          combiner == MPI_COMBINER_F90_INTEGER;
        result = intern(&buf, size, predefined);
    }
    rfn_buf_release(&buf);
    free(hashes);
    release_contents(&contents);
    return result;
}

/* made: by a call of the program, and not just seen. A type that is only seen in a call from
 * Fortran may be one that MPI's Fortran library has made for an array section: it will free the
 * handle where nobody sees it, and another type may get it. Such a handle is not kept. */
static const struct rec_type *find_slowly(MPI_Datatype handle, bool made)
{
    uint64_t key = REC_KEY(handle);
    const uint64_t *known = rfn_map_get(&by_handle, key);
    const struct rec_type *type = NULL;
    if (known) {
        type = types[*known];
    } else {
        if (handle == MPI_DATATYPE_NULL)
            return NULL;
        type = describe(handle);
        if (type && !made && !type->predefined && rec_this_stream && rec_this_stream->in_fortran)
            return type;
        if (!type || rfn_map_put(&by_handle, key, type->number) < 0) {
            rec_stop("out of memory for datatypes");
            return NULL;
        }
    }
    cache[rec_key_place(key, CACHE_BITS)] = (struct cached){key, type};
    return type;
}

static inline const struct rec_type *find(MPI_Datatype handle)
{
    uint64_t key = REC_KEY(handle);
    struct cached *cached = &cache[rec_key_place(key, CACHE_BITS)];
    if (__builtin_expect(cached->key == key && cached->type, 1))
        return cached->type;
    return find_slowly(handle, false);
}

/* With several threads: without the lock when this one has looked the handle up before. */
__attribute__((noinline)) static const struct rec_type *find_threaded(MPI_Datatype handle)
{
    uint64_t key = REC_KEY(handle);
    struct rec_stream *stream = rec_this_stream;
    struct rec_find *recent = NULL;
    if (stream) {
        recent = &stream->recent.types[rec_key_place(key, REC_RECENT_TYPE_BITS)];
        if (__builtin_expect(rec_find_holds(recent, key, &removals), 1))
            return recent->what;
    }
    rec_lock();
    const struct rec_type *found = find(handle);
    const struct cached *cached = &cache[rec_key_place(key, CACHE_BITS)];
    uint64_t now = removals;
    bool stays = cached->key == key && cached->type == found; /* or see find_slowly */
    rec_unlock();
    if (recent && stays)
        *recent = (struct rec_find){key, now, found, 0, NULL};
    return found;
}

static inline const struct rec_type *look_up(MPI_Datatype handle)
{
    return __builtin_expect(rec_threads_multiple, 0) ? find_threaded(handle) : find(handle);
}

static void forget(MPI_Datatype handle)
{
    uint64_t key = REC_KEY(handle);
    if (!rfn_map_get(&by_handle, key))
        return;
    rec_count_removal(&removals);
    rfn_map_remove(&by_handle, key);
    struct cached *cached = &cache[rec_key_place(key, CACHE_BITS)];
    if (cached->key == key)
        cached->type = NULL;
}

uint32_t rec_types_count(void)
{
    return n_types;
}

const struct rec_type *rec_type(uint32_t number)
{
    return number < n_types ? types[number] : NULL;
}

void rec_types_release(void)
{
    for (uint32_t i = 0; i < n_types; i++)
        free(types[i]);
    free(types);
    types = NULL;
    n_types = 0;
    types_capacity = 0;
    rfn_map_release(&by_handle);
    rfn_map_release(&by_hash);
    memset(cache, 0, sizeof cache);
    rec_count_removal(&removals);
}

/* ---- words ---- */

int64_t rec_type_word(MPI_Datatype type)
{
    const struct rec_type *found = look_up(type);
    if (__builtin_expect(found != NULL, 1))
        return found->number;
    return type == MPI_DATATYPE_NULL ? -1 : RFN_UNKNOWN;
}

void rec_in_type(struct rec_call *call, MPI_Datatype type)
{
    rec_push_in(call, rec_type_word(type));
}

void rec_out_type(struct rec_call *call, MPI_Datatype type)
{
    int64_t word = RFN_UNKNOWN;
    if (rec_has_outcome(call)) {
        rec_lock();
        forget(type); /* a handle that was freed where nobody saw it */
        find_slowly(type, true);
        rec_unlock();
        word = rec_type_word(type);
    }
    rec_push_out(call, word);
}

void rec_free_type(struct rec_call *call, MPI_Datatype type)
{
    rec_lock();
    const uint64_t *number = rfn_map_get(&by_handle, REC_KEY(type));
    call->scratch.removed = number ? (int64_t)*number + 1 : 0;
    forget(type);
    rec_unlock();
}

void rec_freed_type(struct rec_call *call, MPI_Datatype type)
{
    int64_t number = call->scratch.removed - 1;
    call->scratch.removed = 0;
    if (call->rc == MPI_SUCCESS || number < 0)
        return;
    rec_lock();
    if (rfn_map_put(&by_handle, REC_KEY(type), (uint64_t)number) < 0)
        rec_stop("out of memory for datatypes");
    rec_unlock();
}

int64_t rec_type_size(MPI_Datatype type)
{
    const struct rec_type *found = look_up(type);
    return found ? found->size : -1;
}
