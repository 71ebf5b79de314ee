# Reads ops.toml into make variables: OP_NAMES, HEADER_<op> and CALL_<op>.
# One operation a line: name = { header = "..", measure = "..", call = "..", bytes = n }

function field(name,    rest) {
    rest = $0
    if (!sub(".*[{,][ \t]*" name "[ \t]*=[ \t]*\"", "", rest)) {
        print "$(error ops.toml: " $1 " has no " name ")"
        return ""
    }
    sub(/".*/, "", rest)
    return rest
}

/^[ \t]*(#|\[|$)/ { next }

{
    print "OP_NAMES += " $1
    print "HEADER_" $1 " := " field("header")
    print "CALL_" $1 " := " field("call")
}
