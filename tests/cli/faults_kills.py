"""Commands of tfc in which a call fails, or which are killed, and what is there afterwards.
Usage: faults_kills.py TFC ROOT FAIL_CALLS.so FAULTS KILLS [SEED [ROW]]   (in a folder with what faults_kills.sh makes; FAULTS and
KILLS of each row of faults_commands.py, of those of the push tier where TFC_SHORT is set, or of the one that is named)

After a fault: status 0 and the whole result, or status 1 or 2 and a message, with no part of a result under its name and no
temporary; what is printed is then whole, too. After a fault and after a kill: the same command (train: --resume) gives the whole result. Never: another
status, a change to what is not the command's."""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from faults_commands import ROWS, can_be_called, missing_rows

tfc, root, library, faults, kills = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
seed = int(sys.argv[6]) if len(sys.argv) > 6 else 1
errors = {"ENOSPC": 28, "EIO": 5, "EMFILE": 24, "EACCES": 13}


def files(folder):
    """What a file is of each below the folder, by its path."""
    found = {}
    for at, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(at, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = "link " + os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def begin():
    shutil.rmtree("out", ignore_errors=True)
    os.makedirs("out/theirs")
    for path in "out/canary", "out/theirs/canary", "out/made.txt.tmp":
        with open(path, "w") as file:
            file.write("somebody else's\n")


def run(words, variables=None, after=None):
    """Status (or minus a signal), messages, and what was printed; `after` seconds it is killed."""
    process = subprocess.Popen([tfc] + words.split(), cwd="out", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, env=dict(os.environ, **(variables or {})))
    try:
        printed, messages = process.communicate(timeout=after or 300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, messages = process.communicate()
        if not after:
            return None, "it does not end", None
    return process.returncode, messages.decode("utf-8", "replace"), printed.decode("utf-8", "replace")


def failing(kind, at, **how):
    variables = {"LD_PRELOAD": library, "FAIL_PROGRAM": tfc, "FAIL_KIND": kind, "FAIL_AT": str(at),
                 "FAIL_LOG": os.path.abspath("log")}
    variables.update({"FAIL_" + name.upper(): str(value) for name, value in how.items()})
    return variables


def read_log():
    with open("log") as file:
        return file.read().strip()


class Command:
    def __init__(self, name):
        self.name = name
        row = ROWS[name]
        self.words, self.resumes, self.grows, self.tells = row.words, row.resumes, row.grows, row.tells
        self.outputs = row.writes.split()
        begin()
        self.theirs, self.inputs = files("out"), files("in")
        self.calls, made, printed = {}, {}, set()
        for kind, how in ("memory", {}), ("files", {"with": 5}), ("kill", {"with": "kill"}):
            begin()
            started = time.monotonic()
            printed.add(self.succeed("counting", failing("files" if kind == "kill" else kind, 0, **how)))
            self.seconds = time.monotonic() - started
            self.calls[kind] = int(read_log())
            made[kind] = files("out")
        # What two runs write differently, such as times, is only to be there.
        self.whole = {path: digest if made["memory"].get(path) == digest else None for path, digest in made["kill"].items()}
        self.printed = printed.pop() if len(printed) == 1 else None
        if self.resumes: # the record of the last command
            self.whole["made/run.json"] = None
        for output in self.outputs:
            if not any(path == output or output.endswith("/") and path.startswith(output) for path in self.whole):
                self.fail(f"{output} is not written")
        if not self.outputs and self.printed == "":
            self.fail("it writes nothing and prints nothing: the row calls nothing")

    def fail(self, what, messages=""):
        self.problems.append(what)
        print(f"FAILED: {self.name}: {self.case}: {what}\n    {messages.strip()[-600:]}", flush=True)

    problems, case = [], "no fault"

    def succeed(self, what, variables=None):
        resumes = self.resumes and os.path.exists("out/made/run.json")
        status, messages, printed = run(self.resumes if resumes else self.words, variables)
        if status:
            self.fail(f"{what}: status {status}", messages)
        return printed

    def others_are_as_they_were(self):
        there = files("out")
        for path, digest in self.theirs.items():
            if there.get(path) != digest:
                self.fail(f"changed what is somebody else's: {path}")
        if files("in") != self.inputs:
            self.fail("changed its inputs")
        return there

    def goes_on(self, leftovers):
        """What is whole is not made again: import makes new folders alone."""
        there = files("out")
        if all(path in there and digest in (None, there[path]) for path, digest in self.whole.items()):
            return
        self.succeed("again")
        self.is_whole("again", leftovers)

    def has_part(self, there, output):
        """Whether a failed command has left something of a file or a folder that is not all of it."""
        if not output.endswith("/"):
            return output in there and self.whole[output] not in (None, there[output])
        wanted = {path for path in self.whole if path.startswith(output)}
        found = {path for path in there if path.startswith(output)}
        return not self.grows and found and found != wanted

    def result_tells(self, printed):
        """Whether the failure is what the command reports in its file, or where it writes none in what it prints."""
        if not self.tells or not self.outputs:
            return bool(self.tells) and self.tells in printed
        path = os.path.join("out", self.outputs[0])
        if not os.path.exists(path):
            return False
        with open(path) as file:
            return self.tells in file.read()

    def is_whole(self, what, leftovers):
        there = self.others_are_as_they_were()
        for path in there.keys() | self.whole.keys():
            if path == "made/lock" and self.case.startswith("files call"):
                pass # held by nobody: it could not be seen whether the folder is whole
            elif path == "made/log-before.jsonl" and leftovers:
                pass # killed before the first checkpoint: what was logged until then is kept
            elif path not in self.whole and not (leftovers and ".tmp-" in path):
                self.fail(f"{what}: {path} is too many")
            elif leftovers and path == "made/log.jsonl" and path not in there:
                pass # killed between the last checkpoint and the only line of the log: no step is left to log
            elif path in self.whole and (path not in there or self.whole[path] and self.whole[path] != there[path]):
                self.fail(f"{what}: {path} is {'another' if path in there else 'missing'}")

    def fault(self, kind, at, **how):
        begin()
        status, messages, printed = run(self.words, failing(kind, at, **how))
        self.case = f"{kind} call {at} ({read_log()}) {how or ''}"
        if status == 0 and self.result_tells(printed):
            self.others_are_as_they_were()
        elif status == 0:
            self.is_whole("status 0", False)
            if self.printed not in (None, printed):
                self.fail("status 0: it prints something else", messages)
        elif status not in (1, 2): # 2: what cannot be looked at is taken to be there
            self.fail(f"status {status}", messages)
        else:
            if not messages.strip():
                self.fail("no message")
            there = self.others_are_as_they_were()
            for path in there.keys() - self.theirs.keys():
                if ".tmp-" in path:
                    self.fail(f"left {path}", messages)
            for output in self.outputs:
                if self.has_part(there, output):
                    self.fail(f"a part of {output}", messages)
        self.goes_on(status not in (0, 1, 2))
        return status

    def kill(self, choose):
        begin()
        if choose.random() < 0.5:
            at = choose.randint(1, self.calls["kill"])
            run(self.words, failing("files", at, **{"with": "kill"}))
            self.case = f"killed at call {at} ({read_log()})"
        else:
            after = choose.uniform(0.001, self.seconds)
            run(self.words, after=after)
            self.case = f"killed after {after:.3f} s"
        self.others_are_as_they_were()
        self.goes_on(True)


wrong = missing_rows(tfc, root)
for what in wrong:
    print("FAILED: " + what)
if wrong:
    sys.exit(1)
if len(sys.argv) > 7:
    names = [sys.argv[7]]
else:
    names = [name for name, row in ROWS.items() if row.short or not os.environ.get("TFC_SHORT")]
problems = 0
for name in names:
    if not can_be_called(name):
        print(f"{name}: not called: there is no {ROWS[name].needs}")
        continue
    choose = random.Random(seed * 1000 + list(ROWS).index(name))
    command = Command(name)
    statuses = []
    for i in range(faults):
        if i % 3 == 0:
            statuses.append(command.fault("memory", choose.randint(1, command.calls["memory"])))
        else:
            how = {"with": choose.choice(list(errors.values()))} if i % 3 == 1 else {"with": errors["ENOSPC"], "lasts": 1}
            statuses.append(command.fault("files", choose.randint(1, command.calls["files"]), **how))
    for i in range(kills):
        command.kill(choose)
    print(f"{name}: {command.calls['memory']} allocations and {command.calls['files']} calls on files; {faults} faults, "
          f"of which {statuses.count(0)} did no harm; {kills} kills; {len(command.problems)} problems", flush=True)
    problems += len(command.problems)
    Command.problems.clear()
sys.exit(problems > 0)
