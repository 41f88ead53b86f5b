/* The commit that the program was built from (cmake/commit.cmake): its first 12 digits, and " and
 * changes" after them if files differed from it; "unknown" without git and outside a tarball. */
#ifndef CLI_COMMIT_H
#define CLI_COMMIT_H

extern const char tfc_commit[];

#endif
