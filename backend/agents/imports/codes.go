package imports

// codes are the differences there are, each with the names of its arguments. app/i18n has a sentence for each.
var codes = map[string][]string{
	// Not a rule, or none that can be read.
	"not_string":      nil,
	"malformed":       nil,
	"too_long":        nil,
	"field":           {"field"},
	"not_literal":     nil,
	"unknown_call":    {"name"},
	"unreadable_here": {"rule"},
	"setting":         {"name", "value"},
	"directory":       {"path"},

	// Tools.
	"tool_pattern":     nil,
	"every_tool":       nil,
	"every_known_tool": nil,
	"other_tools_too":  {"tool"},
	"one_of_several":   {"tool"},
	"content":          {"tool"},
	"subject_unknown":  {"tool"},
	"server_pattern":   nil,
	"only_these":       nil,
	"tool_switch":      nil,

	// Commands.
	"operators":           nil,
	"whole_text":          nil,
	"quotes":              nil,
	"special":             nil,
	"widened":             nil,
	"narrowed":            nil,
	"any_program":         nil,
	"hands_over":          {"rule"},
	"star_may_be_nothing": nil,
	"too_many":            nil,
	"trailing_space":      nil,
	"powershell_names":    nil,
	"regex":               nil,
	"regex_arguments":     nil,
	"redirection":         nil,
	"paths_outside":       {"program"},
	"host_executable":     nil,

	// Paths and hosts.
	"any_depth":      nil,
	"anchor_unclear": nil,
	"ignored_there":  {"tool"},
	"negation":       nil,
	"outside":        nil,
	"subdomains":     {"host"},
	"domain_only":    nil,
	"domain_pattern": nil,
	"host_of_url":    {"host"},
	"url_pattern":    nil,
	"network_rule":   nil,

	// When it holds, and what comes before what.
	"modes":            {"modes"},
	"condition":        {"field"},
	"one_agent":        {"agent"},
	"loops":            nil,
	"checker":          nil,
	"uncarried_before": {"rule"},
	"allowed_there":    {"rule"},
	"no_effect":        {"rule"},
	"ask_default":      nil,
}

// difference makes a Difference; args are the arguments in the order of the table.
func difference(code string, args ...string) Difference {
	d := Difference{Code: code}
	for i, name := range codes[code] {
		if i < len(args) {
			if d.Args == nil {
				d.Args = map[string]string{}
			}
			d.Args[name] = args[i]
		}
	}
	return d
}
