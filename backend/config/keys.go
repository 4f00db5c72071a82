package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// key is one key of config.toml, read off the type.
type key struct {
	name     string // "identity.store"
	doc      string
	values   []string // the only values, or nil
	min, max int64    // of integers; both 0: none
	value    reflect.Value
	table    bool
	array    bool // of tables: [[name]]
}

// keysOf lists the keys of c, tables before what is in them, in the order of the type. The values are settable when c
// is a pointer's element.
func keysOf(c reflect.Value) []key { return keysBelow("", c) }

func keysBelow(prefix string, v reflect.Value) []key {
	var out []key
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		k := key{name: prefix + tag.Get("toml"), doc: tag.Get("doc"), value: v.Field(i)}
		if k.value.Kind() == reflect.Struct {
			k.table = true
			out = append(append(out, k), keysBelow(k.name+".", k.value)...)
			continue
		}
		if k.value.Kind() == reflect.Slice && k.value.Type().Elem().Kind() == reflect.Struct {
			k.table, k.array = true, true
			out = append(out, k)
			// Without one in the file, an empty one stands for what its keys mean.
			for i := range max(k.value.Len(), 1) {
				element := reflect.Zero(k.value.Type().Elem())
				if i < k.value.Len() {
					element = k.value.Index(i)
				}
				out = append(out, keysBelow(k.name+".", element)...)
			}
			continue
		}
		if list := tag.Get("values"); list != "" {
			k.values = strings.Split(list, ",")
		}
		k.min, _ = strconv.ParseInt(tag.Get("min"), 10, 64)
		k.max, _ = strconv.ParseInt(tag.Get("max"), 10, 64)
		out = append(out, k)
	}
	return out
}

// problem says why the value of k cannot be, or "".
func (k key) problem() string {
	switch {
	case k.values != nil && !slices.Contains(k.values, k.value.String()):
		return fmt.Sprintf("%q is none of %s", k.value.String(), quoted(k.values))
	case k.value.CanInt() && k.max != 0 && (k.value.Int() < k.min || k.value.Int() > k.max):
		return fmt.Sprintf("%d is not between %d and %d", k.value.Int(), k.min, k.max)
	}
	return ""
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

// nearest returns the known name that needs the fewest changes to become name, or "" where so little of name would be
// left that it is no misspelling.
func nearest(name string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		// The last part decides first: "store" under the wrong table is nearer to identity.store than to anything else.
		d := 2*distance(last(name), last(k)) + distance(name, k)
		if least < 0 || d < least {
			best, least = k, d
		}
	}
	if 2*distance(last(name), last(best)) > len(last(name)) {
		return ""
	}
	return best
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// longestName bounds the work of distance: the name comes from the file.
const longestName = 64

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), longestName)], b[:min(len(b), longestName)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
