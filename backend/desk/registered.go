package desk

import (
	"reflect"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

// Registered returns every action of the wire, by name, without a desk: what other languages' types and the reference
// page are made from. It names subscribe too, which the transports answer themselves.
func Registered() []Action {
	d := &Desk{actions: map[string]Action{}}
	d.registerActions()
	if _, ok := d.actions[wire.ActionSubscribe]; !ok {
		d.actions[wire.ActionSubscribe] = Action{
			Name: wire.ActionSubscribe, Idempotent: true,
			In: reflect.TypeFor[wire.Subscribe](), Out: reflect.TypeFor[wire.Subscribed](),
		}
	}
	return d.Actions()
}

// FrameTypes returns what each frame carries, by the frame's name.
func FrameTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		wire.FrameQuestionAsked:   reflect.TypeFor[wire.Question](),
		wire.FrameQuestionClosed:  reflect.TypeFor[wire.Question](),
		wire.FrameQuestionUpdated: reflect.TypeFor[wire.Question](),
		wire.FrameCallUpdated:     reflect.TypeFor[wire.Call](),
		wire.FrameSessionUpdated:  reflect.TypeFor[wire.Session](),
		wire.FrameReceiptIssued:   reflect.TypeFor[wire.ReceiptIssued](),
		wire.FramePermissionState: reflect.TypeFor[wire.PermissionState](),
		wire.FramePermissionRules: reflect.TypeFor[wire.RulesChanged](),
		wire.FrameDeskPaused:      reflect.TypeFor[wire.DeskPause](),
		wire.FrameLinkOpened:      reflect.TypeFor[wire.Link](),
		wire.FrameSecurityEvent:   reflect.TypeFor[policy.Event](),
		wire.FramePreferences:     reflect.TypeFor[wire.Preferences](),
	}
}
