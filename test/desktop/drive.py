"""Reads and drives a window as a screen reader does, over AT-SPI. One JSON request a line on stdin, one JSON answer a line.

    {"op": "tree", "app": NAME}             every accessible of the application: path, role, name, states, extents, text
    {"op": "press", "app": NAME, "path": P} the accessible's first action
    {"op": "focus", "app": NAME, "path": P} keyboard focus
    {"op": "apps"}                          the names of the applications on the bus

A path is a list of child numbers from the application.
"""

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

MAX_NODES = 6000
STATES = ["FOCUSED", "SHOWING", "VISIBLE", "SENSITIVE", "ENABLED", "CHECKED", "SELECTED", "EXPANDED", "PRESSED"]


def applications():
    desktop = Atspi.get_desktop(0)
    for i in range(desktop.get_child_count()):
        app = desktop.get_child_at_index(i)
        if app is not None:
            yield app


def application(name):
    for app in applications():
        try:
            if app.get_name() == name:
                return app
        except GLib.Error:
            continue
    raise LookupError("no application %r on the accessibility bus" % name)


def describe(node, path):
    states = node.get_state_set()
    out = {
        "path": path,
        "role": node.get_role_name(),
        "name": node.get_name() or "",
        "states": [s.lower() for s in STATES if states.contains(getattr(Atspi.StateType, s))],
    }
    try:
        box = node.get_extents(Atspi.CoordType.SCREEN)
        out["box"] = [box.x, box.y, box.width, box.height]
    except GLib.Error:
        pass
    try:
        text = node.get_text_iface()
        if text is not None:
            out["text"] = Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text))
    except GLib.Error:
        pass
    try:
        attributes = node.get_attributes()
        if attributes:
            out["attributes"] = dict(attributes)
    except GLib.Error:
        pass
    return out


def tree(app):
    app.clear_cache()
    nodes, queue = [], [(app, [])]
    while queue and len(nodes) < MAX_NODES:
        node, path = queue.pop()
        try:
            nodes.append(describe(node, path))
            children = [node.get_child_at_index(i) for i in range(min(node.get_child_count(), MAX_NODES))]
        except GLib.Error:
            continue  # it went away while it was read
        for i in reversed(range(len(children))):
            if children[i] is not None:
                queue.append((children[i], path + [i]))
    return nodes


def at(app, path):
    node = app
    for i in path:
        node = node.get_child_at_index(i)
        if node is None:
            raise LookupError("nothing at %r" % path)
    return node


def answer(request):
    op = request["op"]
    if op == "apps":
        return [a.get_name() for a in applications()]
    app = application(request["app"])
    if op == "tree":
        return tree(app)
    node = at(app, request["path"])
    if op == "press":
        action = node.get_action_iface()
        if action is None or Atspi.Action.get_n_actions(action) == 0:
            raise LookupError("it has no action")
        return bool(Atspi.Action.do_action(action, 0))
    if op == "focus":
        return bool(Atspi.Component.grab_focus(node.get_component_iface()))
    raise ValueError("unknown op %r" % op)


for line in sys.stdin:
    try:
        reply = {"ok": answer(json.loads(line))}
    except (GLib.Error, LookupError, ValueError, AttributeError) as problem:
        reply = {"error": str(problem)}
    print(json.dumps(reply), flush=True)
