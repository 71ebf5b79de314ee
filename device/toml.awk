# What target.awk and board.awk have of TOML, as much as their files use: one `key = value` a line; a list of strings becomes a
# list of make.

# The value of a line: a string without its quotes, a number without its underscores, an inline table as it stands.
function value(line) {
    sub(/^[^=]*=[ \t]*/, "", line)
    if (line ~ /^"/) {
        sub(/^"/, "", line)
        sub(/"[ \t]*(#.*)?$/, "", line)
    } else if (line ~ /^\[/) {
        sub(/\].*/, "", line)
        gsub(/[[",]/, " ", line)
    } else if (line ~ /^\{/) {
        sub(/}.*/, "}", line)
    } else {
        sub(/[ \t]*#.*$/, "", line)
        gsub(/_/, "", line)
    }
    return line
}
