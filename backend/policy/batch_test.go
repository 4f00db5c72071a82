package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestRunBatchContract(t *testing.T) {
	input := strings.Join([]string{
		`{"id":"right","tool":"Bash","args":{"command":"ls"},"expected":"allow"}`,
		``,
		`{"id":"wrong","tool":"Bash","args":{"command":"make"},"expected":"allow"}`,
		`{"id":"open","tool":"Bash","args":{"command":"make"}}`,
		`not json`,
		`{"id":"mode","mode":"yolo","tool":"Bash","args":{}}`,
		`{"id":"platform","platform":"amiga","tool":"Bash","args":{}}`,
		`{"id":"principal","principal":"king","tool":"Bash","args":{}}`,
		`{"id":"reason","tool":"Bash","args":{"command":"ls"},"expected":"allow","reason":"rule_allow"}`,
		`{"tool":"Bash","args":{"command":"ls"}}`,
		`{"id":"long","why":"` + strings.Repeat("x", maxBatchLine) + `"}`,
		`{"id":"last","tool":"Bash","args":{"command":"ls"},"mode":"AUTO"}`,
	}, "\n")
	clock := time.Unix(0, 0)
	var out, errs bytes.Buffer
	ok, err := RunBatch(strings.NewReader(input), &out, &errs, BatchOptions{Now: func() time.Time {
		clock = clock.Add(7 * time.Microsecond)
		return clock
	}})
	if err != nil || ok {
		t.Fatalf("ok %v, %v", ok, err)
	}
	var ids []string
	for line := range strings.Lines(out.String()) {
		var r map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"id", "outcome", "reason", "step", "rule", "trace", "micros"} {
			if _, ok := r[key]; !ok {
				t.Errorf("a result lacks %q: %s", key, line)
			}
		}
		ids = append(ids, strings.Trim(string(r["id"]), `"`))
		if string(r["error"]) == "" && string(r["micros"]) != "7" {
			t.Errorf("micros: %s", line)
		}
	}
	if got := strings.Join(ids, " "); got != "right wrong open line 5 mode platform principal reason line 10 line 11 last" {
		t.Errorf("ids: %s", got)
	}
	var told []string
	for line := range strings.Lines(errs.String()) {
		id, _, _ := strings.Cut(line, ": ")
		told = append(told, id)
	}
	if got := strings.Join(told, " "); got != "wrong line 5 mode platform principal reason line 11" {
		t.Errorf("mismatches: %s\n%s", got, errs.String())
	}
}

type failing struct{}

var errFailing = errors.New("pipe is gone")

func (failing) Write([]byte) (int, error) { return 0, errFailing }
func (failing) Read([]byte) (int, error)  { return 0, errFailing }

func TestRunBatchIO(t *testing.T) {
	text := `{"id":"x","tool":"Bash","args":{"command":"ls"},"expected":"deny"}`
	if _, err := RunBatch(strings.NewReader(text), failing{}, io.Discard, BatchOptions{}); !errors.Is(err, errFailing) {
		t.Errorf("writing: %v", err)
	}
	if _, err := RunBatch(strings.NewReader(text), io.Discard, failing{}, BatchOptions{}); !errors.Is(err, errFailing) {
		t.Errorf("telling: %v", err)
	}
	if _, err := RunBatch(failing{}, io.Discard, io.Discard, BatchOptions{}); !errors.Is(err, errFailing) {
		t.Errorf("reading: %v", err)
	}
	if ok, err := RunBatch(strings.NewReader(""), io.Discard, io.Discard, BatchOptions{}); !ok || err != nil {
		t.Errorf("an empty batch: %v, %v", ok, err)
	}
}
