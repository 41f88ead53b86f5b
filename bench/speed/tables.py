"""How bench/compare prints: Markdown tables, and what they were measured on."""
import datetime
import os
import platform


def table(header, rows):
    """The first column is text, the others are figures."""
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def amount(value):
    return f"{value:,.0f}"


def ratio(value):
    return f"{value:.2f}"


def share(value):
    return f"{100 * value:.0f} %"


def memory(size):
    return f"{size / 1e9:.2f} GB"


def cpu():
    """The model, the number of processors, and the extensions that matter to products."""
    with open("/proc/cpuinfo") as f:
        lines = dict(line.split(":", 1) for line in f if ":" in line)
    lines = {key.strip(): value.strip() for key, value in lines.items()}
    flags = set(lines.get("flags", lines.get("Features", "")).split())
    known = [name for name in ["avx2", "avx512f", "avx512_bf16", "amx_bf16"] if name in flags]
    return f"{lines.get('model name', platform.machine())}, {os.cpu_count()} processors, " + \
        " ".join(known)


def system():
    names = platform.freedesktop_os_release()
    return names.get("PRETTY_NAME", "Linux")


def page(parts, versions):
    here = f"{datetime.date.today()}; {cpu()}; {system()}; {versions}"
    return "\n".join([f"Measured {here}.", "", "\n\n".join(parts)])
