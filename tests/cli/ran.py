"""Commands of the tfc that is the first argument of a test in Python."""
import subprocess
import sys

tfc = sys.argv[1]


def fail(name, text):
    sys.exit(f"FAILED: {name}: {text}")


def run(*command):
    return subprocess.run([tfc, *command], capture_output=True, text=True, encoding="utf-8", errors="replace")


def ran(name, *command):
    done = run(*command)
    if done.returncode:
        fail(name, done.stderr)
    return done
