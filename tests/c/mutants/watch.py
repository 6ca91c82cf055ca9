"""Tells a program that hangs from one that is slow, however busy the machine is.

A program hangs if for ASLEEP seconds all its threads slept and none was woken, or if it has used
PATIENCE times as much of the processor, or has run PATIENCE times as long, as without the mutant.
Time in which it or this process was stopped does not count.
"""

import pathlib
import subprocess
import time

INTERVAL = 0.25
ASLEEP = 5.0
PATIENCE = 20
LEAST_PROCESSOR, LEAST_SECONDS = 20.0, 120.0
TICKS = 100  # per second, in /proc/PID/stat; the same on every Linux


def after_name(stat):
    """The fields of a stat file from the state on; the name before may hold anything."""
    return stat.rpartition(")")[2].split()


def members(session):
    """(folder in /proc, fields of its stat) for each process of that session."""
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = after_name((folder / "stat").read_text(errors="replace"))
            except OSError:
                continue
            if int(fields[3]) == session:
                yield folder, fields


def switches(thread):
    """How often the thread got a processor and lost it again."""
    lines = (thread / "status").read_text(errors="replace").split("\n")
    return [line for line in lines if "ctxt_switches" in line]


class Watch:
    """What the processes of one session do, sample by sample."""

    def __init__(self, session, healthy=None):
        """`healthy`: (seconds, processor seconds) without the mutant."""
        self.session = session
        self.seconds = self.processor = self.asleep = 0.0
        self.healthy = healthy or (0.0, 0.0)
        self.picture, self.last = None, time.monotonic()

    def look(self):
        """What is wrong, or None. To be called every INTERVAL seconds."""
        now = time.monotonic()
        step = min(now - self.last, 2 * INTERVAL)
        self.last = now
        self.seconds += step
        picture, may_run, ticks = {}, False, 0
        for folder, fields in members(self.session):
            ticks += sum(int(field) for field in fields[11:15])
            try:
                for thread in (folder / "task").iterdir():
                    state = after_name((thread / "stat").read_text(errors="replace"))[0]
                    may_run |= state not in "SZ"
                    picture[thread.name] = switches(thread)
            except OSError:  # it ends just now
                may_run = True
        self.processor = max(self.processor, ticks / TICKS)
        still = picture and picture == self.picture and not may_run
        self.asleep = self.asleep + step if still else 0.0
        self.picture = picture
        return self.verdict()

    def verdict(self):
        seconds, processor = self.healthy
        if self.asleep >= ASLEEP:
            return f"asleep: no thread ran for {ASLEEP:g} s"
        if self.processor >= max(LEAST_PROCESSOR, PATIENCE * processor):
            return f"used {self.processor:.0f} s of processor; a healthy run {processor:.1f} s"
        if self.seconds >= max(LEAST_SECONDS, PATIENCE * seconds):
            return f"ran {self.seconds:.0f} s; a healthy run {seconds:.1f} s"
        return None


def follow(process, healthy=None):
    """Waits until the process (the first of its session) ends, or hangs: (its output, why it is to
    be ended or None, (seconds, processor seconds))."""
    watch = Watch(process.pid, healthy)
    wrong = None
    while True:
        try:
            output, _ = process.communicate(timeout=INTERVAL)
            return output, None, (watch.seconds, watch.processor)
        except subprocess.TimeoutExpired:
            wrong = watch.look()
        if wrong:
            return b"", wrong, (watch.seconds, watch.processor)
