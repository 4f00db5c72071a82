package claude

import (
	"slices"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/agents/settings"
)

// RemoveHooks removes our hooks from settings text, whichever version of us wrote them, and of the native ask rules
// those that added names. Objects and arrays that become empty by it go too, when added says that they were made for
// us or nothing is known (a zero Added).
func RemoveHooks(data []byte, added settings.Added) (Edited, error) {
	e := &editor{data: data}
	known := added.Command != ""
	made := func(path string) bool { return !known || slices.Contains(added.Containers, path) }
	touched := map[string]bool{}
	for {
		doc, err := e.parse()
		if err != nil {
			return Edited{}, err
		}
		splice, path, found := removal(doc, touched, added.Ask, made)
		if !found {
			return e.done()
		}
		touched[path] = true
		if err := e.apply(splice, nil); err != nil {
			return Edited{}, err
		}
		added.Ask = slices.DeleteFunc(slices.Clone(added.Ask), func(tool string) bool { return path == pathAsk+"="+tool })
		if len(path) > len(pathAsk) && path[:len(pathAsk)] == pathAsk {
			touched[pathAsk] = true
		}
	}
}

// Dotted paths of what we edit.
const (
	keyHooks       = "hooks"
	keyPermissions = "permissions"
	keyAsk         = "ask"
	pathAsk        = keyPermissions + "." + keyAsk
)

// removal finds the next thing to remove, and the path of the container it leaves behind touched.
func removal(doc *jsonedit.Document, touched map[string]bool, ask []string, made func(string) bool) (jsonedit.Splice, string, bool) {
	if doc.Root == nil || doc.Root.Kind != jsonedit.Object {
		return jsonedit.Splice{}, "", false
	}
	for i, m := range doc.Root.Members {
		switch m.Key {
		case keyHooks:
			if s, path, ok := removeHook(doc, m.Value, touched, made); ok {
				return s, path, true
			}
		case keyPermissions:
			if s, path, ok := removeAsk(doc, m.Value, touched, ask, made); ok {
				return s, path, true
			}
		default:
			continue
		}
		if emptied(m.Value) && touched[m.Key] && made(m.Key) {
			return doc.RemoveMember(doc.Root, i), "", true
		}
	}
	return jsonedit.Splice{}, "", false
}

func emptied(n *jsonedit.Node) bool {
	return (n.Kind == jsonedit.Object || n.Kind == jsonedit.Array) && len(n.Members)+len(n.Items) == 0
}

func removeHook(doc *jsonedit.Document, hooks *jsonedit.Node, touched map[string]bool, made func(string) bool) (jsonedit.Splice, string, bool) {
	for i, event := range hooks.Members {
		path := keyHooks + "." + event.Key
		for k, g := range event.Value.Items {
			list := g.Value.Get(keyHooks)
			if list == nil {
				continue
			}
			for h, item := range list.Items {
				if _, ours := ourHook(item.Value); !ours {
					continue
				}
				if len(list.Items) == 1 {
					return doc.RemoveItem(event.Value, k), path, true
				}
				return doc.RemoveItem(list, h), path, true
			}
		}
		if emptied(event.Value) && touched[path] && made(path) {
			return doc.RemoveMember(hooks, i), keyHooks, true
		}
	}
	return jsonedit.Splice{}, "", false
}

func removeAsk(doc *jsonedit.Document, permissions *jsonedit.Node, touched map[string]bool, ask []string, made func(string) bool) (jsonedit.Splice, string, bool) {
	for i, m := range permissions.Members {
		if m.Key != keyAsk {
			continue
		}
		for k := len(m.Value.Items) - 1; k >= 0; k-- {
			if tool, ok := m.Value.Items[k].Value.Str(); ok && slices.Contains(ask, tool) {
				return doc.RemoveItem(m.Value, k), pathAsk + "=" + tool, true
			}
		}
		if emptied(m.Value) && touched[pathAsk] && made(pathAsk) {
			return doc.RemoveMember(permissions, i), keyPermissions, true
		}
	}
	return jsonedit.Splice{}, "", false
}

// ourHook recognises one of our entries.
func ourHook(n *jsonedit.Node) (HookCommand, bool) {
	if kind, ok := n.Get("type").Str(); !ok || kind != "command" {
		return HookCommand{}, false
	}
	command, ok := n.Get("command").Str()
	if !ok {
		return HookCommand{}, false
	}
	return ParseHookCommand(command)
}
