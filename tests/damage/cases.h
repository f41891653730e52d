/* cases.h - one damaged archive or journal: what the readers made of it. */
#ifndef TESTS_DAMAGE_CASES_H
#define TESTS_DAMAGE_CASES_H

#include "damage/answer.h"
#include "damage/spoil.h"

enum found { REFUSED, IN_PART, WHOLE, FOUND };

struct verdict {
    const char *how;   /* the file was damaged */
    bool forged;       /* its checksums are right */
    enum found found;  /* all of its events, some, or none */
    const char *wrong; /* what it should not have been; or NULL */
};

/* A small archive to be damaged. */
struct archive_seed {
    char name[64];
    struct file_bytes file;
    struct answer sound;
    struct rfn_diag verified; /* the recovered archive is right, and something is missing */
};

/* False, and says so: it cannot be read. */
bool archive_seed_open(struct archive_seed *seed, const char *folder, const char *name);
void archive_seed_release(struct archive_seed *seed);
/* keep: where the damaged file is to be written, too; or NULL. */
struct verdict archive_case(const struct archive_seed *seed, struct chance *chance,
                            const char *keep);

/* A small folder of journals. Checkpoints are written in turn: what the older ones say is right,
 * too, where the newest of a rank is damaged. */
struct journal_seed {
    char name[64];
    struct journal_file {
        char name[192];
        struct file_bytes file;
        uint32_t rank; /* below 64 */
        bool checkpoint;
    } files[16];
    size_t n;
    struct answer newest, older;
};

/* Reads it, by recovering the copy in the folder `work`. */
bool journal_seed_open(struct journal_seed *seed, const char *folder, const char *name,
                       const char *work);
void journal_seed_release(struct journal_seed *seed);
/* The copy in `work` is damaged, and mended again unless `keep`. */
struct verdict journal_case(const struct journal_seed *seed, struct chance *chance,
                            const char *work, bool keep);

/* Of a whole file; no bytes: it cannot be read. To be freed. */
struct file_bytes read_bytes(const char *path);
/* Ends the program if that fails. */
void write_bytes(const char *path, const struct file_bytes *file);

#endif
