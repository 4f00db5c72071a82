package main

import "strings"

// plainLabel keeps an underscore from becoming the mark of an access key: the menu goes to the panel over D-Bus, where one
// underscore is such a mark and two are an underscore (com.canonical.dbusmenu, property "label"). The library does not
// double them. Where there is only the old kind of tray, which does not go over D-Bus, both are seen.
func plainLabel(text string) string { return strings.ReplaceAll(cString(text), "_", "__") }
