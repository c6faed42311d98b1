/* The limit for a job: list its folders, and read the result.json of each. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int n_arguments, char **arguments) {
    static char data[1 << 20], path[4096];
    char **names = NULL;
    size_t n = 0, room = 0, bytes = 0, sum = 0;
    const int folder = open(arguments[n_arguments - 1], O_RDONLY | O_DIRECTORY);
    DIR *entries = fdopendir(dup(folder));
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.' || entry->d_type != DT_DIR) continue;
        if (n == room) names = realloc(names, (room = 2 * room + 64) * sizeof *names);
        names[n++] = strdup(entry->d_name);
    }
    for (size_t i = 0; i < n; ++i) {
        snprintf(path, sizeof path, "%s/result.json", names[i]);
        const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
        size_t size = 0;
        for (ssize_t got; (got = read(file, data + size, sizeof data - size)) > 0;) size += got;
        close(file);
        /* One byte of each line of the processor's cache, as whoever reads the text would. */
        for (size_t at = 0; at < size; at += 64) sum += data[at];
        bytes += size;
    }
    printf("%zu trials, %zu bytes, %zu\n", n, bytes, sum);
}
