package desk

import (
	"context"
	"errors"
	"strings"

	"countersign/backend/classify"
	"countersign/backend/config"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/state"
)

// OpenClassifier makes the classifier that the configuration names, with the key that the keyring holds for the desk with
// this state directory. Without one configured it returns nil, which classifies nothing. It connects to nothing.
// keyed says whether a key will be sent.
func OpenClassifier(ctx context.Context, conf config.Config, stateDir string) (c *classify.Classifier, keyed bool, err error) {
	if conf.Classifier.Kind == "" {
		return nil, false, nil
	}
	key, err := state.ClassifierKey(ctx, stateDir)
	switch {
	case err == nil || errors.Is(err, state.ErrNoClassifierKey):
	case errors.Is(err, state.ErrKeyringMissing) && strings.HasPrefix(conf.Classifier.URL, "http://"):
		// A server on this machine seldom needs a key, and a machine without a keyring can have none.
	default:
		return nil, false, err
	}
	c, err = classify.New(classify.Options{
		Kind: conf.Classifier.Kind, URL: conf.Classifier.URL, Model: conf.Classifier.Model, Key: key, Timeout: conf.ClassifierTimeout(),
	})
	return c, !key.Empty(), err
}

// SetClassifierKey keeps the key of the classifier's endpoint in the keyring, in the place of another one.
func SetClassifierKey(ctx context.Context, stateDir string, key Secret) error {
	return state.SetClassifierKey(ctx, stateDir, key)
}

// RemoveClassifierKey removes it.
func RemoveClassifierKey(ctx context.Context, stateDir string) error {
	return state.RemoveClassifierKey(ctx, stateDir)
}

// RunsWorkspaceFile reports whether a command on this machine runs a file that lies in one of the roots.
func RunsWorkspaceFile(f *policy.Facts, roots []string) bool {
	return len(runFiles(pathid.Host(), pathid.OS(), f, f.Dir(), roots)) > 0
}
