package classify

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestParseAnswer(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, tt := range []struct {
		name, text   string
		ok, safe     bool
		reason, told string
	}{
		{"safe", `{"safe":true,"reason":"a build"}`, true, true, "a build", ""},
		{"unsafe", ` { "reason" : "deletes" , "safe" : false } ` + "\n", true, false, "deletes", ""},
		{"no reason to give", `{"safe":true,"reason":""}`, true, true, "", ""},
		{"empty", ``, false, false, "", "not one JSON"},
		{"a string", `{"safe":"true","reason":""}`, false, false, "", "no boolean"},
		{"a number", `{"safe":1,"reason":""}`, false, false, "", "no boolean"},
		{"null", `{"safe":null,"reason":""}`, false, false, "", "no boolean"},
		{"an object", `{"safe":{"safe":true},"reason":""}`, false, false, "", "no boolean"},
		{"a list", `{"safe":[true],"reason":""}`, false, false, "", "no boolean"},
		{"NaN", `{"safe":NaN,"reason":""}`, false, false, "", "not one JSON"},
		{"True", `{"safe":True,"reason":""}`, false, false, "", "not one JSON"},
		{"missing", `{"reason":"x"}`, false, false, "", "missing"},
		{"no reason", `{"safe":true}`, false, false, "", "missing"},
		{"reason that is no string", `{"safe":true,"reason":1}`, false, false, "", "no string"},
		{"twice, at last true", `{"safe":false,"safe":true,"reason":""}`, false, false, "", "stands twice"},
		{"twice, at last false", `{"safe":true,"safe":false,"reason":""}`, false, false, "", "stands twice"},
		{"twice, once with an escape", `{"safe":false,"\u0073afe":true,"reason":""}`, false, false, "", "stands twice"},
		{"reason twice", `{"safe":true,"reason":"","reason":""}`, false, false, "", "stands twice"},
		{"in capitals", `{"Safe":true,"reason":""}`, false, false, "", "more than"},
		{"more", `{"safe":true,"reason":"","confidence":1}`, false, false, "", "more than"},
		{"a fence", "```json\n{\"safe\":true,\"reason\":\"\"}\n```", false, false, "", "not one JSON"},
		{"words before", `Sure: {"safe":true,"reason":""}`, false, false, "", "not one JSON"},
		{"words behind", `{"safe":true,"reason":""} I hope this helps`, false, false, "", "not one JSON"},
		{"two objects", `{"safe":true,"reason":""}{"safe":false,"reason":""}`, false, false, "", "not one JSON"},
		{"true alone", `true`, false, false, "", "no JSON object"},
		{"in a list", `[{"safe":true,"reason":""}]`, false, false, "", "no JSON object"},
		{"deep", `{"safe":` + deep + `,"reason":""}`, false, false, "", ""},
		{"very deep", strings.Repeat("[", 30000), false, false, "", "not one JSON"},
		{"cut off", `{"safe":true,"reason":"`, false, false, "", "not one JSON"},
		{"a comma at the end", `{"safe":true,"reason":"",}`, false, false, "", "not one JSON"},
		{"a comment", `{"safe":true/**/,"reason":""}`, false, false, "", "not one JSON"},
		{"another space", "\u00a0" + `{"safe":true,"reason":""}`, false, false, "", "not one JSON"},
		{"a mark of bytes", "\ufeff" + `{"safe":true,"reason":""}`, false, false, "", "not one JSON"},
		{"not text", "{\"safe\":true,\"reason\":\"\xff\"}", false, false, "", "not one JSON"},
		{"control characters", `{"safe":true,"reason":"a\u001b[31m\u202eb\nc\u0000"}`, true, true, "a[31mb c", ""},
		{"long", `{"safe":true,"reason":"` + strings.Repeat("é", 400) + `"}`, true, true, strings.Repeat("é", 256), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := parseAnswer(tt.text)
			if (err == nil) != tt.ok || a.safe != tt.safe || a.reason != tt.reason {
				t.Fatalf("%+v, %v", a, err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.told) {
				t.Errorf("%v does not say %q", err, tt.told)
			}
		})
	}
}

// Whatever is taken for safe is an object with exactly the two fields, and its safe is true also for another decoder.
func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"safe":true,"reason":"x"}`, `{"safe":false,"reason":"x"}`, `{"safe":"true","reason":"x"}`, `{"safe":true,"safe":false,"reason":""}`,
		`{"reason":"\ud83d\ude00","safe":true}`, "```json\n{}\n```", `{"safe":true,"reason":"` + "\u2028" + `"}`, `[true]`, `{"SAFE":true,"reason":""}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAnswer(text)
		if err != nil {
			if a != (answer{}) {
				t.Fatalf("%+v with %v", a, err)
			}
			return
		}
		if len(a.reason) > maxReason || !utf8.ValidString(a.reason) || strings.ContainsFunc(a.reason, unicode.IsControl) {
			t.Fatalf("reason %q", a.reason)
		}
		var other map[string]any
		if err := json.Unmarshal([]byte(text), &other); err != nil || len(other) != 2 || other["safe"] != a.safe {
			t.Fatalf("%q: %+v, %v", text, a, other)
		}
	})
}
