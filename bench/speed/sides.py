"""What bench/compare runs: a block of steps of tfc or of a child that serves steps, on a
machine that is watched, so that other work beside it does not go unseen."""
import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile

WORK = "build/bench/compare"  # relative to the repository, which is where everything runs


def progress(text):
    print(text, file=sys.stderr, flush=True)


# PyTorch's memory goes back to the system after each step, and comes page by page again: up to nine tenths of a
# step where pages are dear. So glibc keeps it.
KEPT = {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184"}


class Failed(Exception):
    pass


@dataclasses.dataclass
class Block:
    tokens_per_second: float
    resident_peak_bytes: int
    disturbed: float  # the share of the processors' time that others took meanwhile


class Watch:
    """Processor time that is not of the measured process, its kin or idle."""

    def __init__(self, pid=None):
        self.pid = pid
        self.busy, self.all = self.machine()
        self.own = self.used()

    @staticmethod
    def machine():
        with open("/proc/stat") as f:
            ticks = [int(word) for word in f.readline().split()[1:9]]
        return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"), \
            sum(ticks) / os.sysconf("SC_CLK_TCK")

    def used(self):
        if self.pid is None:
            own = resource.getrusage(resource.RUSAGE_CHILDREN)
            return own.ru_utime + own.ru_stime
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def disturbed(self):
        busy, whole = self.machine()
        others = busy - self.busy - self.used() + self.own
        return min(max(others / max(whole - self.all, 1e-9), 0), 1)


class Tfc:
    """A process a block: tfc starts in milliseconds. `batches`: how many a step goes through."""

    def __init__(self, program, model, arguments, environment, batches):
        self.command = [program, "bench", model, "--json", *arguments]
        self.environment, self.batches = {**os.environ, **environment}, batches

    def run(self, *more):
        done = subprocess.run([*self.command, *more], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed(f"{' '.join([*self.command, *more])}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def block(self, steps):
        watch = Watch()
        figures = self.run("--warm-up", "1", "--steps", str(steps * self.batches))
        return Block(figures["tokens_per_second"], figures["resident_peak_bytes"],
                     watch.disturbed())

    def close(self):
        pass


class Child:
    """A process that stays, asleep while the other side is measured, since it takes long to
    be ready. `command` follows serve.py's protocol."""

    def __init__(self, command):
        self.command = command
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            problem = self.errors.read().strip().splitlines()
            raise Failed(f"{' '.join(self.command)}: {problem[-1] if problem else 'no answer'}")
        return json.loads(line)

    def block(self, steps):
        watch = Watch(self.process.pid)
        print(steps, file=self.process.stdin, flush=True)
        answer = self.answer()
        return Block(answer["tokens_per_second"], answer["resident_peak_bytes"], watch.disturbed())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
        self.process.wait()


LIBRARIES = "/usr/lib/x86_64-linux-gnu"
MKL = {"MKL_THREADING_LAYER": "GNU", "MKL_INTERFACE_LAYER": "GNU,LP64"}

# What holds the others to the instructions of a processor that tfc's --cpu names. ONNX Runtime
# has no such setting.
HELD = {
    "x86-64-v3": {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2",
                  "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "x86-64-v4": {"OPENBLAS_CORETYPE": "SkylakeX", "ATEN_CPU_CAPABILITY": "avx512",
                  "ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "MKL_ENABLE_INSTRUCTIONS": "AVX512"},
}


class Place:
    """Where PyTorch runs: here, or in a folder that bench/torch-debian made. `cpu`: the
    processor that it takes this one for, or None."""

    def __init__(self, folder, threads, cpu=None):
        self.folder, self.threads, self.held = folder, threads, HELD.get(cpu, {})

    def path(self, path):
        """Of a path from the repository's root, as it is seen there."""
        return os.path.join("/mnt" if self.folder else os.getcwd(), path)

    def command(self, words, **environment):
        settings = {"OMP_NUM_THREADS": str(self.threads), "PYTHONDONTWRITEBYTECODE": "1",
                    **self.held, **environment}
        inside = ["bench/torch-debian", self.folder] if self.folder else []
        return [*inside, "env", *(f"{k}={v}" for k, v in settings.items()), "/usr/bin/python3",
                *words]

    def run(self, words):
        done = subprocess.run(self.command(words), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed((done.stderr.strip().splitlines() or ["it failed"])[-1])
        return done.stdout.strip()

    def version(self, module):
        """None: it is not there."""
        try:
            return self.run(["-c", f"import {module}; print({module}.__version__)"])
        except Failed:
            return None

    def settings(self, way="eager"):
        """Ways to run it, of which the fastest counts: words for each, and its environment. What is preloaded: an
        allocator, products that are faster than OpenBLAS's, and for what torch.compile makes the vectorised functions
        that it does not link."""
        below = [f"{LIBRARIES}/libsleef.so.3"] if way != "eager" else []
        mkl = [f"{LIBRARIES}/libgomp.so.1", f"{LIBRARIES}/libmkl_rt.so", "/usr/local/lib/libmkl-intel.so"]
        for allocator, preload, environment in [("", [], {}), ("memory kept", [], KEPT),
                                                ("jemalloc", [f"{LIBRARIES}/libjemalloc.so.2"], {})]:
            for products, more, chosen in [("", [], {}), ("MKL", mkl, MKL)]:
                if self.has(preload + more):
                    paths = [path for path in preload + more + below if self.has([path])]
                    yield [allocator, products], {**environment, **chosen,
                                                  **({"LD_PRELOAD": ":".join(paths)} if paths else {})}

    def has(self, paths):
        return all(os.path.exists((self.folder or "") + path) for path in paths)
