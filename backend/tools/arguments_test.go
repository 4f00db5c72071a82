package tools

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRead(t *testing.T) {
	tests := []struct {
		name, raw string
		want      ReadArgs
		argument  string // of the error
		problem   string
	}{
		{"path", `{"path":"a"}`, ReadArgs{Path: "a"}, "", ""},
		{"file_path", `{"file_path":"/a b"}`, ReadArgs{Path: "/a b"}, "", ""},
		{"lines", `{"file_path":"a","offset":3,"limit":10}`, ReadArgs{Path: "a", Offset: 3, Limit: 10}, "", ""},
		{"escapes", `{"path":"\ud83d\ude00\u00e9"}`, ReadArgs{Path: "😀é"}, "", ""},
		{"nothing", ``, ReadArgs{}, "", "not a JSON object"},
		{"null", `null`, ReadArgs{}, "", "not a JSON object"},
		{"list", `[]`, ReadArgs{}, "", "not a JSON object"},
		{"string", `"a"`, ReadArgs{}, "", "not a JSON object"},
		{"cut off", `{"path":"a"`, ReadArgs{}, "", "not valid JSON"},
		{"cut off in a value", `{"path":`, ReadArgs{}, "", "not valid JSON"},
		{"cut off in a name", `{"pa`, ReadArgs{}, "", "not valid JSON"},
		{"number as name", `{1:2}`, ReadArgs{}, "", "not valid JSON"},
		{"two objects", `{"path":"a"}{}`, ReadArgs{}, "", "after"},
		{"invalid UTF-8", "{\"path\":\"\xff\"}", ReadArgs{}, "", "UTF-8"},
		{"half a surrogate", `{"path":"\ud800"}`, ReadArgs{}, "", "surrogate"},
		{"half a surrogate and text", `{"path":"\ud800\n"}`, ReadArgs{}, "", "surrogate"},
		{"empty object", `{}`, ReadArgs{}, "path", "missing"},
		{"twice", `{"path":"a","path":"b"}`, ReadArgs{}, "path", "twice"},
		{"both names", `{"path":"a","file_path":"a"}`, ReadArgs{}, "file_path", "beside"},
		{"null path", `{"path":null}`, ReadArgs{}, "path", "not a string"},
		{"null file_path", `{"path":"a","file_path":null}`, ReadArgs{}, "file_path", "not a string"},
		{"number path", `{"path":1}`, ReadArgs{}, "path", "not a string"},
		{"list path", `{"file_path":["a"]}`, ReadArgs{}, "file_path", "not a string"},
		{"empty path", `{"file_path":""}`, ReadArgs{}, "file_path", "empty"},
		{"blank path", `{"path":" \n"}`, ReadArgs{}, "path", "empty"},
		{"NUL", `{"path":"a\u0000b"}`, ReadArgs{}, "path", "NUL"},
		{"other case", `{"Path":"a"}`, ReadArgs{}, "path", "missing"},
		{"unknown", `{"path":"a","pages":"1"}`, ReadArgs{}, "pages", "not an argument"},
		{"offset zero", `{"path":"a","offset":0}`, ReadArgs{}, "offset", "less than 1"},
		{"limit negative", `{"path":"a","limit":-1}`, ReadArgs{}, "limit", "less than 1"},
		{"offset null", `{"path":"a","offset":null}`, ReadArgs{}, "offset", "whole number"},
		{"offset text", `{"path":"a","offset":"1"}`, ReadArgs{}, "offset", "whole number"},
		{"offset fraction", `{"path":"a","offset":1.5}`, ReadArgs{}, "offset", "whole number"},
		{"offset huge", `{"path":"a","offset":99999999999999999999}`, ReadArgs{}, "offset", "whole number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseRead([]byte(tt.raw))
			checkArgumentError(t, err, tt.argument, tt.problem)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func checkArgumentError(t *testing.T, err error, argument, problem string) {
	t.Helper()
	if problem == "" {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var bad *ArgumentError
	if !errors.As(err, &bad) || !errors.Is(err, ErrArguments) || bad.Argument != argument || !strings.Contains(bad.Problem, problem) {
		t.Fatalf("error %v, want %q %s", err, argument, problem)
	}
	if !strings.Contains(err.Error(), problem) || Code(err) != "invalid_arguments" {
		t.Errorf("error %q, code %q", err, Code(err))
	}
}

func TestParseEdit(t *testing.T) {
	tests := []struct {
		name, raw         string
		want              EditArgs
		argument, problem string
	}{
		{"all", `{"file_path":"a","old_string":"x","new_string":"","replace_all":true}`, EditArgs{"a", "x", "", true}, "", ""},
		{"once", `{"path":"a","old_string":"x","new_string":"y"}`, EditArgs{"a", "x", "y", false}, "", ""},
		{"no old_string", `{"path":"a","new_string":"y"}`, EditArgs{}, "old_string", "missing"},
		{"no new_string", `{"path":"a","old_string":"y"}`, EditArgs{}, "new_string", "missing"},
		{"null new_string", `{"path":"a","old_string":"y","new_string":null}`, EditArgs{}, "new_string", "not a string"},
		{"empty old_string", `{"path":"a","old_string":"","new_string":"y"}`, EditArgs{}, "old_string", "empty"},
		{"replace_all text", `{"path":"a","old_string":"x","new_string":"y","replace_all":"true"}`, EditArgs{}, "replace_all", "true or false"},
		{"replace_all null", `{"path":"a","old_string":"x","new_string":"y","replace_all":null}`, EditArgs{}, "replace_all", "true or false"},
		{"unknown", `{"path":"a","old_string":"x","new_string":"y","z":1,"b":1}`, EditArgs{}, "b", "not an argument"},
		{"no path", `{"old_string":"x","new_string":"y"}`, EditArgs{}, "path", "missing"},
		{"not an object", `1`, EditArgs{}, "", "object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseEdit([]byte(tt.raw))
			checkArgumentError(t, err, tt.argument, tt.problem)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := ParseEdit([]byte(`{"path":"a","old_string":"x","new_string":"x"}`)); !errors.Is(err, ErrNoChange) {
		t.Errorf("same strings: %v", err)
	}
}

func TestParseWrite(t *testing.T) {
	tests := []struct {
		name, raw         string
		want              WriteArgs
		argument, problem string
	}{
		{"content", `{"file_path":"a","content":"x\r\n\u0000"}`, WriteArgs{"a", "x\r\n\x00"}, "", ""},
		{"empty content", `{"path":"a","content":""}`, WriteArgs{Path: "a"}, "", ""},
		{"no content", `{"path":"a"}`, WriteArgs{}, "content", "missing"},
		{"null content", `{"path":"a","content":null}`, WriteArgs{}, "content", "not a string"},
		{"object content", `{"path":"a","content":{}}`, WriteArgs{}, "content", "not a string"},
		{"unknown", `{"path":"a","content":"","mode":1}`, WriteArgs{}, "mode", "not an argument"},
		{"no path", `{"content":""}`, WriteArgs{}, "path", "missing"},
		{"not an object", `true`, WriteArgs{}, "", "object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseWrite([]byte(tt.raw))
			checkArgumentError(t, err, tt.argument, tt.problem)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
