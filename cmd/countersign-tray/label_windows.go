package main

import "strings"

// plainLabel keeps an ampersand from becoming the mark of an access key.
func plainLabel(text string) string { return strings.ReplaceAll(cString(text), "&", "&&") }
