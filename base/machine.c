/* What the system, control groups and the process's own limits leave of the memory. */
#define _GNU_SOURCE
#include "base/machine.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* The first number of a file that holds one; -1: there is none ("max" is none, too). */
static int64_t read_number(const char *path)
{
    int64_t value = -1;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%" SCNd64, &value) != 1)
        value = -1;
    if (file)
        fclose(file);
    return value;
}

/* The number after a name at the start of a line; -1: there is none. */
static int64_t read_field(const char *path, const char *name)
{
    char line[256];
    int64_t value = -1;
    size_t n = strlen(name);
    FILE *file = fopen(path, "re");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, name, n))
            sscanf(line + n, " %" SCNd64, &value);
    if (file)
        fclose(file);
    return value;
}

/* ---- control groups ---- */

/* Where a version of control groups tells what: its folder of memory, and the names. */
typedef struct Groups {
    const char *folder, *limit, *used, *reclaimable;
} Groups;

static const Groups groups_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
static const Groups groups_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                 "memory.usage_in_bytes", "total_inactive_file"};

/* What one group leaves; INT64_MAX where it sets no limit. */
static int64_t group_free(const Groups *groups, const char *group)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s%s/%s", groups->folder, group, groups->limit);
    int64_t limit = read_number(path);
    if (limit < 0)
        return INT64_MAX;
    snprintf(path, sizeof path, "%s%s/%s", groups->folder, group, groups->used);
    int64_t used = read_number(path);
    snprintf(path, sizeof path, "%s%s/memory.stat", groups->folder, group);
    int64_t reclaimable = read_field(path, groups->reclaimable);
    used = (used > 0 ? used : 0) - (reclaimable > 0 ? reclaimable : 0);
    return used > limit ? 0 : limit - (used > 0 ? used : 0);
}

/* Of a group and all around it, as it sees them: a container's is "/". */
static int64_t groups_free(const Groups *groups, char *group)
{
    int64_t least = INT64_MAX;
    for (;;) {
        size_t n = strlen(group);
        while (n && group[n - 1] == '/')
            group[--n] = 0;
        least = lesser(least, group_free(groups, group));
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = 0;
    }
}

/* Lines are "0::/GROUP" of version 2 and "5:memory:/GROUP" of version 1. */
static int64_t control_groups_free(void)
{
    char line[PATH_MAX];
    int64_t least = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        if (!controllers[1])
            least = lesser(least, groups_free(&groups_v2, group));
        else if (strstr(controllers + 1, "memory"))
            least = lesser(least, groups_free(&groups_v1, group));
    }
    if (file)
        fclose(file);
    return least;
}

/* ---- limits of the process ---- */

static int64_t limit_free(int resource, int64_t used)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > INT64_MAX)
        return INT64_MAX;
    return (int64_t)limit.rlim_cur > used ? (int64_t)limit.rlim_cur - used : 0;
}

int64_t machine_limits_free(void)
{
    int64_t total = 0, data = 0, page = sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%" SCNd64 " %*s %*s %*s %*s %" SCNd64, &total, &data) != 2)
        total = data = 0;
    if (file)
        fclose(file);
    return lesser(limit_free(RLIMIT_AS, total * page), limit_free(RLIMIT_DATA, data * page));
}

int64_t machine_memory_free(void)
{
    int64_t kilobytes = read_field("/proc/meminfo", "MemAvailable:");
    int64_t system = kilobytes < 0 ? INT64_MAX : kilobytes * 1024;
    return lesser(system, lesser(control_groups_free(), machine_limits_free()));
}

int64_t resident_bytes(void)
{
    long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lld %lld", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

int64_t peak_resident_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_maxrss * 1024;
}

void machine_memory_put(Text *out)
{
    text_string(out, "this process has ");
    text_bytes(out, resident_bytes());
    text_string(out, ", and ");
    text_bytes(out, machine_memory_free());
    text_string(out, " more can be had");
}
