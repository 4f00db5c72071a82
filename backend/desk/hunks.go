package desk

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"countersign/backend/wire"
)

// isText reports whether content can be shown line by line.
func isText(content []byte) bool {
	return bytes.IndexByte(content, 0) < 0 && utf8.Valid(content)
}

// hunks compares two texts line by line, with three lines around each change, and counts the lines that come and go. A
// carriage return before a line end is shown unless every line of both texts has one.
func hunks(before, after []byte) (list []wire.DiffHunk, added, removed int) {
	ending := ""
	if windowsLines(before) && windowsLines(after) {
		ending = "\r"
	}
	// The first three lines name the files. Every line of a text stands behind a sign of its own, so none can be taken for
	// anything else.
	text := string(diff.Diff("a", before, "b", after))
	for i, line := range strings.Split(text, "\n") {
		if i < 3 || line == "" {
			continue
		}
		switch op := line[:1]; op {
		case "@":
			var hunk wire.DiffHunk
			var oldLines, newLines int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &hunk.OldStart, &oldLines, &hunk.NewStart, &newLines); err != nil {
				continue
			}
			list = append(list, hunk)
		case " ", "+", "-":
			if len(list) == 0 {
				continue
			}
			switch op {
			case "+":
				added++
			case "-":
				removed++
			}
			hunk := &list[len(list)-1]
			hunk.Lines = append(hunk.Lines, wire.DiffLine{Op: op, Text: strings.TrimSuffix(line[1:], ending)})
		case "\\": // "\ No newline at end of file", of the line before it
			if n := len(list); n > 0 && len(list[n-1].Lines) > 0 {
				list[n-1].Lines[len(list[n-1].Lines)-1].NoNewline = true
			}
		}
	}
	return list, added, removed
}

// windowsLines reports whether every line of a text ends in a carriage return and a line feed. One without lines does.
func windowsLines(content []byte) bool {
	return bytes.Count(content, []byte("\n")) == bytes.Count(content, []byte("\r\n"))
}

func lines(list []wire.DiffHunk) (n int) {
	for _, h := range list {
		n += len(h.Lines)
	}
	return n
}
