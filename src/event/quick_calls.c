#include "event/quick_calls.h"

#include <stddef.h>
#include <string.h>

/* Without MPI_. Not here: what copies data (Pack), takes lists (Type_indexed, Group_incl), calls
 * functions of the program (what sets, copies and deletes attributes), or may ask the system
 * (Alloc_mem, Get_processor_name). */
static const char quick[] =
    " Address Attr_get Cart_coords Cart_get Cart_rank Cart_shift Cartdim_get Comm_get_attr "
    "Comm_get_errhandler Comm_get_info Comm_get_name Comm_get_parent Comm_group Comm_rank "
    "Comm_remote_group Comm_remote_size Comm_set_errhandler Comm_set_name Comm_size "
    "Comm_test_inter Dims_create Dist_graph_neighbors_count Errhandler_free Errhandler_get "
    "Errhandler_set Error_class Error_string File_get_errhandler File_set_errhandler Finalized "
    "Get_address Get_count Get_elements Get_elements_x Get_library_version Get_version "
    "Graph_neighbors_count Graphdims_get Group_free Group_rank Group_size Info_create Info_delete "
    "Info_dup Info_free Info_get Info_get_nkeys Info_get_nthkey Info_get_string "
    "Info_get_valuelen Info_set Initialized Is_thread_main Op_commutative Op_create Op_free "
    "Pack_external_size Pack_size Query_thread Request_get_status Status_set_cancelled "
    "Status_set_elements Status_set_elements_x Test_cancelled Topo_test Type_contiguous "
    "Type_create_hvector Type_create_resized Type_extent Type_get_attr Type_get_envelope "
    "Type_get_extent Type_get_extent_x Type_get_name Type_get_true_extent "
    "Type_get_true_extent_x Type_hvector Type_lb Type_match_size Type_set_name Type_size "
    "Type_size_x Type_ub Type_vector Win_get_attr Win_get_errhandler Win_get_group Win_get_info "
    "Win_get_name Win_set_errhandler Win_set_name ";

bool rfn_call_is_quick(const char *name)
{
    static const char prefix[] = "MPI_", large[] = "_c";
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    name += strlen(prefix);
    size_t n = strlen(name);
    if (n > strlen(large) && strcmp(name + n - strlen(large), large) == 0)
        n -= strlen(large);
    for (const char *at = quick; (at = strchr(at, ' ')) && at[1]; at++) {
        if (strncmp(at + 1, name, n) == 0 && at[1 + n] == ' ')
            return n > 0;
    }
    return false;
}
