package settings

import (
	"bytes"
	"fmt"
	"strings"
)

// Limits of Diff.
const (
	diffContext = 3
	// maxDiffCells bounds the table of the line comparison; beyond it everything between the common beginning and the
	// common end is shown as replaced.
	maxDiffCells = 4 << 20
)

type diffLine struct {
	mark byte // ' ', '-' or '+'
	text string
}

// Diff shows the difference of two texts by lines, as unified diffs do, with three lines of context; "" when they are
// equal.
func Diff(before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	lines := compare(split(before), split(after))
	var out strings.Builder
	shown := make([]bool, len(lines))
	for i, l := range lines {
		if l.mark == ' ' {
			continue
		}
		for k := max(0, i-diffContext); k <= min(len(lines)-1, i+diffContext); k++ {
			shown[k] = true
		}
	}
	oldLine, newLine := 1, 1
	for i, l := range lines {
		if shown[i] && (i == 0 || !shown[i-1]) {
			fmt.Fprintf(&out, "@@ -%d +%d @@\n", oldLine, newLine)
		}
		if shown[i] {
			fmt.Fprintf(&out, "%c%s\n", l.mark, strings.TrimSuffix(l.text, "\n"))
		}
		if l.mark != '+' {
			oldLine++
		}
		if l.mark != '-' {
			newLine++
		}
	}
	return out.String()
}

func split(data []byte) []string {
	lines := strings.SplitAfter(string(data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compare aligns two lists of lines by their longest common subsequence.
func compare(a, b []string) []diffLine {
	var out []diffLine
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		out = append(out, diffLine{' ', a[head]})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, l := range a[len(a)-tail:] {
		out = append(out, diffLine{' ', l})
	}
	return out
}

func middle(a, b []string) []diffLine {
	var out []diffLine
	if (len(a)+1)*(len(b)+1) > maxDiffCells {
		for _, l := range a {
			out = append(out, diffLine{'-', l})
		}
		for _, l := range b {
			out = append(out, diffLine{'+', l})
		}
		return out
	}
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out = append(out, diffLine{'-', a[i]})
			i++
		default:
			out = append(out, diffLine{'+', b[j]})
			j++
		}
	}
	return out
}
