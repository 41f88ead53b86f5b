"""Runs a command whose standard output and standard error are a terminal, and writes what the terminal was given to
standard output; the status is the command's. Usage: terminal.py COMMAND …"""
import os
import pty
import subprocess
import sys
import tty

ours, theirs = pty.openpty()
tty.setraw(theirs)  # line breaks stay as they are
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
os.close(theirs)
while True:
    try:
        data = os.read(ours, 65536)
    except OSError:  # EIO: nobody has the terminal open any more
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.exit(process.wait())
