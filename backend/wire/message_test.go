package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const testID = "0198c0de-0000-7000-8000-000000000001"

func request(rest string) string {
	return `{"action":"ping","command_id":"` + testID + `"` + rest + `}`
}

func TestDecodeRequest(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name    string
		message string
		want    Request
		problem string // part of the error, "" for none
	}{
		{"plain", request(""), Request{Action: "ping", CommandID: testID}, ""},
		{"args and files", request(`,"args":{"a":1},"files":3`), Request{Action: "ping", CommandID: testID, Args: json.RawMessage(`{"a":1}`), Files: 3}, ""},
		{"null args", request(`,"args":null`), Request{Action: "ping", CommandID: testID}, ""},
		{"space around", "  " + request("") + " \r", Request{Action: "ping", CommandID: testID}, ""},
		{"as deep as allowed", request(`,"args":` + deep(MaxDepth-1)), Request{Action: "ping", CommandID: testID, Args: json.RawMessage(deep(MaxDepth - 1))}, ""},
		{"brackets in a string do not nest", request(`,"args":"` + deep(200) + `\""`), Request{Action: "ping", CommandID: testID, Args: json.RawMessage(`"` + deep(200) + `\""`)}, ""},
		{"same key in two objects", request(`,"args":{"a":{"x":1},"b":{"x":1},"c":["x","x"]}`), Request{Action: "ping", CommandID: testID, Args: json.RawMessage(`{"a":{"x":1},"b":{"x":1},"c":["x","x"]}`)}, ""},
		{"escaped backslash before u0000", request(`,"args":"\\u0000"`), Request{Action: "ping", CommandID: testID, Args: json.RawMessage(`"\\u0000"`)}, ""},

		{"empty", "", Request{}, "not a JSON object"},
		{"array", "[]", Request{}, "not a JSON object"},
		{"string", `"ping"`, Request{}, "not a JSON object"},
		{"cut off", `{"action":"ping"`, Request{}, "not valid JSON"},
		{"two objects", request("") + request(""), Request{}, "not valid JSON"},
		{"NUL byte", request(",\"args\":\"\x00\""), Request{}, "NUL byte"},
		{"escaped NUL", request(`,"args":{"command":"ls \u0000; rm"}`), Request{}, "NUL character"},
		{"escaped NUL in a key", request(`,"args":{"\u0000":1}`), Request{}, "NUL character"},
		{"not UTF-8", request(",\"args\":\"\xff\""), Request{}, "not UTF-8"},
		{"too deep", request(`,"args":` + deep(MaxDepth)), Request{}, "nested deeper"},
		{"far too deep", request(`,"args":` + strings.Repeat("[", 1<<20)), Request{}, "nested deeper"},
		{"key twice", `{"action":"ping","action":"shutdown","command_id":"` + testID + `"}`, Request{}, "twice"},
		{"key twice, once escaped", `{"action":"ping","\u0061ction":"shutdown","command_id":"` + testID + `"}`, Request{}, "twice"},
		{"key twice in the arguments", request(`,"args":{"command":"ls","command":"rm"}`), Request{}, "twice"},
		{"no command id", `{"action":"ping"}`, Request{}, "command_id"},
		{"command id is a number", `{"action":"ping","command_id":7}`, Request{}, "command_id"},
		{"command id is null", `{"action":"ping","command_id":null}`, Request{}, "command_id"},
		{"command id is no UUID", `{"action":"ping","command_id":"x"}`, Request{}, "command_id"},
		{"command id in upper case", `{"action":"ping","command_id":"` + strings.ToUpper(testID) + `"}`, Request{}, "command_id"},
		{"command id in braces", `{"action":"ping","command_id":"{` + testID + `}"}`, Request{}, "command_id"},
		{"no action", `{"command_id":"` + testID + `"}`, Request{CommandID: testID}, "action"},
		{"Action is not action", `{"Action":"ping","command_id":"` + testID + `"}`, Request{CommandID: testID}, "action"},
		{"long action", `{"action":"` + strings.Repeat("a", 65) + `","command_id":"` + testID + `"}`, Request{CommandID: testID}, "action"},
		{"files is negative", request(`,"files":-1`), Request{CommandID: testID}, "files"},
		{"too many files", request(`,"files":9`), Request{CommandID: testID}, "files"},
		{"files is text", request(`,"files":"3"`), Request{CommandID: testID}, "files"},
		{"unknown field", request(`,"only_if":"asked"`), Request{CommandID: testID}, "does not know"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeRequest([]byte(tt.message))
			if tt.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				return
			}
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), tt.problem) {
				t.Fatalf("error %v, want ErrMalformed with %q", err, tt.problem)
			}
			if got.CommandID != tt.want.CommandID {
				t.Errorf("command id %q, want %q", got.CommandID, tt.want.CommandID)
			}
			bad, ok := BadMessage(err)
			if !ok || bad.Code != CodeBadMessage || bad.Args["hint"] == "" {
				t.Errorf("BadMessage = %v, %v", bad, ok)
			}
		})
	}
}

func TestDecodeRequestTooLarge(t *testing.T) {
	message := []byte(request(`,"args":"` + strings.Repeat("x", MaxMessage) + `"`))
	if _, err := DecodeRequest(message); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
	if bad, ok := BadMessage(ErrTooLarge); !ok || bad.Code != CodeBadMessage {
		t.Errorf("BadMessage = %v, %v", bad, ok)
	}
	if bad, ok := BadMessage(errors.New("broken pipe")); ok {
		t.Errorf("BadMessage of a broken connection = %v", bad)
	}
}

func TestDecodeIncoming(t *testing.T) {
	tests := []struct {
		name    string
		message string
		want    Incoming
		ok      bool
	}{
		{"reply", `{"command_id":"a","applied":true,"result":{"x":1}}`, Incoming{Reply: &Reply{CommandID: "a", Applied: true, Result: json.RawMessage(`{"x":1}`)}}, true},
		{"reply of a newer core", `{"command_id":"a","applied":true,"tomorrow":[1]}`, Incoming{Reply: &Reply{CommandID: "a", Applied: true}}, true},
		{"error", `{"command_id":"a","applied":false,"error":{"code":"x","args":{"k":"v"}}}`, Incoming{Reply: &Reply{CommandID: "a", Error: &Error{Code: "x", Args: map[string]string{"k": "v"}}}}, true},
		{"frame of a newer core", `{"frame":"call.updated","epoch":"e","seq":2,"prev_seq":1,"time":"2026-11-30T00:00:00Z","data":{},"tomorrow":1}`, Incoming{Frame: &Frame{}}, true},
		{"escaped NUL in content", `{"command_id":"a","result":"\u0000"}`, Incoming{Reply: &Reply{CommandID: "a", Result: json.RawMessage(`"\u0000"`)}}, true},
		{"hello", `{"hello":{"version":1}}`, Incoming{Hello: &CoreHello{Version: 1}}, true},
		{"hello of the wrong type", `{"hello":[]}`, Incoming{}, false},
		{"frame of the wrong type", `{"frame":7}`, Incoming{}, false},
		{"frame with a wrong seq", `{"frame":"x","seq":"7"}`, Incoming{}, false},
		{"reply of the wrong type", `{"command_id":7}`, Incoming{}, false},
		{"no object", `7`, Incoming{}, false},
		{"not UTF-8", "{\"a\":\"\xff\"}", Incoming{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeIncoming([]byte(tt.message))
			if (err == nil) != tt.ok {
				t.Fatalf("error %v, want ok %v", err, tt.ok)
			}
			if got.Frame != nil { // compared by its presence
				got.Frame = &Frame{}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	got, err := Encode(Reply{CommandID: "a", Result: json.RawMessage(`"<&>"`)})
	if err != nil || string(got) != `{"command_id":"a","applied":false,"result":"<&>"}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := Encode(strings.Repeat("x", MaxMessage)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
	if _, err := Encode(Reply{Result: json.RawMessage("{")}); err == nil {
		t.Error("a broken result was encoded")
	}
	if _, err := Encode(strings.Repeat("x", MaxMessage-3)); err != nil {
		t.Errorf("a message of exactly the limit: %v", err)
	}
}

// What one side encodes the other reads as the same, whatever the text is.
func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		args, err := json.Marshal(map[string]any{"command": text, "n": rapid.Int32().Draw(t, "n")})
		if err != nil {
			t.Fatal(err)
		}
		want := Request{Action: "admit_call", CommandID: testID, Args: args, Files: rapid.IntRange(0, MaxFiles).Draw(t, "files")}
		message, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(message), "\n") {
			t.Fatalf("a message with a newline: %q", message)
		}
		got, err := DecodeRequest(message)
		if err != nil {
			t.Fatal(err)
		}
		var gotArgs struct {
			Command string `json:"command"`
		}
		if err := json.Unmarshal(got.Args, &gotArgs); err != nil || gotArgs.Command != text {
			t.Fatalf("text %q became %q (%v)", text, gotArgs.Command, err)
		}
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(request(`,"args":{"command":"ls","list":[1,"a\"b",null]},"files":1`)))
	f.Add([]byte(request(`,"args":"\u0000"`)))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte(`{"\`))
	f.Add([]byte(`{"a":"\\\"]}`))
	f.Add([]byte(strings.Repeat(`{"a":`, 100)))
	f.Fuzz(func(t *testing.T, message []byte) {
		req, err := DecodeRequest(message)
		if err != nil {
			if _, ok := BadMessage(err); !ok {
				t.Fatalf("an error that the sender is not told: %v", err)
			}
			return
		}
		again, err := Encode(req)
		if err != nil {
			if errors.Is(err, ErrTooLarge) {
				return
			}
			t.Fatal(err)
		}
		second, err := DecodeRequest(again)
		if err != nil {
			t.Fatalf("decoded %q, but not what was encoded from it: %v", message, err)
		}
		if second.Action != req.Action || second.CommandID != req.CommandID || second.Files != req.Files {
			t.Fatalf("%+v became %+v", req, second)
		}
	})
}

func FuzzDecodeIncoming(f *testing.F) {
	f.Add([]byte(`{"command_id":"a","applied":true,"result":{"x":1}}`))
	f.Add([]byte(`{"frame":"call.updated","epoch":"e","seq":2,"prev_seq":1,"time":"2026-11-30T00:00:00Z","data":{}}`))
	f.Add([]byte(`{"hello":{"version":1,"epoch":"e","fingerprint":"f","public":"","signature":""}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		in, err := DecodeIncoming(message)
		set := 0
		for _, is := range []bool{in.Hello != nil, in.Reply != nil, in.Frame != nil} {
			if is {
				set++
			}
		}
		if (err == nil && set != 1) || (err != nil && set != 0) {
			t.Fatalf("%d fields are set, error %v", set, err)
		}
	})
}

func TestErrorText(t *testing.T) {
	if got := (&Error{Code: "busy"}).Error(); got != "busy" {
		t.Errorf("got %q", got)
	}
	if got := (&Error{Code: "busy", Args: map[string]string{"limit": "3"}}).Error(); got != "busy map[limit:3]" {
		t.Errorf("got %q", got)
	}
}

// A passphrase that ends in a log by accident must not be readable there.
func TestPassphraseIsRedacted(t *testing.T) {
	in := UnlockTerminal{Passphrase: "open sesame"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(verb, in); strings.Contains(got, "sesame") {
			t.Errorf("%s prints %s", verb, got)
		}
		if got := fmt.Sprintf(verb, &in); strings.Contains(got, "sesame") {
			t.Errorf("%s of a pointer prints %s", verb, got)
		}
	}
}

func TestCallStatus(t *testing.T) {
	for state, want := range map[string][2]bool{
		"": {false, false}, "proposed": {true, false}, "waiting": {true, false}, "allowed": {false, true},
		"released": {false, true}, "running": {false, false}, "finished": {false, false}, "tomorrow": {false, false},
	} {
		s := CallStatus{State: state}
		if got := [2]bool{s.Waiting(), s.Allowed()}; got != want {
			t.Errorf("state %q: waiting, allowed = %v, want %v", state, got, want)
		}
	}
}
