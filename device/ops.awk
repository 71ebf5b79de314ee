# Reads ops.toml into make variables: OPS_<set>, and HEADER_<set>_<op> and CALL_<set>_<op>.
# One operation a line, under its [set]: name = { header = "..", measure = "..", call = "..", bytes = n }

function field(name,    rest) {
    rest = $0
    if (!sub(".*[{,][ \t]*" name "[ \t]*=[ \t]*\"", "", rest)) {
        return ""
    }
    sub(/".*/, "", rest)
    return rest
}

/^[ \t]*(#|$)/ { next }
/^[ \t]*\[/ { set = $1; gsub(/[][]/, "", set); next }

{
    print "OPS_" set " += " $1
    print "HEADER_" set "_" $1 " := " field("header")
    if (field("call") == "") {
        print "$(error ops.toml: " $1 " has no call)"
    }
    print "CALL_" set "_" $1 " := " field("call")
}
