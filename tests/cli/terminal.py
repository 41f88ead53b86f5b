"""Runs a command whose standard output and standard error are a terminal, and writes what the terminal was given to
standard output; the status is the command's. The terminal has as many columns as TERMINAL_COLUMNS says; without, it does
not say how many. Usage: terminal.py COMMAND …"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import tty

ours, theirs = pty.openpty()
tty.setraw(theirs)  # line breaks stay as they are
if "TERMINAL_COLUMNS" in os.environ:
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(os.environ["TERMINAL_COLUMNS"]), 0, 0))
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
