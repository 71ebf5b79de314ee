# The C files of crypto/, without folder and suffix, that a program needs: from its own files, which stand among all of crypto/, and from
# `headers`. A C file includes first the header whose functions it has, or some of them.

FNR == 1 { within = FILENAME ~ /^crypto\//; name = FILENAME; sub(/.*\//, "", name); is_first = name ~ /\.c$/ }

/^#include "/ {
	split($0, parts, "\"")
	header = parts[2]
	sub(/.*\//, "", header)
	if (within && is_first)
		implemented[header] = implemented[header] " " name
	is_first = 0
	if (within)
		included[name] = included[name] " " header
	else
		headers = headers " " header
}

END {
	count = split(headers, wanted, " ")
	for (next_one = 1; next_one <= count; next_one++) {
		file = wanted[next_one]
		if (seen[file]++)
			continue
		if (file ~ /\.c$/) {
			sub(/\.c$/, "", file)
			print file
			file = file ".c"
		}
		more = split(included[file] implemented[file], found, " ")
		for (i = 1; i <= more; i++)
			wanted[++count] = found[i]
	}
}
