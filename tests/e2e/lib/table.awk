#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Make a table from test lines "ok N - KERNEL PROVIDER: OPCODE: SHAPE[ gives ERRNO]": a row for
# each opcode and shape, a column for each kernel and provider.

!/^(not )?ok [0-9]+ - [^:]+: [A-Z_]+: / { next }

{
	cell = /^not/ ? "FAILED" : "passed"
	sub(/^(not )?ok [0-9]+ - /, "")
	sub(/ # .*$/, "")
	column = substr($0, 1, index($0, ": ") - 1)
	row = substr($0, index($0, ": ") + 2)
	if (cell == "passed" && match(row, / gives E[A-Z]+$/)) {
		cell = substr(row, RSTART + 7)
		row = substr(row, 1, RSTART - 1)
	}
	sub(/ gives E[A-Z]+$/, "", row)
	if (!(column in columns)) {
		columns[column] = 1
		order[++nr_columns] = column
	}
	if (!(row in rows)) {
		rows[row] = 1
		names[++nr_rows] = row
	}
	cells[row, column] = cell
}

END {
	printf "#| %-56s", "opcode and memory"
	for (i = 1; i <= nr_columns; i++)
		printf "  %-10s", order[i]
	print ""
	for (n = 1; n <= nr_rows; n++) {
		printf "#| %-56s", names[n]
		for (i = 1; i <= nr_columns; i++) {
			cell = cells[names[n], order[i]]
			printf "  %-10s", cell == "" ? "-" : cell
		}
		print ""
	}
}
