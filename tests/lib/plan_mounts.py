#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compare the mounts of a plan with those of a sandbox.

plan_mounts.py PLAN SANDBOX CONTAINER PATH=HOST...: what `oci-sandbox run --print-plan --json` wrote;
/proc/self/mountinfo of an agent that was launched so, and of its container; and where the
container's folders are seen from here.  Writes what differs, a line each.
"""
import json
import os
import re
import sys

FILE_SYSTEMS = {"tmpfs": "tmpfs", "overlay": "overlay", "devpts": "devpts"}
READ_ONLY = {"root", "bind", "ro", "mask", "seal"}
WRITABLE = {"tmpfs", "bind-rw", "overlay", "proc", "devpts"}
NO_MOUNT = {"dir", "file", "symlink"}


def read_mounts(path):
    """What is seen at each mount point, (type, whether it is read-only); None: another mount."""
    children, points, top = {}, {"/"}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if len(fields) < 10 or not fields[0].isdigit():
                continue
            point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
            children[fields[1], point] = fields
            points.add(point)
    above = {key[0] for key in children} - {fields[0] for fields in children.values()}
    for point in points:
        mount, at = next(iter(above)), None
        for end in [1] + [m.start() for m in re.finditer("/|$", point) if m.start() > 1]:
            while (mount, point[:end]) in children:
                at, fields = point[:end], children[mount, point[:end]]
                mount = fields[0]
        if at == point:
            top[point] = (fields[fields.index("-") + 1], "ro" in fields[5].split(","))
        else:
            top[point] = None
    return top


def is_there(path, folders):
    """Whether the container has it, not counting what is below a file system of the kernel's."""
    folder = max((f for f in folders if path == f or path.startswith(f.rstrip("/") + "/")), key=len)
    return os.path.lexists(folders[folder] + "/" + path[len(folder):])


def is_hidden(target, steps):
    """Whether an empty folder of the plan is over it when its turn comes."""
    above = [s for s in steps if target.startswith(s["target"].rstrip("/") + "/")]
    return bool(above) and above[-1]["step"] in ("tmpfs", "mask")


def must_be(step, earlier, folders):
    """Whether the step makes a mount for certain."""
    if step["step"] in ("bind", "bind-rw", "overlay", "device") and step["optional"]:
        return is_there(step["source"], folders)
    if step["step"] in ("mask", "ro", "pin", "tmpfs"):
        return is_there(step["target"], folders) and not is_hidden(step["target"], earlier)
    return step["step"] != "seal"


def compare(plan, sandbox, container, folders):
    """Yield what differs."""
    seen = {}
    for i, step in enumerate(plan):
        if step["step"] in NO_MOUNT:
            continue
        kind, target = step["step"], step["target"]
        seen[target] = (kind, seen[target][1] if kind == "seal" and target in seen else kind)
        if target not in sandbox and must_be(step, plan[:i], folders):
            yield f"{kind} {target}: no mount"
    for target, (kind, made) in seen.items():
        if sandbox.get(target) is None:
            if target in sandbox:
                yield f"{kind} {target}: under another mount"
            continue
        system, read_only = sandbox[target]
        if kind in READ_ONLY and not read_only:
            yield f"{kind} {target}: writable"
        if kind in WRITABLE and read_only:
            yield f"{kind} {target}: read-only"
        if system != FILE_SYSTEMS.get(made, system):
            yield f"{made} {target}: {system}"
    for point in sandbox:
        if point not in seen and point not in container:
            yield f"{point}: a mount, and not in the plan"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)["mounts"]
    sandbox, container = read_mounts(sys.argv[2]), read_mounts(sys.argv[3])
    folders = dict(arg.split("=", 1) for arg in sys.argv[4:])
    if len(plan) < 50 or len(sandbox) < 15:
        sys.exit("too little to compare")
    wrong = list(compare(plan, sandbox, container, folders))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
