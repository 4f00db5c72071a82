package tray

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/app/i18n"
)

func TestMessagesGoThrough(t *testing.T) {
	var wire bytes.Buffer
	want := []Order{{1, Lines(i18n.SimplifiedChinese, Model{Waiting: 3})}, {2, Lines(i18n.English, Model{Paused: true})}}
	for _, order := range want {
		if err := Write(&wire, order); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(&wire)
	for _, order := range want {
		var got Order
		if err := r.Read(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(order, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	}
	if err := r.Read(new(Order)); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestBadLines(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     error // nil: any but io.EOF
	}{
		{"no JSON", "hello\n", nil},
		{"null", "null\n", nil},
		{"an array", "[]\n", nil},
		{"empty", "\n", nil},
		{"wrong type", `{"kind":1}` + "\n", nil},
		{"two on a line", `{"kind":"ready"} {"kind":"ready"}` + "\n", nil},
		{"cut off", `{"kind":"ready"}`, io.ErrUnexpectedEOF},
		{"too long", `{"kind":"` + strings.Repeat("x", maxLine) + `"}` + "\n", errTooLong},
		{"endless", strings.Repeat("x", 10*maxLine), errTooLong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := NewReader(strings.NewReader(tt.in)).Read(new(Report))
			if err == nil || errors.Is(err, io.EOF) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("read: %v", err)
			}
		})
	}
}

func TestUnknownFieldsAreLeftAlone(t *testing.T) {
	var got Report
	if err := NewReader(strings.NewReader(`{"kind":"clicked","id":"x","later":[1]}` + "\n")).Read(&got); err != nil || got.ID != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTooLongIsNotWritten(t *testing.T) {
	var wire bytes.Buffer
	if err := Write(&wire, Report{ID: strings.Repeat("x", maxLine)}); !errors.Is(err, errTooLong) || wire.Len() != 0 {
		t.Errorf("wrote %d bytes, %v", wire.Len(), err)
	}
}
