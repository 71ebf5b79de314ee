# Reads a file of targets/ into make variables: the [toolchain] keys as TOOLCHAIN_<key>, the default clock, and the
# memories as preprocessor definitions. Behind toml.awk.

/^[ \t]*\[/ { table = $1; next }
/^[ \t]*(#|$)/ { next }

table == "" && $1 == "default_clock_hz" { print "DEFAULT_CLOCK := " value($0) }
table == "[toolchain]" { print "TOOLCHAIN_" $1 " := " value($0) }
table == "[[memory]]" && $1 == "name" { memory = toupper(value($0)) }
table == "[[memory]]" && $1 == "start" { print "MEMORIES += -DWS_" memory "_START=" value($0) }
table == "[[memory]]" && $1 == "size" { print "MEMORIES += -DWS_" memory "_SIZE=" value($0) }
table == "[[memory]]" && $1 == "second_bank" && match($0, /start = [0-9A-Za-z_]+/) {
    print "MEMORIES += -DWS_" memory "_SECOND_BANK=" substr($0, RSTART + 8, RLENGTH - 8)
}
