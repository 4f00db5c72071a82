package desk

// Wakes reports whether the desk's loop looks again by itself.
func (d *Desk) Wakes() bool {
	next, _, _ := d.calls.Expire()
	_, ok := d.untilDue(next)
	return ok
}
