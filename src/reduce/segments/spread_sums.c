#include "reduce/segments/spread_sums.h"

#include "base/grow.h"

#include <stdlib.h>

/* ---- sums ---- */

/* Makes the bins reach from `first` to `last`. */
static int reach(struct rfn_spread_sums *sums, unsigned first, unsigned last)
{
    unsigned from = sums->first_bin, end = from + sums->n_bins;
    if (sums->n_bins && from <= first && last < end)
        return 0;
    if (sums->n_bins) {
        first = from < first ? from : first;
        last = end - 1 > last ? end - 1 : last;
    }
    uint64_t *bins = calloc(last - first + (size_t)1, sizeof *bins);
    if (!bins)
        return RFN_E_NOMEM;
    for (unsigned i = 0; i < sums->n_bins; i++)
        bins[from - first + i] = sums->bins[i];
    free(sums->bins);
    sums->bins = bins;
    sums->first_bin = (uint8_t)first;
    sums->n_bins = (uint8_t)(last - first + 1);
    return 0;
}

static void widen(struct rfn_spread_sums *sums, uint64_t min, uint64_t max)
{
    if (!sums->n || min < sums->min)
        sums->min = min;
    if (!sums->n || max > sums->max)
        sums->max = max;
}

/* Adds a time whose bin is there, as nearly all are; false: it is not. */
static inline __attribute__((always_inline)) bool add_known(struct rfn_spread_sums *sums,
                                                            uint64_t time)
{
    unsigned at = rfn_spread_bin(time) - sums->first_bin;
    if (__builtin_expect(at >= sums->n_bins, 0))
        return false;
    sums->min = time < sums->min ? time : sums->min;
    sums->max = time > sums->max ? time : sums->max;
    sums->n++;
    sums->sum += time;
    sums->squares += (rfn_u128)time * time;
    sums->bins[at]++;
    return true;
}

__attribute__((noinline)) static int add_new(struct rfn_spread_sums *sums, uint64_t time)
{
    RFN_TRY(reach(sums, rfn_spread_bin(time), rfn_spread_bin(time)));
    widen(sums, time, time);
    add_known(sums, time);
    return 0;
}

int rfn_spread_sums_add(struct rfn_spread_sums *sums, uint64_t time)
{
    return add_known(sums, time) ? 0 : add_new(sums, time);
}

int rfn_spread_sums_merge(struct rfn_spread_sums *to, const struct rfn_spread_sums *from)
{
    if (!from->n)
        return 0;
    RFN_TRY(reach(to, from->first_bin, from->first_bin + from->n_bins - 1u));
    widen(to, from->min, from->max);
    to->n += from->n;
    to->sum += from->sum;
    to->squares += from->squares;
    for (unsigned i = 0; i < from->n_bins; i++)
        to->bins[from->first_bin - to->first_bin + i] += from->bins[i];
    return 0;
}

void rfn_spread_sums_release(struct rfn_spread_sums *sums)
{
    free(sums->bins);
    *sums = (struct rfn_spread_sums){0};
}

uint64_t rfn_spread_sums_mean(const struct rfn_spread_sums *sums)
{
    return sums->n ? (uint64_t)(sums->sum / sums->n) : 0;
}

/* The sum of the squares of what each time is more than `from`. */
static rfn_u128 squares_about(const struct rfn_spread_sums *sums, uint64_t from)
{
    return sums->squares - 2 * (from * sums->sum) + (rfn_u128)from * from * sums->n;
}

/* The square root, rounded down, one binary digit after the other. */
static uint64_t root(rfn_u128 square)
{
    uint64_t found = 0;
    for (uint64_t digit = UINT64_C(1) << 63; digit; digit >>= 1) {
        if ((rfn_u128)(found | digit) * (found | digit) <= square)
            found |= digit;
    }
    return found;
}

/* About the mean rounded down, so that all is exact: the variance is less than 1 too large. */
uint64_t rfn_spread_sums_deviation(const struct rfn_spread_sums *sums)
{
    return sums->n ? root(squares_about(sums, rfn_spread_sums_mean(sums)) / sums->n) : 0;
}

/* ---- bytes: of n times, unless there are none: varint min, varint max - min, and unless that is
 * 0: the sum and the squares about the minimum, and bins, if there are several ---- */

static void write_u128(rfn_u128 number, struct rfn_buf *out)
{
    for (; number >= 0x80; number >>= 7)
        rfn_buf_u8(out, (uint8_t)(number | 0x80));
    rfn_buf_u8(out, (uint8_t)number);
}

static rfn_u128 read_u128(struct rfn_reader *reader)
{
    rfn_u128 number = 0;
    for (unsigned shift = 0; shift < 128; shift += 7) {
        uint8_t byte = rfn_reader_u8(reader);
        number |= (rfn_u128)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    reader->failed = true;
    return 0;
}

static void write_sums(const struct rfn_spread_sums *sums, struct rfn_buf *out)
{
    if (!sums->n)
        return;
    rfn_buf_varint(out, sums->min);
    rfn_buf_varint(out, sums->max - sums->min);
    if (sums->max == sums->min)
        return;
    write_u128(sums->sum - (rfn_u128)sums->min * sums->n, out);
    write_u128(squares_about(sums, sums->min), out);
    for (unsigned i = 0; sums->n_bins > 1 && i < sums->n_bins; i++)
        rfn_buf_varint(out, sums->bins[i]);
}

static int read_sums(struct rfn_spread_sums *to, uint64_t n, struct rfn_reader *reader)
{
    if (!n)
        return 0;
    uint64_t bins[RFN_SPREAD_BINS] = {n}, min = rfn_reader_varint(reader);
    struct rfn_spread_sums read = {
        .n = n, .min = min, .max = min + rfn_reader_varint(reader), .bins = bins};
    if (reader->failed || read.max < min)
        return RFN_E_EXCHANGE;
    rfn_u128 above = 0, squares = 0; /* the minimum */
    if (read.max > min) {
        above = read_u128(reader);
        squares = read_u128(reader);
    }
    if (above > (rfn_u128)(read.max - min) * n)
        return RFN_E_EXCHANGE;
    read.sum = above + (rfn_u128)min * n;
    read.squares = squares + 2 * (min * read.sum) - (rfn_u128)min * min * n;
    read.first_bin = (uint8_t)rfn_spread_bin(min);
    read.n_bins = (uint8_t)(rfn_spread_bin(read.max) - read.first_bin + 1);
    for (unsigned i = 0; read.n_bins > 1 && i < read.n_bins; i++)
        bins[i] = rfn_reader_varint(reader);
    return reader->failed ? RFN_E_EXCHANGE : rfn_spread_sums_merge(to, &read);
}

/* ---- tables ---- */

static int make_room(struct rfn_spread_table *table, size_t n)
{
    size_t before = table->capacity;
    RFN_TRY(RFN_GROW_ZEROED(table->places, table->capacity, n));
    table->bytes += (table->capacity - before) * sizeof *table->places;
    table->n = n > table->n ? n : table->n;
    return 0;
}

int rfn_position_sums_merge(struct rfn_position_sums *to, const struct rfn_position_sums *from)
{
    RFN_TRY(rfn_spread_sums_merge(&to->before, &from->before));
    return rfn_spread_sums_merge(&to->duration, &from->duration);
}

void rfn_position_sums_release(struct rfn_position_sums *sums)
{
    rfn_spread_sums_release(&sums->before);
    rfn_spread_sums_release(&sums->duration);
}

static size_t position_bytes(const struct rfn_position_sums *sums)
{
    return sizeof *sums +
           (sums->before.n_bins + (size_t)sums->duration.n_bins) * sizeof *sums->before.bins;
}

/* What points to the first position of the place that is not before the one wanted. */
static struct rfn_position_sums **find(struct rfn_place_sums *place, uint32_t after)
{
    struct rfn_position_sums **at = &place->first;
    while (*at && (*at)->after < after)
        at = &(*at)->next;
    return at;
}

/* NULL: it has no events yet. */
static struct rfn_position_sums *position_of(struct rfn_place_sums *place, uint32_t after)
{
    if (place->full || (place->recent && place->recent->after == after))
        return place->recent;
    struct rfn_position_sums *found = *find(place, after);
    if (!found || found->after != after)
        return NULL;
    return place->recent = found;
}

/* Where it belongs in its place. NULL: out of memory. */
static struct rfn_position_sums *insert(struct rfn_spread_table *table,
                                        struct rfn_place_sums *place, uint32_t after)
{
    struct rfn_position_sums **at = find(place, after);
    struct rfn_position_sums *sums = calloc(1, sizeof *sums);
    if (!sums)
        return NULL;
    sums->after = after;
    sums->next = *at;
    place->sites_before += after != RFN_NO_SITE_BEFORE;
    table->bytes += sizeof *sums;
    *at = sums;
    return sums;
}

/* Makes one position of all that a place has. */
static int fill_place(struct rfn_spread_table *table, struct rfn_place_sums *place)
{
    struct rfn_position_sums *all = position_of(place, RFN_NO_SITE_BEFORE), *sums;
    if (!all && !(all = insert(table, place, RFN_NO_SITE_BEFORE)))
        return RFN_E_NOMEM;
    while ((sums = place->first) != all) {
        size_t bytes = position_bytes(all);
        RFN_TRY(rfn_position_sums_merge(all, sums));
        table->bytes += position_bytes(all) - bytes - position_bytes(sums);
        place->first = sums->next;
        rfn_position_sums_release(sums);
        free(sums);
    }
    place->recent = all;
    place->full = true;
    return 0;
}

/* The position behind that site, new if need be, in a place for which there is room. */
static int use(struct rfn_spread_table *table, size_t number, uint32_t after,
               struct rfn_position_sums **sums)
{
    struct rfn_place_sums *place = &table->places[number];
    if (!position_of(place, after)) {
        if (after != RFN_NO_SITE_BEFORE && place->sites_before == RFN_SITES_BEFORE_MOST)
            RFN_TRY(fill_place(table, place));
        else if (!insert(table, place, after))
            return RFN_E_NOMEM;
    }
    *sums = position_of(place, after);
    return 0;
}

static uint64_t between(int64_t from, int64_t to)
{
    uint64_t time = (uint64_t)to - (uint64_t)from;
    return time >> 63 ? 0 : time;
}

/* For a position without events, and times whose bins are not there yet. */
__attribute__((noinline)) static int add_event(struct rfn_spread_table *table, size_t place,
                                               uint32_t after, bool first, uint64_t before,
                                               uint64_t duration)
{
    if (place >= table->n)
        RFN_TRY(make_room(table, place + 1));
    struct rfn_position_sums *sums;
    RFN_TRY(use(table, place, after, &sums));
    size_t bytes = position_bytes(sums);
    if (!first)
        RFN_TRY(rfn_spread_sums_add(&sums->before, before));
    RFN_TRY(rfn_spread_sums_add(&sums->duration, duration));
    table->bytes += position_bytes(sums) - bytes;
    return 0;
}

int rfn_spread_table_event(struct rfn_spread_table *table, size_t place, int64_t last,
                           int64_t enter, int64_t exit)
{
    uint64_t before = between(last, enter), duration = between(enter, exit);
    bool first = !table->before;
    uint32_t after = first ? RFN_NO_SITE_BEFORE : table->before - 1;
    struct rfn_position_sums *sums = NULL;
    if (place < table->n)
        sums = position_of(&table->places[place], after);
    table->before = (uint32_t)(place / 2) + 1;
    if (__builtin_expect(first || !sums ||
                             rfn_spread_bin(before) - sums->before.first_bin >= sums->before.n_bins,
                         0) ||
        !add_known(&sums->duration, duration))
        return add_event(table, place, after, first, before, duration);
    add_known(&sums->before, before);
    return 0;
}

static int merge_position(struct rfn_spread_table *to, size_t place,
                          const struct rfn_position_sums *from)
{
    struct rfn_position_sums *sums;
    RFN_TRY(use(to, place, from->after, &sums));
    size_t bytes = position_bytes(sums);
    RFN_TRY(rfn_position_sums_merge(sums, from));
    to->bytes += position_bytes(sums) - bytes;
    return 0;
}

int rfn_spread_table_merge(struct rfn_spread_table *to, const struct rfn_spread_table *from)
{
    RFN_TRY(make_room(to, from->n));
    for (size_t i = 0; i < from->n; i++) {
        if (from->places[i].full && !to->places[i].full)
            RFN_TRY(fill_place(to, &to->places[i]));
        for (const struct rfn_position_sums *sums = from->places[i].first; sums; sums = sums->next)
            RFN_TRY(merge_position(to, i, sums));
    }
    return 0;
}

void rfn_spread_table_release(struct rfn_spread_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        for (struct rfn_position_sums *sums = table->places[i].first, *next; sums; sums = next) {
            next = sums->next;
            rfn_position_sums_release(sums);
            free(sums);
        }
    }
    free(table->places);
    *table = (struct rfn_spread_table){0};
}

/* Per place twice the number of positions, + 1 if it is full; of each how far its site before is
 * behind the one before (a full place has none), how many times, how many of them without a time
 * before, and the sums. The largest gap stands for no site before. */
static void write_place(const struct rfn_place_sums *place, uint64_t n_sites, struct rfn_buf *out)
{
    uint64_t least = 0, n = 0;
    for (const struct rfn_position_sums *sums = place->first; sums; sums = sums->next)
        n++;
    rfn_buf_varint(out, 2 * n + place->full);
    for (const struct rfn_position_sums *sums = place->first; sums; sums = sums->next) {
        uint64_t site = sums->after == RFN_NO_SITE_BEFORE ? n_sites : sums->after;
        rfn_buf_varint(out, site - least);
        rfn_buf_varint(out, sums->duration.n);
        rfn_buf_varint(out, sums->duration.n - sums->before.n);
        write_sums(&sums->before, out);
        write_sums(&sums->duration, out);
        least = site + 1;
    }
}

void rfn_spread_table_write(const struct rfn_spread_table *table, struct rfn_buf *out)
{
    rfn_buf_varint(out, table->n);
    for (size_t i = 0; i < table->n; i++)
        write_place(&table->places[i], (table->n + 1) / 2, out);
}

/* Of a rank: 2^20 of them do not overflow. */
static const uint64_t TIMES_MOST = UINT64_C(1) << 44;

static int read_position(struct rfn_spread_table *to, size_t place, uint32_t after,
                         struct rfn_reader *reader)
{
    struct rfn_position_sums read = {.after = after};
    uint64_t n = rfn_reader_limited(reader, TIMES_MOST), firsts = rfn_reader_limited(reader, n);
    if (reader->failed || !n)
        return RFN_E_EXCHANGE;
    int error = read_sums(&read.before, n - firsts, reader);
    if (!error)
        error = read_sums(&read.duration, n, reader);
    if (!error)
        error = merge_position(to, place, &read);
    rfn_position_sums_release(&read);
    return error;
}

/* Sites before are among the places: they have events. */
static int read_place(struct rfn_spread_table *to, size_t place, uint64_t n_sites,
                      struct rfn_reader *reader)
{
    uint64_t head = rfn_reader_limited(reader, 2 * (RFN_SITES_BEFORE_MOST + 1) + 1), least = 0;
    bool full = head & 1;
    if (full && !to->places[place].full)
        RFN_TRY(fill_place(to, &to->places[place]));
    for (uint64_t i = 0; i < head / 2; i++) {
        uint64_t site = least + rfn_reader_limited(reader, n_sites);
        if (reader->failed || site > n_sites || (full && site < n_sites))
            return RFN_E_EXCHANGE;
        RFN_TRY(
            read_position(to, place, site < n_sites ? (uint32_t)site : RFN_NO_SITE_BEFORE, reader));
        least = site + 1;
    }
    return 0;
}

int rfn_spread_table_read(struct rfn_spread_table *to, struct rfn_reader *reader)
{
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    RFN_TRY(make_room(to, n));
    for (uint64_t i = 0; i < n && !reader->failed; i++)
        RFN_TRY(read_place(to, i, (n + 1) / 2, reader));
    return reader->failed ? RFN_E_EXCHANGE : 0;
}
