package desk

import (
	"context"
	"slices"

	"countersign/backend/approval"
	"countersign/backend/wire"
)

// keyPreferences is where the owner's preferences are kept.
const keyPreferences = "preferences"

// The values that preferences may have; the first is what they are without a word of the owner.
var (
	languages = []string{"system", "en", "zh-CN"}
	themes    = []string{"system", "light", "dark"}
)

// preferences are those of the owner, or what they are without a word of the owner: letters act as keys, and a
// notification, which others may read over a shoulder, names no command. A value of another version counts as the first.
func (d *Desk) preferences() (wire.Preferences, error) {
	p := wire.Preferences{Language: languages[0], Theme: themes[0], Letters: true}
	err := d.store.View(func(tx approval.Tx) error {
		_, err := tx.Get(bucketDesk, keyPreferences, &p)
		return err
	})
	if !slices.Contains(languages, p.Language) {
		p.Language = languages[0]
	}
	if !slices.Contains(themes, p.Theme) {
		p.Theme = themes[0]
	}
	return p, err
}

func (d *Desk) getPreferences(context.Context, *exchange, wire.Empty) (wire.Preferences, error) {
	return d.preferences()
}

// setPreferences keeps how the owner wants the screens. They decide nothing.
func (d *Desk) setPreferences(_ context.Context, _ *exchange, in wire.Preferences) (wire.Preferences, error) {
	for _, field := range []struct {
		name, value string
		values      []string
	}{{"language", in.Language, languages}, {"theme", in.Theme, themes}} {
		if !slices.Contains(field.values, field.value) {
			return wire.Preferences{}, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{
				"action": wire.ActionSetPreferences, "problem": field.name + " is none that there is",
			}}
		}
	}
	d.keeping.Lock() // what is published last is what is kept
	defer d.keeping.Unlock()
	if err := d.store.Update(func(tx approval.Tx) error { return tx.Put(bucketDesk, keyPreferences, in) }); err != nil {
		return wire.Preferences{}, err
	}
	d.frame(wire.FramePreferences, in)
	return in, nil
}
