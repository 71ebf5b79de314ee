# Reads a file of boards/ into make variables: the clock as BOARD_CLOCK, the suites of the meter's first build as BOARD_SUITES, the wiring
# as preprocessor definitions, BOARD_FLAGS. Behind toml.awk.
#
#   [[spi]]     -DWS_UCB0_SCK_PORT_P3 -DWS_UCB0_SCK_BIT=3, and so MISO and MOSI
#   [[chip]]    -DWS_RADIO_CC2500 -DWS_RADIO_SPI_UCB0 -DWS_RADIO_SELECT_PORT_P3 -DWS_RADIO_SELECT_BIT=0, by its role; and so its outputs,
#               -DWS_RADIO_GDO0_PORT_P1 -DWS_RADIO_GDO0_BIT=3
#   [[sensor]]  -DWS_STORED_VOLTAGE_CHANNEL=0 -DWS_STORED_VOLTAGE_PORT_P6 -DWS_STORED_VOLTAGE_BIT=0, and -DWS_STORED_VOLTAGE_DIVIDER=4
#               where there is a divider

# The text as part of a name in C.
function name_of(text) {
    text = toupper(text)
    gsub(/[^A-Z0-9]/, "_", text)
    return text
}

function define(what) { print "BOARD_FLAGS += -DWS_" what }

# A pin such as P3.0.
function define_pin(what, pin,    parts) {
    split(pin, parts, ".")
    define(what "_PORT_" parts[1])
    define(what "_BIT=" parts[2])
}

# A table has ended, and all its keys are known.
function end_table(    key, count, pairs, index_, pair) {
    if (table == "[[meter.build]]" && !builds++) {
        print "BOARD_SUITES := " keys["suites"]
    } else if (table == "[[spi]]") {
        define_pin(name_of(keys["name"]) "_SCK", keys["sck"])
        define_pin(name_of(keys["name"]) "_MISO", keys["miso"])
        define_pin(name_of(keys["name"]) "_MOSI", keys["mosi"])
    } else if (table == "[[chip]]") {
        key = name_of(keys["role"])
        define(key "_" name_of(keys["model"]))
        define(key "_SPI_" name_of(keys["spi"]))
        define_pin(key "_SELECT", keys["select"])
        # { GDO0 = "P1.3", GDO2 = "P1.5" }
        gsub(/[{} \t"]/, "", keys["outputs"])
        count = split(keys["outputs"], pairs, ",")
        for (index_ = 1; index_ <= count; index_++) {
            split(pairs[index_], pair, "=")
            define_pin(key "_" name_of(pair[1]), pair[2])
        }
    } else if (table == "[[sensor]]") {
        key = name_of(keys["quantity"])
        define(key "_CHANNEL=" keys["channel"])
        define_pin(key, keys["pin"])
        if ("divider" in keys) {
            define(key "_DIVIDER=" keys["divider"])
        }
    }
    split("", keys)
}

/^[ \t]*\[/ { end_table(); table = $1; next }
/^[ \t]*(#|$)/ { next }

{ keys[$1] = value($0) }
table == "" && $1 == "clock_hz" { print "BOARD_CLOCK := " value($0) }

END { end_table() }
