package approval

import "fmt"

// Find returns the call stored under an admission key, and whether there is one. A client that comes back is shown its
// call as it stands; what was looked up when it was admitted is not looked up again.
func (r *Registry) Find(key string) (Call, bool, error) {
	var out Call
	found := false
	err := r.view(func(t *txn) error {
		c, err := t.callByKey(key)
		if err != nil || c == nil {
			return err
		}
		out, found = *c, true
		return nil
	})
	if err != nil {
		return Call{}, false, fmt.Errorf("find: %w", err)
	}
	return out, found, nil
}
