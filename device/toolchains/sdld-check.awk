# What sdld leaves unsaid about a program: it does not know where a 68HC08's memories end, and cuts addresses beyond page
# zero to a byte.
#
#   awk -f sdld-check.awk -v name=sha256 -v code="0x860 0xf3a0 0xffd0 0x30" -v ends="DSEG 0x100" sha256.map sha256.ihx
#
# code   beginnings and sizes of the memories that code and tables may lie in
# ends   areas, and the address that each must end at or before
# Exits with 1 and says what is where if the program breaks a rule.

function number(text,    value, i) {
    if (text !~ /^0[xX]/) {
        return text + 0
    }
    for (i = 3; i <= length(text); i++) {
        value = 16 * value + index("123456789abcdef", tolower(substr(text, i, 1)))
    }
    return value
}

function fail(message) {
    print name ": " message >"/dev/stderr"
    failed = 1
    exit 1
}

# The last symbol at an address or before it.
function place(address,    symbol, best) {
    for (symbol in symbols) {
        if (symbols[symbol] <= address && (best == "" || symbols[symbol] > symbols[best])) {
            best = symbol
        }
    }
    return best == "" ? "no symbol" : sprintf("%s + %d", best, address - symbols[best])
}

BEGIN {
    memories = split(code, memory)
    split(ends, end)
}

# "C:   0000F900  ws_secret_table_aes_double   aes_sbox_fast" in the map; beginnings and lengths of areas are s_<area> and l_<area>.
/^([A-Z]:)? +[0-9A-F]+  / {
    sub(/^[A-Z]:/, "")
    if ($2 ~ /^[sl]_/) {
        area[$2] = number("0x" $1)
    } else {
        symbols[$2] = number("0x" $1)
    }
}

# A record of data: ":", count, address, 00, bytes, sum.
/^:......00/ {
    first = number("0x" substr($0, 4, 4))
    last = first + number("0x" substr($0, 2, 2)) - 1
    inside = 0
    for (i = 1; i < memories; i += 2) {
        inside += first >= number(memory[i]) && last < number(memory[i]) + number(memory[i + 1])
    }
    if (!inside) {
        fail(sprintf("0x%04x to 0x%04x (%s) are not in the target's memories for code", first, last, place(first)))
    }
}

END {
    if (failed) {
        exit 1
    }
    for (i = 1; i in end; i += 2) {
        behind = area["s_" end[i]] + area["l_" end[i]]
        if (behind > number(end[i + 1])) {
            fail(sprintf("area %s ends at 0x%04x and must end at 0x%04x or before: it has too many variables", \
                         end[i], behind, number(end[i + 1])))
        }
    }
}
