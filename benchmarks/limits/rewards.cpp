// The limit for a rewards file: one pass, one buffer, std::from_chars, a sum for each key.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <fcntl.h>
#include <unistd.h>

struct Key {
    std::string name;
    double sum = 0;
};

static const char *past_space(const char *at) {
    while (*at == ' ') ++at;
    return at;
}

static const char *read_line(const char *at, const char *end, std::vector<Key> &keys) {
    if (*at == 'n') return at + std::strlen("null");
    size_t next = 0;
    do {
        const char *name = past_space(at + 1) + 1;
        const char *quote = static_cast<const char *>(std::memchr(name, '"', end - name));
        const size_t length = quote - name;
        if (next >= keys.size() || keys[next].name.compare(0, std::string::npos, name, length)) {
            for (next = 0; next < keys.size(); ++next)
                if (!keys[next].name.compare(0, std::string::npos, name, length)) break;
            if (next == keys.size()) keys.push_back({std::string(name, length)});
        }
        double value = 0;
        at = std::from_chars(past_space(past_space(quote + 1) + 1), end, value).ptr;
        keys[next++].sum += value;
        at = past_space(at);
    } while (*at == ',');
    return at + 1;
}

int main(int, char **arguments) {
    const size_t size = 1 << 20;
    std::vector<char> buffer(2 * size);
    std::vector<Key> keys;
    const int file = open(arguments[1], O_RDONLY);
    size_t kept = 0;
    long lines = 0;
    for (ssize_t got; (got = read(file, buffer.data() + kept, size)) > 0;) {
        const char *at = buffer.data(), *end = at + kept + got;
        const char *last = static_cast<const char *>(memrchr(at, '\n', end - at));
        for (; at <= last; ++lines) at = read_line(at, end, keys) + 1;
        kept = end - at;
        std::memmove(buffer.data(), at, kept);
    }
    for (const Key &key : keys) std::printf("%s %.17g of %ld\n", key.name.c_str(), key.sum, lines);
}
