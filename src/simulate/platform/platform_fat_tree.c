/* platform_fat_tree.c - extended generalized fat trees (Zahavi, D-Mod-K Routing Providing
 * Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees, 2010).
 *
 * Level 0 are hosts, the levels above it switches. A node is a label, a digit per level: nodes of
 * one level are numbered by their labels, the first digit the lowest. Digit i of a node below or at
 * level i says which child it is of the node above, at higher levels which of the parents. So a
 * node and its parent have labels that differ in one digit, and nothing of the tree has to be
 * stored.
 *
 * Up, the link is chosen by the destination; down there is one way, over parallel links chosen by
 * the source.
 */
#include "simulate/platform/platform_internal.h"

struct node {
    uint32_t level, label[RFN_MOST_DIMENSIONS];
};

/* How many values a digit has at a level. */
static uint32_t radix(const struct rfn_fat_tree *tree, uint32_t level, uint32_t digit)
{
    return digit >= level ? tree->children[digit] : tree->parents[digit];
}

static struct node node_at(const struct rfn_fat_tree *tree, uint32_t level, uint32_t position)
{
    struct node node = {.level = level};
    for (uint32_t i = 0; i < tree->levels; i++) {
        node.label[i] = position % radix(tree, level, i);
        position /= radix(tree, level, i);
    }
    return node;
}

static uint32_t position_of(const struct rfn_fat_tree *tree, const struct node *node)
{
    uint32_t position = 0;
    for (uint32_t i = tree->levels; i-- > 0;)
        position = position * radix(tree, node->level, i) + node->label[i];
    return position;
}

/* ---- what there is ---- */

static int count_nodes(struct rfn_platform *platform, struct rfn_regular *regular)
{
    struct rfn_fat_tree *tree = &regular->fat_tree;
    uint64_t pairs = 0;
    for (uint32_t level = 0; level <= tree->levels; level++) {
        uint64_t nodes = 1;
        for (uint32_t i = 0; i < tree->levels && nodes <= RFN_MOST_HOSTS; i++)
            nodes *= radix(tree, level, i);
        if (nodes > RFN_MOST_HOSTS)
            return rfn_platform_fail(platform, RFN_E_UNSUPPORTED,
                                     "a fat tree of more than %d hosts, or switches of a level",
                                     RFN_MOST_HOSTS);
        tree->nodes[level] = (uint32_t)nodes;
        if (level == tree->levels)
            break;
        tree->first_pair[level] = (uint32_t)pairs;
        const uint64_t up = (uint64_t)tree->parents[level] * tree->ports[level];
        pairs = up > RFN_MOST_LINKS ? up : pairs + nodes * up;
        if (pairs > RFN_MOST_LINKS)
            return rfn_platform_fail(platform, RFN_E_UNSUPPORTED,
                                     "a fat tree of more than %d links", RFN_MOST_LINKS);
    }
    regular->hosts = tree->nodes[0];
    return 0;
}

int rfn_fat_tree_shape(struct rfn_platform *platform, struct rfn_regular *regular,
                       const char *shape)
{
    struct rfn_fat_tree *tree = &regular->fat_tree;
    uint32_t levels, children, parents, ports;
    RFN_TRY(rfn_platform_numbers(platform, &shape, &tree->levels, 1, &levels));
    RFN_TRY(rfn_platform_numbers(platform, &shape, tree->children, RFN_MOST_DIMENSIONS, &children));
    RFN_TRY(rfn_platform_numbers(platform, &shape, tree->parents, RFN_MOST_DIMENSIONS, &parents));
    RFN_TRY(rfn_platform_numbers(platform, &shape, tree->ports, RFN_MOST_DIMENSIONS, &ports));
    levels = tree->levels;
    if (*shape || levels != children || levels != parents || levels != ports)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "topo_parameters of a FAT_TREE are its levels, and of each level "
                                 "children, parents and parallel links, such as 2;4,4;1,2;1,2");
    return count_nodes(platform, regular);
}

/* SimGrid's number of a switch, counted down from twice the hosts. */
static uint32_t switch_id(const struct rfn_fat_tree *tree, uint32_t level, uint32_t position)
{
    uint32_t before = position;
    for (uint32_t i = 1; i < level; i++)
        before += tree->nodes[i];
    return 2 * tree->nodes[0] - 1 - before;
}

static uint32_t node_id(const struct rfn_fat_tree *tree, uint32_t level, uint32_t position)
{
    return level ? switch_id(tree, level, position) : position;
}

/* The links from a node to those above it, in the order of their numbers. */
static int add_links_up(struct rfn_platform *platform, const struct rfn_fat_tree *tree,
                        const struct rfn_cluster *cluster, uint32_t level, uint32_t position)
{
    struct node above = node_at(tree, level, position);
    above.level++;
    for (uint32_t i = 0; i < tree->parents[level]; i++) {
        above.label[level] = i;
        const uint32_t parent = node_id(tree, level + 1, position_of(tree, &above));
        for (uint32_t port = 0; port < tree->ports[level]; port++)
            RFN_TRY(
                rfn_platform_add_pair(platform, cluster,
                                      rfn_platform_print(platform, "link_from_%d_%d_%u",
                                                         (int)node_id(tree, level, position),
                                                         (int)parent, platform->fat_tree_pairs++),
                                      1));
    }
    return 0;
}

int rfn_fat_tree_links(struct rfn_platform *platform, struct rfn_regular *regular,
                       const struct rfn_cluster *cluster)
{
    struct rfn_fat_tree *tree = &regular->fat_tree;
    tree->first_position = platform->fat_tree_leaves;
    platform->fat_tree_leaves += tree->nodes[0];
    tree->first_limiter = (uint32_t)platform->n_links;
    for (uint32_t level = 1; level <= tree->levels && regular->limiter; level++)
        for (uint32_t i = 0; i < tree->nodes[level]; i++)
            RFN_TRY(rfn_platform_add_limiter(platform, cluster, switch_id(tree, level, i)));
    regular->first_pair = (uint32_t)platform->n_links;
    for (uint32_t level = 0; level < tree->levels; level++)
        for (uint32_t i = 0; i < tree->nodes[level]; i++)
            RFN_TRY(add_links_up(platform, tree, cluster, level, i));
    return 0;
}

/* ---- routes ---- */

static int append_limiter(struct rfn_platform *platform, const struct rfn_regular *regular,
                          const struct node *node, struct rfn_route *route)
{
    const struct rfn_fat_tree *tree = &regular->fat_tree;
    uint32_t number = position_of(tree, node);
    if (!regular->limiter)
        return 0;
    if (!node->level)
        return rfn_platform_append(platform, route, rfn_host_limiter(regular, number));
    for (uint32_t i = 1; i < node->level; i++)
        number += tree->nodes[i];
    return rfn_platform_append(platform, route, tree->first_limiter + number);
}

/* The link between a node and its parent of this digit, and of this port. */
static uint32_t link_between(const struct rfn_regular *regular, const struct node *child,
                             uint32_t parent, uint32_t port, bool down)
{
    const struct rfn_fat_tree *tree = &regular->fat_tree;
    const uint32_t level = child->level, ports = tree->ports[level];
    const uint32_t pair = tree->first_pair[level] +
                          position_of(tree, child) * tree->parents[level] * ports + parent * ports +
                          port;
    return rfn_pair_link(regular, pair, down);
}

static bool is_below(const struct rfn_fat_tree *tree, const struct node *leaf,
                     const struct node *node)
{
    for (uint32_t i = node->level; i < tree->levels; i++)
        if (node->label[i] != leaf->label[i])
            return false;
    return node->level > 0;
}

/* position: of the destination among the leaves of all fat trees, as SimGrid counts them. */
static int go_up(struct rfn_platform *platform, const struct rfn_regular *regular,
                 uint64_t position, struct node *node, struct rfn_route *route)
{
    const struct rfn_fat_tree *tree = &regular->fat_tree;
    const uint32_t level = node->level, parents = tree->parents[level];
    for (uint32_t i = 0; i < level; i++)
        position /= tree->parents[i];
    const uint32_t choice = (uint32_t)(position % ((uint64_t)parents * tree->ports[level]));
    RFN_TRY(append_limiter(platform, regular, node, route));
    RFN_TRY(rfn_platform_append(
        platform, route, link_between(regular, node, choice % parents, choice / parents, false)));
    node->level++;
    node->label[level] = choice % parents;
    return 0;
}

/* Down to a child by the link of this number at the node. */
static int go_down(struct rfn_platform *platform, const struct rfn_regular *regular, uint32_t link,
                   struct node *node, struct rfn_route *route)
{
    const struct rfn_fat_tree *tree = &regular->fat_tree;
    const uint32_t level = node->level - 1, parent = node->label[level];
    struct node child = *node;
    child.level = level;
    child.label[level] = link % tree->children[level];
    RFN_TRY(rfn_platform_append(
        platform, route,
        link_between(regular, &child, parent, link / tree->children[level], true)));
    RFN_TRY(append_limiter(platform, regular, node, route));
    *node = child;
    return 0;
}

/* SimGrid looks for the link at a node from the port of the source on, and, where it goes on
 * looking at the child, from the number behind that on. */
static int go_down_to(struct rfn_platform *platform, const struct rfn_regular *regular,
                      uint64_t source, const struct node *leaf, struct node *node,
                      struct rfn_route *route)
{
    const struct rfn_fat_tree *tree = &regular->fat_tree;
    while (node->level) {
        uint32_t level = node->level - 1;
        uint32_t link = (uint32_t)(source % tree->ports[level]) * tree->children[level];
        for (; node->level && link < tree->children[level] * tree->ports[level]; link++) {
            if (link % tree->children[level] == leaf->label[level])
                RFN_TRY(go_down(platform, regular, link, node, route));
            level = node->level ? node->level - 1 : 0;
        }
    }
    return 0;
}

int rfn_fat_tree_route(struct rfn_platform *platform, const struct rfn_regular *regular,
                       uint32_t from, uint32_t to, struct rfn_route *route)
{
    const struct rfn_fat_tree *tree = &regular->fat_tree;
    struct node node = node_at(tree, 0, from);
    const struct node leaf = node_at(tree, 0, to);
    while (!is_below(tree, &leaf, &node))
        RFN_TRY(go_up(platform, regular, tree->first_position + to, &node, route));
    RFN_TRY(go_down_to(platform, regular, tree->first_position + from, &leaf, &node, route));
    return append_limiter(platform, regular, &leaf, route);
}
