package app

import "testing"

// TestMarkupIsQuotedUnlessItIsNone: a notification service that answered late counted as one that shows text as it is,
// and an agent's words became markup.
func TestMarkupIsQuotedUnlessItIsNone(t *testing.T) {
	for name, tt := range map[string]struct {
		answered bool
		can      []string
		want     bool
	}{
		"it reads markup": {true, []string{"body", "body-markup"}, true}, "it does not": {true, []string{"body"}, false}, "no answer": {false, nil, true},
	} {
		if got := readsMarkup(tt.answered, tt.can); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
